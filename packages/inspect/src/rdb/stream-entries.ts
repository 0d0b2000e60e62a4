import type { Reply } from 'keyspec/extend'
import { listpack } from './rdb-reader.ts'

/**
 * The entries in one node of a stream, as XRANGE answers them (`t_stream.c`): the node's id is that of its first entry, the
 * others stand in it by their distance; most have the fields of the first, and say only so.
 */
export function* streamEntries(
  node: Buffer,
  entries: Buffer,
): Generator<readonly [Buffer, readonly Reply[]]> {
  const parts = listpack(entries)
  const next = (): Buffer => {
    const { value, done } = parts.next()
    if (done === true) throw new RangeError('a stream is cut off')
    return value
  }
  const number = () => Number(next())
  const some = (count: number) => Array.from({ length: count }, next)

  const ms = node.readBigUInt64BE(0)
  const sequence = node.readBigUInt64BE(8)
  const valid = number()
  const deleted = number()
  const fields = some(number())
  next()
  for (let left = valid + deleted; left > 0; left -= 1) {
    const flags = number()
    const id = `${ms + distance(next())}-${sequence + distance(next())}`
    const content =
      (flags & SAME_FIELDS) !== 0 ? fields.flatMap((field) => [field, next()]) : some(number() * 2)
    next()
    if ((flags & DELETED) === 0) yield [Buffer.from(id), content]
  }
}

// stream.h, STREAM_ITEM_FLAG
const DELETED = 1
const SAME_FIELDS = 2

/** How far an entry's id is from that of its node. Of a damaged value it may be any bytes. */
function distance(bytes: Buffer): bigint {
  const digits = String(bytes)
  if (!/^-?\d+$/.test(digits)) throw new RangeError('a stream is damaged')
  return BigInt(digits)
}
