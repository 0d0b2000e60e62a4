import { brotliCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { all } from '../../../../../test-support/connected.ts'
import { type ArchiveFault, type ArchiveRecord, ArchiveError } from './archive.ts'
import { byTable, crc32 } from './checksum.ts'
import { encodeRecord, FRAME, frame, preamble, recordLength } from './layout.ts'
import { readArchive } from './read.ts'
import { writeArchive } from './write.ts'

const header = {
  createdAtMs: 1,
  keyspec: '0.1.0',
  server: 'Redis 7.0.15',
  title: 'all keys',
  prefix: '',
  entries: ['session', 'page'],
  schema: 'ab',
}
// A payload ends in its version, 10, and eight bytes of checksum, which only the server looks at.
const dumpOf = (text: string) => Buffer.concat([Buffer.from(text), Buffer.from([10, 0]), Buffer.alloc(8, 7)])
const records: ArchiveRecord[] = [
  {
    key: Buffer.from('session:1'),
    type: 'string',
    entry: 'session',
    expiresAtMs: 2 ** 42,
    dump: dumpOf('one'),
  },
  { key: Buffer.alloc(0), type: 'hash', entry: undefined, expiresAtMs: undefined, dump: dumpOf('') },
  { key: Buffer.from([0xff, 0, 10]), type: 'zset', entry: 'page', expiresAtMs: 1, dump: dumpOf('three') },
]

async function written(batches: readonly (readonly ArchiveRecord[])[]): Promise<Buffer> {
  async function* given() {
    yield* batches
  }
  return Buffer.concat(await all(writeArchive(header, given())))
}

/** What is wrong with these bytes, read `step` at a time. */
async function faultOf(bytes: Buffer, step = bytes.length): Promise<ArchiveFault | undefined> {
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step)
  }
  try {
    await all(readArchive(chunks))
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(ArchiveError)
    return (error as ArchiveError).fault
  }
}

test('what is read is what was written, whatever pieces it comes in', async () => {
  const bytes = await written([records.slice(0, 1), [], records.slice(1)])
  for (const step of [1, 7, bytes.length]) {
    async function* chunks() {
      for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step)
    }
    const parts = await all(readArchive(chunks))
    expect(parts[0]).toEqual({ header: { ...header, dumpVersion: 10 } })
    expect(parts.flatMap((part) => ('records' in part ? part.records : []))).toEqual(records)
    expect(parts.at(-1)).toEqual({ end: { records: 3, bytes: bytes.length } })
  }
})

test('an export of no keys is whole too', async () => {
  expect(await faultOf(await written([]))).toBeUndefined()
})

test('large values stand in frames of their own, and small ones share', async () => {
  const large = { ...records[0]!, dump: Buffer.concat([Buffer.alloc(3_000_000, 1), dumpOf('')]) }
  const bytes = await written([[...records, large, ...records]])
  const read = (await all(readArchive(() => once(bytes)))).flatMap((part) =>
    'records' in part ? [part.records.length] : [],
  )
  expect(read).toEqual([4, 3])
})

test('every byte that changes is found, whatever becomes of it', async () => {
  const bytes = await written([records])
  const missed: number[] = []
  for (let at = 0; at < bytes.length; at += 1) {
    for (const mask of [0xff, 1 << (at % 8)]) {
      const broken = Buffer.from(bytes)
      broken[at]! ^= mask
      if ((await faultOf(broken)) !== 'damaged') missed.push(at)
    }
  }
  expect(missed).toEqual([])
})

test('every place where it may be cut off is found', async () => {
  const bytes = await written([records, records])
  const missed: number[] = []
  for (let at = 0; at < bytes.length; at += 1)
    if ((await faultOf(bytes.subarray(0, at))) !== 'truncated') missed.push(at)
  expect(missed).toEqual([])
})

