import {
  type Argument,
  type Connection,
  type Reply,
  type Shape,
  ALL_KEYS,
  ALL_KEYS_BYTES,
  ONE_KEY,
  ONE_KEY_BYTES,
  type Merge,
  type Outcome,
} from '../connection.ts'
import { arrayReply, decodeReply } from '../../connection/reply.ts'
import { outcomeOf } from './merge.ts'
import { ServerError } from '../server-error.ts'
import { slotOf } from '../slot.ts'

/** How many keys one MGET reads, so that none holds the server for long. */
const MOST = 128

/** GET of a text; neighbours become one MGET. */
export const GET: Shape = { ...ONE_KEY, merge: mergeGets(ONE_KEY, ALL_KEYS) }

/** GET of bytes; neighbours become one MGET. */
export const GET_BYTES: Shape = { ...ONE_KEY_BYTES, merge: mergeGets(ONE_KEY_BYTES, ALL_KEYS_BYTES) }

/** What stands at each of many keys, or why it cannot be read, in the order asked; not on a cluster, where slots part them. */
export async function getTogether(
  connection: Connection,
  keys: readonly Argument[],
  bytes: boolean,
): Promise<readonly Outcome[]> {
  const [one, all] = bytes ? ([ONE_KEY_BYTES, ALL_KEYS_BYTES] as const) : ([ONE_KEY, ALL_KEYS] as const)
  if (keys.length <= MOST) return together(connection, keys, one, all)
  const chunks: Promise<readonly Outcome[]>[] = []
  for (let at = 0; at < keys.length; at += MOST)
    chunks.push(together(connection, keys.slice(at, at + MOST), one, all))
  return (await Promise.all(chunks)).flat()
}

function mergeGets(one: Shape, all: Shape): Merge {
  return {
    most: MOST,
    reads: true,
    group: (call, cluster) => (cluster ? slotOf(String(call[1])) : 0),
    sendOne: (connection, call) => connection.send(call, one),
    send: (connection, calls) =>
      together(
        connection,
        calls.map((call) => call[1]!),
        one,
        all,
      ),
  }
}

/**
 * MGET answers nil for an absent key and for one of another type alike. Where it does, an EXISTS over those keys follows:
 * none is there, mostly; else TYPE tells which is which. A key that goes before that can thus hide a wrong type from this
 * one read: MGET itself would have hidden it from all.
 *
 * What refuses many keys need not refuse one (an ACL, a slot that is being moved): then each is asked for by itself.
 */
async function together(
  connection: Connection,
  keys: readonly Argument[],
  one: Shape,
  all: Shape,
): Promise<readonly Outcome[]> {
  const places = new Map<Argument, number>()
  const command: Argument[] = ['MGET']
  for (const key of keys) {
    if (places.has(key)) continue
    places.set(key, command.length - 1)
    command.push(key)
  }
  let replies: readonly Reply[]
  try {
    replies = decodeReply(arrayReply, await connection.send(command, all), String(keys[0]))
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    return Promise.all(keys.map((key) => outcomeOf(connection.send(['GET', key], one))))
  }
  const foreign = replies.includes(null)
    ? await wrongTypes(
        connection,
        [...places].filter(([, place]) => replies[place] === null).map(([key]) => key),
      )
    : undefined
  if (foreign === undefined && places.size === keys.length) return replies.map((reply) => ({ reply }))
  const given = new Set<unknown>()
  return keys.map((key): Outcome => {
    const error = foreign?.get(key)
    if (error !== undefined) return { error }
    const reply = replies[places.get(key)!]!
    // Bytes are their asker's own, to keep and to change.
    if (Buffer.isBuffer(reply) && given.has(key)) return { reply: Buffer.from(reply) }
    given.add(key)
    return { reply }
  })
}

async function wrongTypes(
  connection: Connection,
  keys: readonly Argument[],
): Promise<Map<Argument, ServerError> | undefined> {
  if ((await connection.send(['EXISTS', ...keys], ALL_KEYS)) === 0) return undefined
  const types = await Promise.all(keys.map((key) => connection.send(['TYPE', key], ONE_KEY)))
  const errors = new Map<Argument, ServerError>()
  for (const [index, key] of keys.entries()) {
    // A string that was not there for MGET came after it: absent is the right answer.
    if (types[index] === 'none' || types[index] === 'string') continue
    const reply = 'WRONGTYPE Operation against a key holding the wrong kind of value'
    errors.set(key, new ServerError(reply, 'GET', String(key)))
  }
  return errors
}
