import type { Reply } from 'keyspec/extend'
import { intset, listpack, rdbReader, type RdbReader, ziplist } from './rdb-reader.ts'
import { scoreText } from './score.ts'
import { sizeOf, type StoredValue } from '../scan/peek.ts'
import type { SnapshotKey } from './snapshot-key.ts'
import { streamEntries } from './stream-entries.ts'

/**
 * The beginning of a value in a snapshot, as a server would show it: of a collection the first elements, so many at the most,
 * and together no more than `limitBytes`.
 */
export function peekStored(
  { type, form, stored }: SnapshotKey,
  most: number,
  limitBytes: number,
): StoredValue {
  const elements: Reply[] = []
  if (stored === undefined) return { type, omitted: 0, elements }
  let seen = 0
  let omitted = 0
  let left = limitBytes
  try {
    // Most values are strings, and there is one of them.
    if (form === STRING_FORM) {
      const value = rdbReader(stored).string()
      if (value.length <= left) elements.push(value)
      return { type, omitted: 1 - elements.length, elements }
    }
    for (const parts of READ[form]?.(rdbReader(stored)) ?? []) {
      let size = 0
      for (const part of parts) size += part instanceof Buffer ? part.length : sizeOf(part)
      if (size > left) omitted += 1
      else {
        for (const part of parts) elements.push(part)
        left -= size
      }
      seen += 1
      if (seen === most) break
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    // It reaches over the end of what was kept.
    omitted += 1
  }
  return { type, omitted, elements }
}

type Elements = Iterable<readonly Reply[]>

const STRING_FORM = 0

/** The elements by the number of the type, each as many replies as the server would answer. */
const READ: Readonly<Record<number, (read: RdbReader) => Elements>> = {
  1: (read) => times(read, () => [read.string()]),
  2: (read) => times(read, () => [read.string()]),
  3: (read) => times(read, () => [read.string(), oldScoreText(read)]),
  4: (read) => times(read, () => [read.string(), read.string()]),
  5: (read) => times(read, () => [read.string(), scoreText(read.double())]),
  10: (read) => grouped(ziplist(read.string()), 1),
  11: (read) => grouped(intset(read.string()), 1),
  12: (read) => grouped(ziplist(read.string()), 2),
  13: (read) => grouped(ziplist(read.string()), 2),
  14: (read) => nodes(read, () => ziplist(read.string())),
  15: streamOf,
  16: (read) => grouped(listpack(read.string()), 2),
  17: (read) => grouped(listpack(read.string()), 2),
  18: (read) =>
    nodes(read, () => {
      const isPlain = read.length() === 1
      const node = read.string()
      return isPlain ? [node] : listpack(node)
    }),
  19: streamOf,
  20: (read) => grouped(listpack(read.string()), 1),
  21: streamOf,
  // Fields with a time to live each: it stands before them, or in a listpack behind.
  24: (read) => {
    read.bytes(8)
    return times(read, () => {
      read.length()
      return [read.string(), read.string()]
    })
  },
  25: (read) => {
    read.bytes(8)
    return grouped(listpack(read.string()), 3, 2)
  },
}

function* times(read: RdbReader, one: () => readonly Reply[]): Generator<readonly Reply[]> {
  for (let left = read.length(); left > 0; left -= 1) yield one()
}

function* nodes(read: RdbReader, node: () => Iterable<Buffer>): Generator<readonly Reply[]> {
  for (let left = read.length(); left > 0; left -= 1) for (const element of node()) yield [element]
}

function* streamOf(read: RdbReader): Generator<readonly Reply[]> {
  for (let left = read.length(); left > 0; left -= 1) {
    const id = read.string()
    for (const entry of streamEntries(id, read.string())) yield [entry]
  }
}

/** Every `width` elements together, the first `shown` of them. */
function* grouped(elements: Iterable<Buffer>, width: number, shown = width): Generator<readonly Reply[]> {
  let parts: Buffer[] = []
  for (const element of elements) {
    parts.push(element)
    if (parts.length < width) continue
    yield parts.slice(0, shown)
    parts = []
  }
}

/** A score of old: its length and its text, or what stands for no number and for no end. */
function oldScoreText(read: RdbReader): Buffer {
  const size = read.byte()
  return size < 253 ? read.bytes(size) : Buffer.from(['nan', 'inf', '-inf'][size - 253]!)
}
