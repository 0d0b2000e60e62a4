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
import { arrayReply, optionalReply } from '../script/reply.ts'
import { script } from '../script/script.ts'
import * as lua from './lua.gen.ts'

const setTogether = script('kind/set-together', {
  keys: ['keys*'],
  args: { ttlMs: text, values: rest },
  lua: lua.setTogether,
  commands: ['SET'],
  reply: optionalReply(arrayReply),
})

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
    let failed: readonly Reply[] | undefined
    try {
      failed = await setTogether.run(connection, { keys }, { ttlMs: calls[0]![4] ?? '0', values })
    } catch (error) {
      // A user that may not run scripts may still SET. A script without an answer may have been applied: it is not repeated.
      if (!(error instanceof KeyspecError) || isUnavailable(error)) throw error
      return Promise.all(calls.map((call) => outcomeOf(connection.send(call, ONE_KEY))))
    }
    const outcomes: Outcome[] = calls.map(() => ({ reply: 'OK' }))
    for (let at = 0; at < (failed?.length ?? 0); at += 2) {
      const place = (failed![at] as number) - 1
      outcomes[place] = { error: new ServerError(String(failed![at + 1]), 'SET', String(keys[place])) }
    }
    return outcomes
  },
}

const TOGETHER: Shape = { ...ONE_KEY, merge }
