import { promisify } from 'node:util'
import { nodeCrypto, nodeZlib } from 'keyspec/extend'
import { type ArchiveHeader, type ArchiveRecord, dumpVersionOf, FORMAT_VERSION } from './archive.ts'
import { encodeRecord, END_LENGTH, frame, FRAME, preamble, recordLength } from './layout.ts'

/**
 * The bytes of an export, made as they are read: whoever reads slowly slows the records down too. It holds two frames, of
 * 256 KB each, or one record where that is larger: one is filled while the other is compressed.
 */
export async function* writeArchive(
  header: ArchiveHeader,
  batches: AsyncIterable<readonly ArchiveRecord[]>,
): AsyncGenerator<Buffer> {
  const whole = nodeCrypto().createHash('sha256')
  const hashed = (chunk: Buffer): Buffer => {
    whole.update(chunk)
    return chunk
  }
  const places = new Map(header.entries.map((entry, index) => [entry, index + 1]))
  let begun = false
  let records = 0
  let raw = Buffer.allocUnsafeSlow(FRAME_SIZE)
  let size = 0
  let packing: Promise<Buffer[]> = Promise.resolve([])
  const begin = (first: ArchiveRecord | undefined): Buffer[] => {
    begun = true
    const said = first === undefined ? header : { ...header, dumpVersion: dumpVersionOf(first.dump) }
    return [preamble(FORMAT_VERSION), ...frame(FRAME.header, Buffer.from(JSON.stringify(said)))]
  }
  /** Begins to pack what is there, and gives what was packed before. */
  const turn = (): Promise<Buffer[]> => {
    const before = packing
    packing = packed(raw.subarray(0, size))
    // It is awaited in its turn, or nobody wants the export any more.
    packing.catch(() => {})
    raw = Buffer.allocUnsafeSlow(FRAME_SIZE)
    size = 0
    return before
  }

  for await (const batch of batches) {
    for (const record of batch) {
      if (!begun) yield* begin(record).map(hashed)
      const length = recordLength(record)
      if (size + length > raw.length) {
        const larger = Buffer.allocUnsafeSlow(size + length)
        larger.set(raw.subarray(0, size))
        raw = larger
      }
      size = encodeRecord(raw, size, record, record.entry === undefined ? 0 : (places.get(record.entry) ?? 0))
      records += 1
      if (size >= FRAME_SIZE) yield* (await turn()).map(hashed)
    }
  }
  if (!begun) yield* begin(undefined).map(hashed)
  if (size > 0) yield* (await turn()).map(hashed)
  yield* (await packing).map(hashed)
  const end = Buffer.alloc(END_LENGTH)
  end.writeBigUInt64BE(BigInt(records))
  whole.digest().copy(end, 8)
  yield* frame(FRAME.end, end)
}

async function packed(raw: Buffer): Promise<Buffer[]> {
  const { brotliCompress, constants } = nodeZlib()
  // Faster than deflate at its fastest, and smaller. A window of a frame's size is all it can use.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 18 }
  return frame(FRAME.records, await promisify(brotliCompress)(raw, { params }), raw.length)
}

const FRAME_SIZE = 256 * 1024
