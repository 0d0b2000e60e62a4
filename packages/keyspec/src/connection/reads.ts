import {
  type Argument,
  type Connection,
  type Reply,
  type Shape,
  ALL_KEYS,
  ALL_KEYS_BYTES,
  ONE_KEY,
  ONE_KEY_BYTES,
} from './connection.ts'
import type { Merge, Outcome } from './merge.ts'
import { ServerError } from './server-error.ts'
import { slotOf } from './slot.ts'

/** GET of a text; neighbours become one MGET. */
export const GET: Shape = { ...ONE_KEY, merge: mergeGets(ONE_KEY, ALL_KEYS) }

/** GET of bytes; neighbours become one MGET. */
export const GET_BYTES: Shape = { ...ONE_KEY_BYTES, merge: mergeGets(ONE_KEY_BYTES, ALL_KEYS_BYTES) }

/**
 * MGET answers nil for an absent key and for one of another type alike. Where it does, an EXISTS over those keys follows:
 * none is there, mostly; else TYPE tells which is which. A key that goes before that can thus hide a wrong type from this
 * one read: MGET itself would have hidden it from all.
 *
 * What refuses many keys need not refuse one (an ACL, a slot that is being moved): then each is asked for by itself.
 */
function mergeGets(one: Shape, all: Shape): Merge {
  return {
    most: 128,
    reads: true,
    group: (call, cluster) => (cluster ? slotOf(call[1] as string) : 0),
    sendOne: (connection, call) => connection.send(call, one),
    async send(connection, calls) {
      const places = new Map<Argument, number>()
      const command: Argument[] = ['MGET']
      for (const call of calls) {
        const key = call[1]!
        if (places.has(key)) continue
        places.set(key, command.length - 1)
        command.push(key)
      }
      let replies: readonly Reply[]
      try {
        replies = (await connection.send(command, all)) as readonly Reply[]
      } catch (error) {
        if (!(error instanceof ServerError)) throw error
        return Promise.all(calls.map((call) => outcomeOf(connection.send(call, one))))
      }
      const foreign = replies.includes(null)
        ? await wrongTypes(
            connection,
            [...places].filter(([, place]) => replies[place] === null).map(([key]) => key),
          )
        : undefined
      if (foreign === undefined && places.size === calls.length) return replies.map((reply) => ({ reply }))
      const given = new Set<unknown>()
      return calls.map((call): Outcome => {
        const key = call[1]!
        const error = foreign?.get(key)
        if (error !== undefined) return { error }
        const reply = replies[places.get(key)!]!
        // Bytes are their asker's own, to keep and to change.
        if (Buffer.isBuffer(reply) && given.has(key)) return { reply: Buffer.from(reply) }
        given.add(key)
        return { reply }
      })
    },
  }
}

async function outcomeOf(replying: Promise<Reply>): Promise<Outcome> {
  try {
    return { reply: await replying }
  } catch (error) {
    return { error }
  }
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
