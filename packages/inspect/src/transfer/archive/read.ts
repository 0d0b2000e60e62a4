import { promisify } from 'node:util'
import { nodeCrypto, nodeZlib } from 'keyspec/extend'
import { type ArchiveHeader, type ArchiveRecord, ArchiveError, FORMAT_VERSION } from './archive.ts'
import { crc32 } from './checksum.ts'
import { decodeHeader } from './header.ts'
import {
  decodeRecords,
  END_LENGTH,
  type FrameHead,
  FRAME,
  frameHead,
  HEAD_LENGTH,
  MAGIC,
  preamble,
  PREAMBLE_LENGTH,
} from './layout.ts'

/** Opens the bytes of an export; called anew each time they are read through. */
export type ArchiveSource = () => AsyncIterable<Uint8Array>

/** A part of an export. */
export type ArchivePart =
  | { readonly header: ArchiveHeader }
  | { readonly records: readonly ArchiveRecord[] }
  /** The end mark, reached only where all before it is as it was written. */
  | { readonly end: { readonly records: number; readonly bytes: number } }

/**
 * Reads an export through: first its header, then its records in batches, and last its end mark. Throws an `ArchiveError`
 * where it is not whole, which may be as late as at the end; so read it through once before you act on it.
 */
export async function* readArchive(source: ArchiveSource): AsyncGenerator<ArchivePart> {
  const bytes = reader(source())
  try {
    await readPreamble(bytes)
    const header = await readHeader(bytes)
    yield { header }
    let records = 0
    for (;;) {
      const before = bytes.digest()
      const head = await readHead(bytes)
      if (head.type === FRAME.end) {
        yield { end: await readEnd(bytes, head, records, before) }
        return
      }
      if (head.type !== FRAME.records) throw damaged(bytes.at, 'something else stands where records should')
      const batch = await unpack(bytes, head, header.entries)
      records += batch.length
      yield { records: batch }
    }
  } finally {
    await bytes.close()
  }
}

async function readPreamble(bytes: Reader): Promise<void> {
  const found = await bytes.atMost(PREAMBLE_LENGTH)
  if (found.length === 0) throw new ArchiveError('truncated', 'the file is empty')
  const start = found.subarray(0, MAGIC.length)
  if (found.length < PREAMBLE_LENGTH) {
    if (MAGIC.subarray(0, start.length).equals(start)) throw truncated(bytes.at)
    throw foreign()
  }
  const version = found.readUInt32BE(8)
  const isOurs = start.equals(MAGIC)
  // With our first bytes put right, does the checksum hold? Then it is ours, and they are what was damaged.
  if (!preamble(version).equals(found)) {
    if (!isOurs && preamble(version).subarray(8).equals(found.subarray(8))) throw damaged(0)
    throw isOurs ? damaged(8) : foreign()
  }
  if (version !== FORMAT_VERSION)
    throw new ArchiveError(
      'newer',
      `the file is of format ${version}, and this Keyspec reads format ${FORMAT_VERSION}: use a newer one`,
    )
}

async function readHeader(bytes: Reader): Promise<ArchiveHeader> {
  const head = await readHead(bytes)
  if (head.type !== FRAME.header) throw damaged(bytes.at, 'it has no header')
  const at = bytes.at
  const header = decodeHeader(await body(bytes, head))
  if (header === undefined) throw damaged(at, 'its header does not say what a header must')
  return header
}

async function readHead(bytes: Reader): Promise<FrameHead> {
  const at = bytes.at
  const head = frameHead(await bytes.exactly(HEAD_LENGTH))
  if (head === undefined) throw damaged(at)
  return head
}

async function unpack(
  bytes: Reader,
  head: FrameHead,
  entries: readonly string[],
): Promise<readonly ArchiveRecord[]> {
  const at = bytes.at
  const stored = await body(bytes, head)
  try {
    const raw = await promisify(nodeZlib().brotliDecompress)(stored, {
      maxOutputLength: Math.max(1, head.raw),
    })
    if (raw.length !== head.raw) throw new RangeError('it unpacks to another length')
    return decodeRecords(raw, entries)
  } catch (error) {
    throw damaged(at, undefined, error)
  }
}

async function readEnd(bytes: Reader, head: FrameHead, records: number, before: Buffer) {
  const at = bytes.at
  const end = await body(bytes, head)
  if (end.length !== END_LENGTH) throw damaged(at)
  const count = Number(end.readBigUInt64BE(0))
  if (count !== records) throw damaged(at, `it should hold ${count} records, and holds ${records}`)
  if (!end.subarray(8).equals(before))
    throw damaged(at, 'its parts are whole, but not those that were written')
  if ((await bytes.atMost(1)).length > 0) throw damaged(bytes.at, 'it goes on behind its end')
  return { records, bytes: bytes.at }
}

async function body(bytes: Reader, { stored, crc }: FrameHead): Promise<Buffer> {
  const at = bytes.at
  const found = await bytes.exactly(stored)
  if (crc32(found) !== crc) throw damaged(at)
  return found
}

function foreign(): ArchiveError {
  return new ArchiveError('foreign', 'the file is no export of Keyspec')
}

function truncated(at: number): ArchiveError {
  return new ArchiveError(
    'truncated',
    `the file was cut off: it ends after ${at} bytes, and has no end mark. Export again, or copy it again`,
  )
}

function damaged(at: number, how = 'its checksum is another', cause?: unknown): ArchiveError {
  return new ArchiveError(
    'damaged',
    `the file is damaged at byte ${at}: ${how}. Export or copy it again`,
    cause,
  )
}

interface Reader {
  /** How many bytes were read. */
  readonly at: number
  /** So many bytes, or those that are left where there are fewer. */
  atMost(count: number): Promise<Buffer>
  /** So many bytes; the file is truncated where there are fewer. */
  exactly(count: number): Promise<Buffer>
  /** SHA-256 over all that was read. */
  digest(): Buffer
  close(): Promise<void>
}

function reader(source: AsyncIterable<Uint8Array>): Reader {
  const chunks = source[Symbol.asyncIterator]()
  const whole = nodeCrypto().createHash('sha256')
  let held: Buffer[] = []
  let size = 0
  let at = 0

  async function atMost(count: number): Promise<Buffer> {
    while (size < count) {
      const { done, value } = await chunks.next()
      if (done === true) break
      held.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
      size += value.byteLength
    }
    const all = held.length === 1 ? held[0]! : Buffer.concat(held, size)
    const taken = all.subarray(0, count)
    held = all.length === taken.length ? [] : [all.subarray(count)]
    size -= taken.length
    at += taken.length
    whole.update(taken)
    return taken
  }

  return {
    get at() {
      return at
    },
    atMost,
    async exactly(count) {
      const bytes = await atMost(count)
      if (bytes.length < count) throw truncated(at)
      return bytes
    },
    digest: () => whole.copy().digest(),
    async close() {
      await chunks.return?.()
    },
  }
}
