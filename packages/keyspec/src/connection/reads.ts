import {
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
 * MGET answers nil for an absent key and for one of another type alike. An EXISTS over the same keys goes out with it:
 * when it counts as many keys as had values, each nil is an absent key; else TYPE tells which is which. A key that goes
 * between the two can thus hide a wrong type from this one read: MGET itself would have hidden it from all.
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
      const keys = calls.map((call) => call[1]!)
      const distinct = [...new Set(keys)]
      const reading = connection.send(['MGET', ...distinct], all)
      const counting = connection.send(['EXISTS', ...distinct], ALL_KEYS)
      // Should reading fail first, the failure of counting is no unhandled rejection.
      counting.catch(() => {})
      let replies: readonly Reply[]
      try {
        replies = (await reading) as readonly Reply[]
      } catch (error) {
        if (!(error instanceof ServerError)) throw error
        return Promise.all(calls.map((call) => outcomeOf(connection.send(call, one))))
      }
      const answers = new Map(distinct.map((key, index) => [key, replies[index]!]))
      const absent = distinct.filter((key) => answers.get(key) === null)
      const foreign =
        absent.length > 0 && (await counting) !== distinct.length - absent.length
          ? await wrongTypes(connection, absent)
          : undefined
      const given = new Set<unknown>()
      return keys.map((key): Outcome => {
        const error = foreign?.get(key)
        if (error !== undefined) return { error }
        const reply = answers.get(key)!
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
  keys: readonly (string | Uint8Array)[],
): Promise<Map<string | Uint8Array, ServerError>> {
  const types = await Promise.all(keys.map((key) => connection.send(['TYPE', key], ONE_KEY)))
  const errors = new Map<string | Uint8Array, ServerError>()
  for (const [index, key] of keys.entries()) {
    // A string that was not there for MGET came after it: absent is the right answer.
    if (types[index] === 'none' || types[index] === 'string') continue
    const reply = 'WRONGTYPE Operation against a key holding the wrong kind of value'
    errors.set(key, new ServerError(reply, 'GET', String(key)))
  }
  return errors
}
