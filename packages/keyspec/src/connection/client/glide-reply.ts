import { UnsupportedClientError } from '../../errors.ts'
import type { Command, Reply } from '../connection.ts'
import { flattened } from './resp2.ts'

/**
 * The RESP2 form of what GLIDE answers: it types replies by the command (an EXPIRE is a boolean, a ZSCORE a number, an
 * XRANGE a map), whatever the protocol.
 */
export function glideReply(reply: unknown, command: Command, bytes: boolean): Reply {
  if (Buffer.isBuffer(reply)) return bytes ? reply : reply.toString()
  if (reply === null || reply === undefined) return null
  const name = command[0] as string
  const doubles = DOUBLES.has(name) || (name === 'ZADD' && command.includes('INCR'))
  const plain = plainly(reply, bytes, doubles)
  return RESHAPED.get(name)?.(plain) ?? plain
}

/** Maps flat, booleans as 1 and 0, doubles as text; an integer and a double look alike, so `doubles` tells. */
function plainly(reply: unknown, bytes: boolean, doubles: boolean): Reply {
  if (Buffer.isBuffer(reply)) return bytes ? reply : reply.toString()
  if (typeof reply === 'number') return doubles || !Number.isInteger(reply) ? doubleText(reply, bytes) : reply
  if (typeof reply === 'boolean') return reply ? 1 : 0
  if (typeof reply === 'string') return bytes ? Buffer.from(reply) : reply
  if (typeof reply === 'bigint') return String(reply)
  if (Array.isArray(reply)) {
    const flat: Reply[] = []
    for (const item of reply as readonly unknown[]) {
      if (isPair(item)) flat.push(plainly(item.key, bytes, doubles), plainly(item.value, bytes, doubles))
      else flat.push(plainly(item, bytes, doubles))
    }
    return flat
  }
  if (reply === null || reply === undefined) return null
  throw new UnsupportedClientError(
    `this client answers with ${typeof reply === 'object' ? 'an object' : `a value of type ${typeof reply}`}: ` +
      'Keyspec needs a client of Valkey GLIDE 2',
  )
}

function isPair(item: unknown): item is { key: unknown; value: unknown } {
  return typeof item === 'object' && item !== null && 'key' in item && 'value' in item
}

function doubleText(value: number, bytes: boolean): Reply {
  const text = Number.isFinite(value) ? String(value) : value > 0 ? 'inf' : value < 0 ? '-inf' : 'nan'
  return bytes ? Buffer.from(text) : text
}

const DOUBLES: ReadonlySet<string> = new Set(
  (
    'ZSCORE ZMSCORE ZINCRBY INCRBYFLOAT HINCRBYFLOAT GEODIST GEOPOS ZRANGE ZREVRANGE ZRANGEBYSCORE ' +
    'ZREVRANGEBYSCORE ZRANDMEMBER ZUNION ZINTER ZDIFF ZPOPMIN ZPOPMAX BZPOPMIN BZPOPMAX ZMPOP BZMPOP'
  ).split(' '),
)

type Reshape = (reply: Reply) => Reply

/** `[id, [[field, value], …], …]` as `[[id, [field, value, …]], …]`; ids alone (JUSTID) stay as they are. */
const entries: Reshape = (reply) => {
  if (!isArray(reply) || !isArray(reply[1] ?? null)) return reply
  return pairs(reply).map(([id, fields]) => [id, flattened(fields, false)])
}

const streams: Reshape = (reply) =>
  isArray(reply) ? pairs(reply).map(([stream, read]) => [stream, entries(read)]) : reply

const claimed: Reshape = (reply) =>
  isArray(reply) ? [reply[0]!, entries(reply[1]!), ...reply.slice(2)] : reply

/** `[key, [member, score, …]]` as `[key, [[member, score], …]]`. */
const popped: Reshape = (reply) => (isArray(reply) ? [reply[0]!, pairs(reply[1] as readonly Reply[])] : reply)

const RESHAPED: ReadonlyMap<string, Reshape> = new Map([
  ...['XRANGE', 'XREVRANGE', 'XCLAIM'].map((name) => [name, entries] as const),
  ...['XREAD', 'XREADGROUP'].map((name) => [name, streams] as const),
  ...['ZMPOP', 'BZMPOP'].map((name) => [name, popped] as const),
  ...['HRANDFIELD', 'ZRANGEBYSCORE', 'ZREVRANGE', 'ZREVRANGEBYSCORE', 'ZRANDMEMBER', 'ZRANGE'].map(
    (name) => [name, (reply: Reply) => flattened(reply, false)] as const,
  ),
  ['XAUTOCLAIM', claimed],
])

function pairs(flat: readonly Reply[]): [Reply, Reply][] {
  const found: [Reply, Reply][] = []
  for (let at = 0; at < flat.length; at += 2) found.push([flat[at]!, flat[at + 1]!])
  return found
}

function isArray(reply: Reply): reply is readonly Reply[] {
  return Array.isArray(reply)
}
