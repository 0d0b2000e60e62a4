import { integer } from '../../codec/integer.ts'
import type { Kind } from '../../kind/kind.ts'
import type { ParamCodecs } from '../../param.ts'
import { digits, flag, int, times } from '../../script/argument.ts'
import { script } from '../../script/script.ts'
import type { Limits } from '../limiter/limit-by.ts'
import {
  decisionReply,
  limiter,
  type LimiterEntry,
  type LimiterOptions,
  splitDecision,
} from '../limiter/limiter.ts'
import * as lua from './lua.gen.ts'

const take = script('fixed-window/take', {
  keys: ['key'],
  args: { limit: int, perMs: int, cost: digits, force: flag, wary: flag, count: times },
  lua: lua.take,
  commands: ['GET', 'INCRBY', 'PEXPIRE', 'PTTL'],
  reply: decisionReply,
  merge: splitDecision,
})

/**
 * Admits up to `limit` in a window that starts with the first take and ends `per` later: one counter a key, the cheapest
 * of limiters. Around the end of a window up to twice the limit can pass within `per`; where that matters, `slidingWindow`.
 *
 * In Redis: a string with a decimal count of what was taken, as INCR would write it, that expires with its window.
 *
 * @example
 * const schema = {
 *   signIn: fixedWindow('sign_in:<from>', { per: '1m', limit: 100, unreachable: { share: 1 / 8 }, params: { from: param.ip } }),
 * }
 * const taken = await keys.signIn({ from: request.ip }).take()
 * if (!taken.allowed) return tooMany(taken.retryAfterMs)
 */
export function fixedWindow<
  const P extends string,
  const C extends ParamCodecs<P> = {},
  const L extends Limits = {},
>(pattern: P, options: LimiterOptions<P, C, L>): Kind<LimiterEntry<P, C, L>> {
  return limiter(pattern, options, {
    type: 'string',
    codec: integer,
    renew: 'creation',
    // The window is the key's own time to live, which only the server's clock can tell.
    commands: take.commands,
    decide: (connection, keys, { limit, perMs, cost, force, wary }) =>
      take.run(connection, keys, { limit, perMs, cost, force, wary }),
  })
}
