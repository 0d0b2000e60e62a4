import { type Connection, ServerError } from 'keyspec'
import {
  anyReply,
  type Argument,
  arrayReply,
  type Command,
  decodeReply,
  ONE_KEY,
  ONE_KEY_BYTES,
  type Reply,
  type ReplyDecoder,
  tupleReply,
} from 'keyspec/extend'
import { numberOf } from './replies.ts'

/** The beginning of a value, as it is stored. */
export interface StoredValue {
  /** What TYPE says now; `none` where the key is gone. */
  readonly type: string
  /** How many of those looked at were too large to read. */
  readonly omitted: number
  /**
   * A string's value; else the first elements: in turn field and value of a hash, member and score of a sorted set;
   * `[id, [field, value, …]]` of a stream.
   */
  readonly elements: readonly Reply[]
}

/** The beginning of a value, and how much there is of it. */
export interface Peeked extends StoredValue {
  /** The bytes of a string, the elements of a collection. */
  readonly count: number
}

/** How much of a value is read. */
export interface PeekOptions {
  /** How many elements of a collection; 10 unless told. */
  readonly most?: number | undefined
  /** How many bytes of one key; 1 MB unless told. */
  readonly limitBytes?: number | undefined
}

/** The beginnings of values, one at a time. Each command is bounded in bytes and so in time. */
export function peeker({ most = 10, limitBytes = 2 ** 20 }: PeekOptions = {}) {
  /** Reads one value with plain commands, whatever the bytes of its key. */
  async function alone(connection: Connection, name: Argument): Promise<Peeked> {
    const type = String(await connection.send(['TYPE', name], ONE_KEY))
    const read = READ[type]
    if (read === undefined) return { type, count: 0, omitted: 0, elements: [] }
    try {
      const count = await numberOf(connection, [read.count, name], ONE_KEY)
      if (type === 'string' && count > limitBytes) return { type, count, omitted: 1, elements: [] }
      const reply = await connection.send(read.command(name, String(most)), ONE_KEY_BYTES)
      return { type, count, ...within(decodeReply(read.elements, reply), read.width, most, limitBytes) }
    } catch (error) {
      // It has just become something else.
      if (error instanceof ServerError && error.code === 'E_WRONG_TYPE')
        return { type: 'none', count: 0, omitted: 0, elements: [] }
      throw error
    }
  }

  return { alone }
}

interface Read {
  readonly count: string
  readonly width: number
  command(name: Argument, most: string): Command
  readonly elements: ReplyDecoder<readonly Reply[]>
}

const whole: ReplyDecoder<readonly Reply[]> = (reply) => (reply === null ? [] : arrayReply(reply))
const scanned: ReplyDecoder<readonly Reply[]> = (reply) => pageOfScan(reply)[1]
const pageOfScan = tupleReply(anyReply, arrayReply)

const READ: { readonly [type: string]: Read } = {
  string: {
    count: 'STRLEN',
    width: 1,
    command: (name) => ['GET', name],
    elements: (reply) => (reply === null ? [] : [reply]),
  },
  hash: {
    count: 'HLEN',
    width: 2,
    command: (name, most) => ['HSCAN', name, '0', 'COUNT', most],
    elements: scanned,
  },
  list: {
    count: 'LLEN',
    width: 1,
    command: (name, most) => ['LRANGE', name, '0', String(Number(most) - 1)],
    elements: whole,
  },
  set: {
    count: 'SCARD',
    width: 1,
    command: (name, most) => ['SSCAN', name, '0', 'COUNT', most],
    elements: scanned,
  },
  zset: {
    count: 'ZCARD',
    width: 2,
    command: (name, most) => ['ZRANGE', name, '0', String(Number(most) - 1), 'WITHSCORES'],
    elements: whole,
  },
  stream: {
    count: 'XLEN',
    width: 1,
    command: (name, most) => ['XRANGE', name, '-', '+', 'COUNT', most],
    elements: whole,
  },
}

/** What of these elements is looked at and fits, as `peek.lua` has it. */
function within(found: readonly Reply[], width: number, most: number, limitBytes: number) {
  const elements: Reply[] = []
  let omitted = 0
  let left = limitBytes
  for (let at = 0; at < Math.min(found.length, most * width); at += width) {
    const parts = found.slice(at, at + width)
    const size = sizeOf(parts)
    if (size > left) omitted += 1
    else {
      elements.push(...parts)
      left -= size
    }
  }
  return { omitted, elements }
}

/** The bytes that a reply holds. */
export function sizeOf(reply: Reply): number {
  if (Array.isArray(reply)) return reply.reduce<number>((sum, part) => sum + sizeOf(part), 0)
  return reply instanceof Buffer ? reply.length : 0
}