test('parts that are whole but left out, doubled, added or of another file are found', async () => {
  const big = records.map((record) => ({ ...record, dump: Buffer.concat([randomBytes(), dumpOf('')]) }))
  const bytes = await written([big])
  const frames = framesOf(bytes)
  expect(frames).toHaveLength(5)
  const [start, one, two, , end] = frames as [Buffer, Buffer, Buffer, Buffer, Buffer]
  const three = frames[3]!
  expect(await faultOf(Buffer.concat([start, one, two, three, end]))).toBeUndefined()
  expect(await faultOf(Buffer.concat([start, one, three, end]))).toBe('damaged')
  expect(await faultOf(Buffer.concat([start, one, one, three, end]))).toBe('damaged')
  expect(await faultOf(Buffer.concat([start, two, one, three, end]))).toBe('damaged')
  expect(await faultOf(Buffer.concat([bytes, Buffer.from('x')]))).toBe('damaged')
  expect(await faultOf(Buffer.concat([bytes, bytes]))).toBe('damaged')
})

test('other files, and those of a later format, are told apart', async () => {
  const bytes = await written([records])
  expect(await faultOf(Buffer.alloc(0))).toBe('truncated')
  expect(await faultOf(Buffer.from('REDIS0011 and what follows'))).toBe('foreign')
  expect(await faultOf(Buffer.from('{}'))).toBe('foreign')
  expect(await faultOf(Buffer.alloc(1000, 0))).toBe('foreign')
  expect(await faultOf(Buffer.concat([preamble(2), bytes.subarray(16)]))).toBe('newer')
  // As FTP in its text mode would have it.
  expect(await faultOf(Buffer.from(bytes.toString('latin1').replace('\n', '\r\n'), 'latin1'))).toBe('foreign')
})

test.each<[string, string]>([
  ['no JSON', 'shop'],
  ['nothing', 'null'],
  ['no entries', JSON.stringify({ ...header, entries: undefined })],
  ['an entry that is no text', JSON.stringify({ ...header, entries: [1] })],
  ['a prefix that is no text', JSON.stringify({ ...header, prefix: 1 })],
  ['a version that is no number', JSON.stringify({ ...header, dumpVersion: '10' })],
  ['no time', JSON.stringify({ ...header, createdAtMs: null })],
])('a whole file whose header holds %s is damaged', async (_, text) => {
  const head = frame(FRAME.header, Buffer.from(text))
  expect(await faultOf(Buffer.concat([preamble(1), ...head]))).toBe('damaged')
})

test('a record whose value is too short to be one is damaged', async () => {
  const short = { ...records[0]!, dump: Buffer.from('123456789') }
  const raw = Buffer.alloc(recordLength(short))
  encodeRecord(raw, 0, short, 1)
  const parts = [
    frame(FRAME.header, Buffer.from(JSON.stringify(header))),
    frame(FRAME.records, brotliCompressSync(raw), raw.length),
  ]
  expect(await faultOf(Buffer.concat([preamble(1), ...parts.flat()]))).toBe('damaged')
  const long = { ...short, dump: Buffer.from('1234567890') }
  const longer = Buffer.alloc(recordLength(long))
  encodeRecord(longer, 0, long, 1)
  parts[1] = frame(FRAME.records, brotliCompressSync(longer), longer.length)
  expect(await faultOf(Buffer.concat([preamble(1), ...parts.flat()]))).toBe('truncated')
})

test('CRC-32 is the one of zlib, with and without help of the platform', () => {
  expect(byTable(Buffer.from('123456789'))).toBe(0xcb_f4_39_26)
  const bytes = Buffer.from(Array.from({ length: 999 }, (_, index) => (index * 7919) % 256))
  expect(byTable(bytes)).toBe(crc32(bytes))
  expect(crc32(bytes.subarray(400), crc32(bytes.subarray(0, 400)))).toBe(crc32(bytes))
  expect(byTable(bytes.subarray(400), byTable(bytes.subarray(0, 400)))).toBe(crc32(bytes))
})

async function* once(bytes: Buffer) {
  yield bytes
}

function randomBytes(): Buffer {
  return Buffer.from(Array.from({ length: 300_000 }, () => Math.floor(Math.random() * 256)))
}

/** The preamble with the header, each frame of records, and the end. */
function framesOf(bytes: Buffer): Buffer[] {
  const starts = [0]
  for (let at = 16; at < bytes.length; at += 17 + bytes.readUInt32BE(at + 1)) if (at > 16) starts.push(at)
  return starts.map((start, index) => bytes.subarray(start, starts[index + 1]))
}
