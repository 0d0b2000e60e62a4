import { bytes } from '../../codec/bytes.ts'
import { text } from '../../codec/text.ts'
import { SchemaError } from '../../errors.ts'
import type { Kind } from '../../kind/kind.ts'
import type { ParamCodecs } from '../../param.ts'
import { digits, flag, int, serverNow, times } from '../../script/argument.ts'
import { script } from '../../script/script.ts'
import type { Limits } from '../limiter/limit-by.ts'
import {
  type Counting,
  decisionReply,
  limiter,
  type LimiterEntry,
  type LimiterOptions,
  splitDecision,
} from '../limiter/limiter.ts'
import * as lua from './lua.gen.ts'

const ARGS = { limit: int, perMs: digits, cost: int, force: flag, now: serverNow, count: times } as const
const TAKE = {
  keys: ['key'],
  reply: decisionReply,
  merge: splitDecision,
} as const
const takeExact = script('sliding-window/take', {
  ...TAKE,
  args: ARGS,
  lua: lua.take,
  commands: ['PEXPIRE', 'ZADD', 'ZCARD', 'ZCOUNT', 'ZRANGE', 'ZRANGEBYSCORE', 'ZREMRANGEBYSCORE'],
})
const takeCompact = script('sliding-window/take-compact', {
  ...TAKE,
  args: ARGS,
  lua: lua.takeCompact,
  commands: ['GET', 'SET'],
})
const exact: Counting = {
  type: 'zset',
  codec: text,
  renew: 'write',
  decide: takeExact.run,
  commands: takeExact.commands,
}
const compact: Counting = {
  type: 'string',
  codec: bytes,
  renew: 'write',
  decide: takeCompact.run,
  commands: takeCompact.commands,
}

/** What a sliding window declares. */
export type SlidingWindowOptions<
  P extends string,
  C extends ParamCodecs<P>,
  L extends Limits,
> = LimiterOptions<P, C, L> & {
  /** How hits are kept: each of them, or in groups of a constant size in memory. `'exact'` unless said otherwise. */
  readonly form?: 'exact' | 'compact'
}

/**
 * Admits up to `limit` in any span of `per`, wherever it starts. What is refused does not count.
 *
 * With `limits` the value of the pattern's last placeholder chooses the limit.
 *
 * `form: 'exact'`, in Redis: a sorted set, a member a hit, its score the server's time in seconds with a fraction (to
 * the millisecond), as Python's `time.time()` writes it. Programs that add the timestamp as score and member, cut with
 * ZREMRANGEBYSCORE and count with ZCARD can share the key. About 40 bytes a hit, up to the limit.
 *
 * `form: 'compact'`, in Redis: a string of at most 44 bytes, so a key takes at most 128 bytes of
 * memory (MEMORY USAGE of Redis 7.0) if its name has up to 30.
 * Hits are kept in groups: the time of a group's last hit, and how many hits it has. A group counts in full until its
 * last hit is `per` old, so no hit is forgotten early, and no span of `per` holds more than the limit (1.00 times it).
 * The price is paid in waiting: a hit can count longer than `per`, by less than `per` / 8, and then only if the limit
 * is above 9 and hits came within `per` / 8 after it. A new group begins with the first hit that comes `per` / 8 or more
 * after the first of the newest group. So the first hits of groups are at least `per` / 8 apart, and those of groups
 * that still count are less than `per` + `per` / 8 old: at most 9 groups. A limit up to 9 gives each hit its own.
 * Limits up to 65,535.
 *
 * @example
 * requests: slidingWindow('rate:<userId>:<endpoint>', { per: '1m', limits: { search: 10, upload: 5 } })
 * const taken = await keys.requests({ userId, endpoint: 'search' }).take()
 */
export function slidingWindow<
  const P extends string,
  const C extends ParamCodecs<P> = {},
  const L extends Limits = {},
>(pattern: P, options: SlidingWindowOptions<P, C, L>): Kind<LimiterEntry<P, C, L>> {
  const { form = 'exact', ...rest } = options
  if (form === 'compact') {
    const most = Math.max(
      ...(options.limits === undefined ? [options.limit!] : Object.values(options.limits)),
    )
    if (most > 65_535) {
      throw new SchemaError(`"${pattern}": the compact form counts up to 65535, and the limit is ${most}`)
    }
  }
  return limiter(pattern, rest as LimiterOptions<P, C, L>, form === 'exact' ? exact : compact)
}
