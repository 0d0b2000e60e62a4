import {
  type Connection,
  ONE_KEY,
  type Reply,
  type Shape,
  type Merge,
  type Outcome,
} from '../connection/connection.ts'
import { outcomeOf } from '../connection/pipeline/merge.ts'
import { isUnavailable, ServerError } from '../connection/server-error.ts'
import { KeyspecError } from '../errors.ts'
import { rest, text } from '../script/argument.ts'
import { arrayReply, integerReply, optionalReply, textReply } from '../connection/reply.ts'
import { script } from '../script/script.ts'
import * as lua from './lua.gen.ts'

const setTogether = script('kind/set-together', {
  keys: ['keys*'],
  args: { ttlMs: text, values: rest },
  lua: lua.setTogether,
  commands: ['SET'],
  reply: optionalReply(failuresReply),
})

/** One of the keys that was not set, and the server's words. */
interface Failed {
  readonly place: number
  readonly words: string
}

function failuresReply(reply: Reply): Failed[] {
  return arrayReply(reply).flatMap((item, at, all) =>
    at % 2 === 0 ? [{ place: integerReply(item) - 1, words: textReply(all[at + 1] ?? null) }] : [],
  )
}

/** Values longer than this gain nothing by going together: what they cost is their bytes. */
const SHORT = 1_024

/**
 * The shape of a plain `SET key value [PX ttl]`. Over a client whose commands are dear, those of one tick that have one
 * lifetime go out as one script. Not on a cluster, where neighbours are seldom of one slot.
 */
export function shapeOfSet({ dear, cluster }: Connection): (value: string | Uint8Array) => Shape {
  if (dear !== true || cluster) return () => ONE_KEY
  return (value) => (value.length <= SHORT ? TOGETHER : ONE_KEY)
}

const merge: Merge = {
  most: 64,
  // The same key may stand in two groups, where the lifetime is spread.
  neighbours: true,
  group: (call) => String(call[4] ?? '0'),
  sendOne: (connection, call) => connection.send(call, ONE_KEY),
  async send(connection, calls) {
    const keys = calls.map((call) => call[1]!)
    const values = calls.map((call) => call[2]!)
    let failed: readonly Failed[] | undefined
    try {
      failed = await setTogether.run(connection, { keys }, { ttlMs: calls[0]![4] ?? '0', values })
    } catch (error) {
      // A user that may not run scripts may still SET. A script without an answer may have been applied: it is not repeated.
      if (!(error instanceof KeyspecError) || isUnavailable(error)) throw error
      return Promise.all(calls.map((call) => outcomeOf(connection.send(call, ONE_KEY))))
    }
    const outcomes: Outcome[] = calls.map(() => ({ reply: 'OK' }))
    for (const { place, words } of failed ?? [])
      outcomes[place] = { error: new ServerError(words, 'SET', String(keys[place])) }
    return outcomes
  },
}

const TOGETHER: Shape = { ...ONE_KEY, merge }
