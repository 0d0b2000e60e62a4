import { type Connection, ServerError } from 'keyspec'
import {
  arrayReply,
  booleanReply,
  bytesReply,
  type Command,
  decodeReply,
  listReply,
  ONE_KEY,
  ONE_KEY_BYTES,
  optionalReply,
  type Reply,
  textReply,
  tupleReply,
} from 'keyspec/extend'
import { namedReply, numberOf } from '../../scan/replies.ts'
import type { DumpedValue } from '../../rdb/decode-dump.ts'

/** One side of a comparison: a server, or a value read from a file. */
type ValueSide = Connection | DumpedValue

/**
 * Whether a key holds the same on both sides, element by element in pieces of a bounded number, whatever the order and
 * encoding of sets, hashes and sorted sets: everything of the one side is looked up on the other, and both have as much.
 * Of a stream the entries, the last id and the groups' places are compared. `undefined` for a type that is not known.
 */
export async function sameValue(
  type: string,
  key: Buffer,
  here: Connection,
  there: ValueSide,
): Promise<boolean | undefined> {
  const compare = COMPARED[type]
  if (compare === undefined) return undefined
  try {
    return await compare(key, here, there)
  } catch (error) {
    // It became another type meanwhile.
    if (error instanceof ServerError && error.code === 'E_WRONG_TYPE') return false
    throw error
  }
}

const PIECE = 200

const COMPARED: Readonly<
  Record<string, (key: Buffer, here: Connection, there: ValueSide) => Promise<boolean | undefined>>
> = {
  list: async (key, here, there) => {
    const length = await numberOf(here, ['LLEN', key], ONE_KEY)
    if (length !== (await sizeOf(there, 'LLEN', key))) return false
    for (let from = 0; from < length; from += PIECE) {
      const range = ['LRANGE', key, String(from), String(from + PIECE - 1)]
      const [a, b] = await Promise.all([
        askBytes(here, range),
        isServer(there)
          ? askBytes(there, range)
          : (there as { elements: readonly Buffer[] }).elements.slice(from, from + PIECE),
      ])
      if (!equal(a, b)) return false
    }
    return true
  },
  set: members('SCARD', 'SSCAN', 1, async (key, here, piece) => {
    const reply = await here.send(['SMISMEMBER', key, ...piece.map(([member]) => member!)], ONE_KEY)
    return decodeReply(ARE_THERE, reply).every((isThere) => isThere)
  }),
  hash: members('HLEN', 'HSCAN', 2, async (key, here, piece) => {
    const values = await askBytes(here, ['HMGET', key, ...piece.map(([field]) => field!)])
    return equal(
      values,
      piece.map(([, value]) => value!),
    )
  }),
  zset: members('ZCARD', 'ZSCAN', 2, async (key, here, piece) => {
    const reply = await here.send(['ZMSCORE', key, ...piece.map(([member]) => member!)], ONE_KEY)
    return decodeReply(SCORES, reply).every(
      (score, index) => score !== undefined && sameScore(score, String(piece[index]![1])),
    )
  }),
  stream: async (key, here, there) => {
    if (!isServer(there)) return undefined
    const ids = await Promise.all([here, there].map((side) => streamState(side, key)))
    if (ids[0] !== ids[1]) return false
    for (let from = '-'; ;) {
      const range = ['XRANGE', key, from, '+', 'COUNT', String(PIECE)]
      const [a, b] = await Promise.all([askBytes(here, range), askBytes(there, range)])
      if (!equal(a, b)) return false
      if (a.length < PIECE) return true
      const [last] = decodeReply(LAST_ENTRY, a.at(-1)!)
      from = `(${last.toString()}`
    }
  },
}

/** Compares what has no order: each piece of `there` is looked up `here`, and both must have as many. */
function members(
  count: string,
  scan: string,
  width: 1 | 2,
  holds: (key: Buffer, here: Connection, piece: readonly (readonly Buffer[])[]) => Promise<boolean>,
) {
  return async (key: Buffer, here: Connection, there: ValueSide): Promise<boolean> => {
    if ((await sizeOf(here, count, key)) !== (await sizeOf(there, count, key))) return false
    for await (const piece of pieces(there, scan, width, key))
      if (piece.length > 0 && !(await holds(key, here, piece))) return false
    return true
  }
}

async function* pieces(
  side: ValueSide,
  scan: string,
  width: 1 | 2,
  key: Buffer,
): AsyncGenerator<readonly (readonly Buffer[])[]> {
  if (!isServer(side)) {
    const elements = (side as { elements: readonly (Buffer | readonly [Buffer, Buffer])[] }).elements
    for (let from = 0; from < elements.length; from += PIECE)
      yield elements.slice(from, from + PIECE).map((each) => (Buffer.isBuffer(each) ? [each] : each))
    return
  }
  let cursor = '0'
  do {
    const reply = await askBytes(side, [scan, key, cursor, 'COUNT', String(PIECE)])
    const [next, flat] = decodeReply(PAGE, reply)
    cursor = next.toString()
    // A small collection comes whole, whatever the count.
    for (let from = 0; from < flat.length; from += PIECE * width) {
      const part = flat.slice(from, from + PIECE * width)
      yield Array.from({ length: part.length / width }, (_, at) => part.slice(at * width, (at + 1) * width))
    }
  } while (cursor !== '0')
}

async function sizeOf(side: ValueSide, command: string, key: Buffer): Promise<number> {
  if (isServer(side)) return numberOf(side, [command, key], ONE_KEY)
  return side.type === 'string' ? 1 : side.elements.length
}

/** Where a stream stands, and what its groups have read: text that is equal where they are. */
async function streamState(side: Connection, key: Buffer): Promise<string> {
  const [info, groups] = await Promise.all([
    side.send(['XINFO', 'STREAM', key], SECOND),
    side.send(['XINFO', 'GROUPS', key], SECOND),
  ])
  const picked = (flat: Reply, names: readonly string[]) => {
    const fields = decodeReply(namedReply, flat)
    return names.map((name) => fields.get(name))
  }
  return JSON.stringify([
    picked(info, ['length', 'last-generated-id']),
    decodeReply(arrayReply, groups).map((group) => picked(group, ['name', 'pending', 'last-delivered-id'])),
  ])
}

const SECOND = { firstKey: 2, keyCount: 1 } as const

const ARE_THERE = listReply(booleanReply)
const SCORES = listReply(optionalReply(textReply))
const PAGE = tupleReply(bytesReply, listReply(bytesReply))
const LAST_ENTRY = tupleReply(bytesReply)

function isServer(side: ValueSide): side is Connection {
  return 'send' in side
}

async function askBytes(side: Connection, command: Command): Promise<readonly Reply[]> {
  return decodeReply(arrayReply, await side.send(command, ONE_KEY_BYTES))
}

function equal(a: Reply, b: Reply): boolean {
  if (Buffer.isBuffer(a) && Buffer.isBuffer(b)) return a.equals(b)
  if (isList(a) && isList(b)) return a.length === b.length && a.every((each, index) => equal(each, b[index]!))
  return a === b
}

function isList(reply: Reply): reply is readonly Reply[] {
  return Array.isArray(reply)
}

/** Servers differ in how they write a double. */
function sameScore(a: string, b: string): boolean {
  const value = (text: string) => Number(text.replace('inf', 'Infinity'))
  return value(a) === value(b)
}
