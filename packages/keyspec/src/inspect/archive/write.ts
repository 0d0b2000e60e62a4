import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { type ArchiveHeader, type ArchiveRecord, dumpVersionOf, FORMAT_VERSION } from './archive.ts'
import { encodeRecord, END_LENGTH, frame, FRAME, preamble } from './layout.ts'

const compress = promisify(brotliCompress)

/**
 * The bytes of an export, made as they are read: whoever reads slowly slows the records down too. It holds one frame,
 * which is 256 KB, or one record where that is larger.
 */
export async function* writeArchive(
  header: ArchiveHeader,
  batches: AsyncIterable<readonly ArchiveRecord[]>,
): AsyncGenerator<Buffer> {
  const whole = createHash('sha256')
  const hashed = (chunk: Buffer): Buffer => {
    whole.update(chunk)
    return chunk
  }
  let begun = false
  let records = 0
  let pieces: Buffer[] = []
  let size = 0
  const begin = (first: ArchiveRecord | undefined): Buffer[] => {
    begun = true
    const said = first === undefined ? header : { ...header, dumpVersion: dumpVersionOf(first.dump) }
    return [preamble(FORMAT_VERSION), ...frame(FRAME.header, Buffer.from(JSON.stringify(said)))]
  }
  const packed = async (): Promise<Buffer[]> => {
    const raw = Buffer.concat(pieces, size)
    pieces = []
    size = 0
    return frame(FRAME.records, await compress(raw, { params: FAST }), raw.length)
  }

  for await (const batch of batches) {
    for (const record of batch) {
      if (!begun) yield* begin(record).map(hashed)
      const encoded = encodeRecord(record, header.entries)
      records += 1
      for (const piece of encoded) {
        pieces.push(piece)
        size += piece.length
      }
      if (size >= FRAME_SIZE) yield* (await packed()).map(hashed)
    }
  }
  if (!begun) yield* begin(undefined).map(hashed)
  if (size > 0) yield* (await packed()).map(hashed)
  const end = Buffer.alloc(END_LENGTH)
  end.writeBigUInt64BE(BigInt(records))
  whole.digest().copy(end, 8)
  yield* frame(FRAME.end, end)
}

const FRAME_SIZE = 256 * 1024
// Faster than deflate at its fastest, and smaller. A window of a frame's size is all it can use.
const FAST = { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 18 }
