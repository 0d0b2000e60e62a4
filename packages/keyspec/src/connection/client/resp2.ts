import type { Command, Reply } from '../connection.ts'

type Form = (reply: unknown, bytes: boolean) => Reply

/**
 * The RESP2 form of what a client made of a RESP3 reply, given that it already flattens maps and leaves doubles as text.
 * What remains are booleans, and the commands whose reply is nested otherwise in RESP3. RESP2 passes through unchanged.
 */
export function asResp2(reply: unknown, command: Command, bytes: boolean): Reply {
  if (typeof reply === 'boolean') return reply ? 1 : 0
  if (reply === null || typeof reply === 'number') return reply
  const form = FORMS.get(command[0] as string)
  return form === undefined ? (reply as Reply) : form(reply, bytes)
}

/** `[[member, score], …]` as `[member, score, …]`. */
export const flattened: Form = (reply) =>
  Array.isArray(reply) && Array.isArray(reply[0]) ? (reply.flat(1) as Reply[]) : (reply as Reply)

/** Doubles, which some clients give as text where bytes were asked, as the bytes that they are in RESP2. */
const scored: Form = (reply, bytes) => {
  const flat = flattened(reply, bytes)
  return bytes ? inBytes(flat) : flat
}

const inBytesWhereAsked: Form = (reply, bytes) => (bytes ? inBytes(reply as Reply) : (reply as Reply))

function inBytes(reply: Reply): Reply {
  if (typeof reply === 'string') return Buffer.from(reply)
  return Array.isArray(reply) ? (reply as readonly Reply[]).map(inBytes) : reply
}

/** `[stream, entries, …]` as `[[stream, entries], …]`. */
const paired: Form = (reply) => {
  if (!Array.isArray(reply) || Array.isArray(reply[0])) return reply as Reply
  const pairs: Reply[] = []
  for (let at = 0; at < reply.length; at += 2) pairs.push([reply[at] as Reply, reply[at + 1] as Reply])
  return pairs
}

/** Only a script that asked for RESP3 (`redis.setresp(3)`) answers booleans. */
const withoutBooleans: Form = (reply) => {
  if (typeof reply === 'boolean') return reply ? 1 : 0
  if (!Array.isArray(reply)) return reply as Reply
  for (let at = 0; at < reply.length; at++) {
    const item = reply[at] as unknown
    if (typeof item === 'boolean' || Array.isArray(item)) reply[at] = withoutBooleans(item, false)
  }
  return reply as Reply
}

const FORMS: ReadonlyMap<string, Form> = new Map([
  ...each(['HRANDFIELD'], flattened),
  ...each(['ZRANGE', 'ZREVRANGE', 'ZRANGEBYSCORE', 'ZREVRANGEBYSCORE', 'ZRANDMEMBER'], scored),
  ...each(['ZUNION', 'ZINTER', 'ZDIFF', 'ZPOPMIN', 'ZPOPMAX'], scored),
  ...each(['ZSCORE', 'ZMSCORE', 'ZINCRBY', 'ZADD', 'GEODIST', 'GEOPOS', 'GEOSEARCH'], inBytesWhereAsked),
  ...each(['ZMPOP', 'BZMPOP', 'BZPOPMIN', 'BZPOPMAX', 'ZRANK', 'ZREVRANK'], inBytesWhereAsked),
  ...each(['XREAD', 'XREADGROUP'], paired),
  ...each(['EVAL', 'EVALSHA', 'EVAL_RO', 'EVALSHA_RO', 'FCALL', 'FCALL_RO'], withoutBooleans),
])

function each(names: readonly string[], form: Form): [string, Form][] {
  return names.map((name) => [name, form])
}
