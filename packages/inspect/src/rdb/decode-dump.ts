import { intset, listpack, rdbReader, type RdbReader, ziplist } from './rdb-reader.ts'
import { scoreText } from './score.ts'

/** The value of a key, whatever encoding it was dumped in. Sets, hashes and sorted sets are in no order. */
export type DumpedValue =
  | { readonly type: 'string'; readonly value: Buffer }
  | { readonly type: 'list' | 'set'; readonly elements: readonly Buffer[] }
  /** Fields and values, or members and scores. */
  | { readonly type: 'hash' | 'zset'; readonly elements: readonly (readonly [Buffer, Buffer])[] }

/** Decodes what DUMP said; `undefined` for streams, modules and encodings that are not known here. */
export function decodeDump(dump: Buffer): DumpedValue | undefined {
  try {
    return decode(dump)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function decode(dump: Buffer): DumpedValue | undefined {
  const read = rdbReader(dump.subarray(0, -10))
  const type = read.byte()
  // The numbers of rdb.h.
  switch (type) {
    case 0:
      return { type: 'string', value: read.string() }
    case 1:
      return { type: 'list', elements: times(read, read.string) }
    case 14:
      return { type: 'list', elements: times(read, () => [...ziplist(read.string())]).flat() }
    case 18:
      return { type: 'list', elements: times(read, () => quicklistNode(read)).flat() }
    case 2:
      return { type: 'set', elements: times(read, read.string) }
    case 11:
      return { type: 'set', elements: [...intset(read.string())] }
    case 20:
      return { type: 'set', elements: [...listpack(read.string())] }
    case 4:
      return { type: 'hash', elements: times(read, () => [read.string(), read.string()] as const) }
    case 13:
      return { type: 'hash', elements: pairs(ziplist(read.string())) }
    case 16:
      return { type: 'hash', elements: pairs(listpack(read.string())) }
    case 5:
      return { type: 'zset', elements: times(read, () => [read.string(), scoreText(read.double())] as const) }
    case 12:
      return { type: 'zset', elements: pairs(ziplist(read.string())) }
    case 17:
      return { type: 'zset', elements: pairs(listpack(read.string())) }
    default:
      return undefined
  }
}

function times<T>(read: RdbReader, one: () => T): T[] {
  return Array.from({ length: read.length() }, one)
}

function quicklistNode(read: RdbReader): Buffer[] {
  const isPlain = read.length() === 1
  const node = read.string()
  return isPlain ? [node] : [...listpack(node)]
}

function pairs(elements: Iterable<Buffer>): (readonly [Buffer, Buffer])[] {
  const all = [...elements]
  return Array.from({ length: all.length / 2 }, (_, index) => [all[index * 2]!, all[index * 2 + 1]!] as const)
}
