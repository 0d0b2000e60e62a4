import type { Codec } from '../../codec/codec.ts'
import type { Connection } from '../../connection/connection.ts'
import { isUnavailable } from '../../connection/server-error.ts'
import { type Duration, milliseconds } from '../../duration.ts'
import { ArgumentRangeError, SchemaError } from '../../errors.ts'
import { type Entry, openEntry } from '../../kind/entry.ts'
import { type Home, homeOf, Key } from '../../kind/key.ts'
import { type Description, type Kind, keySpec, type RedisType } from '../../kind/kind.ts'
import type { Renewal } from '../../kind/lifetime.ts'
import type { ParamCodecs } from '../../param.ts'
import { integerReply, optionalReply, tupleReply } from '../../connection/reply.ts'
import type { Split } from '../../script/merge-equal.ts'
import { checkLimit, type LimitedBy, type Limits, oneOf } from './limit-by.ts'
import { Outage, type Unreachable } from './outage.ts'
import type { LimitResult, LimitState } from './limit-result.ts'

/** What a limiter declares: how much may be taken in how long, and what happens while Redis is away. */
export type LimiterOptions<P extends string, C extends ParamCodecs<P>, L extends Limits> = Description<
  P,
  C
> & {
  /** The length of the window. */
  readonly per: Duration
  /** Without it the client's error passes through while Redis cannot be reached. */
  readonly unreachable?: Unreachable
  /** `false` switches the limiter off: everything is admitted, nothing counted, and `LimitResult.from` says `'disabled'`. */
  readonly enabled?: boolean
} & (
    | { readonly limit: number; readonly limits?: never }
    | {
        /** A limit for each value of the last placeholder, which takes no other value. */
        readonly limits: L
        readonly limit?: never
      }
  )

/** An entry of limiters: `keys.requests({ userId, endpoint }).take()`. */
export type LimiterEntry<P extends string, C, L extends Limits> = Entry<P, LimitedBy<P, C, L>, Limiter>

/** How one kind of limiter counts in Redis. */
export interface Counting {
  readonly type: RedisType
  readonly codec: Codec<any, any>
  readonly renew: Renewal
  readonly decide: Decide
  /** The commands of `decide`. */
  readonly commands: readonly string[]
}

/** Takes `cost` if that much is left, or by `force`; a cost of 0 only looks. */
export type Decide = (
  connection: Connection,
  keys: { readonly key: string },
  asked: Asked,
) => Promise<Decision>

/** What a limiter's script is asked. */
export interface Asked {
  readonly limit: number
  readonly perMs: number
  readonly cost: number
  readonly force: boolean
  /** It will probably be refused, as the last one was: a hint for speed, on which no answer depends. */
  readonly wary: boolean
  /** The server's clock for a test. */
  readonly now: number | undefined
}

/** What a limiter's script answered: how much remains, and to one that is refused when to come again. */
export type Decision = readonly [remaining: number, resetMs: number, retryAfterMs: number | undefined]

/** Reads the answer of a limiter's script. */
export const decisionReply = tupleReply(integerReply, integerReply, optionalReply(integerReply))

/** Splits the decision over several equal takes: the first of them were allowed, as many as `admitted` says. */
export const splitDecision: Split = (reply, count) => {
  const [remaining, resetMs, retryAfterMs, admitted, cost] = severalReply(reply)
  return Array.from({ length: count }, (_, index) =>
    index < admitted
      ? [remaining + (admitted - 1 - index) * cost, resetMs]
      : [remaining, resetMs, retryAfterMs],
  )
}

const severalReply = tupleReply(integerReply, integerReply, integerReply, integerReply, integerReply)

/** A kind of limiters that count in this way. */
export function limiter<P extends string, C extends ParamCodecs<P>, L extends Limits>(
  pattern: P,
  options: LimiterOptions<P, C, L>,
  { type, codec, renew, decide, commands }: Counting,
): Kind<LimiterEntry<P, C, L>> {
  const { per, limit, limits, unreachable, enabled = true, ...description } = options
  const declared = keySpec(pattern, type, codec, { ...description, ttl: per, renew })
  const by = limits === undefined ? undefined : declared.pattern.params.at(-1)
  if (limits !== undefined && by === undefined) {
    throw new SchemaError(`"${pattern}" declares limits, but has no placeholder whose value would choose one`)
  }
  const spec =
    limits === undefined || by === undefined
      ? declared
      : { ...declared, params: { ...declared.params, [by]: oneOf(limits) } }
  const values = limits === undefined ? [limit!] : Object.values(limits)
  for (const value of values) checkLimit(pattern, value)
  checkUnreachable(pattern, unreachable, values)
  const perMs = milliseconds(per)

  return {
    keys: [spec],
    together: false,
    layout: 1,
    commands,
    open(opening) {
      const { connection, now } = opening
      const ask: Ask = (key, cost, max, { force = false, wary = false } = {}) =>
        decide(connection, { key }, { limit: max, perMs, cost, force, wary, now: now?.() })
      const outage =
        unreachable === undefined
          ? undefined
          : new Outage({
              unreachable,
              perMs,
              ask: (key, max) => ask(key, 0, max),
              add: async (key, count, max) => {
                const [remaining, resetMs] = await ask(key, count, max, FORCED)
                return { remaining, resetMs }
              },
              clock: now ?? (() => performance.now()),
            })
      const home = { ...homeOf(spec, opening), perMs, enabled, outage, ask, lately: { refused: false } }
      return openEntry(
        spec,
        opening,
        (name, params) => new Limiter(home, name, by === undefined ? limit! : limits![params[by] as string]!),
      )
    },
  }
}

type Ask = (
  key: string,
  cost: number,
  limit: number,
  how?: Partial<Pick<Asked, 'force' | 'wary'>>,
) => Promise<Decision>

const FORCED = { force: true }
const WARY = { wary: true }

interface LimiterHome extends Home {
  readonly perMs: number
  readonly enabled: boolean
  readonly outage: Outage | undefined
  readonly ask: Ask
  /** What the last take of any of its keys came to, since those who are refused mostly come again. */
  readonly lately: { refused: boolean }
}

/** One limiter: of one address, one user, one endpoint. */
export class Limiter extends Key {
  declare protected readonly home: LimiterHome
  /** How much may be taken in the window. */
  readonly limit: number

  constructor(home: LimiterHome, name: string, limit: number) {
    super(home, name)
    this.limit = limit
  }

  /**
   * Takes `cost` from what is left, all of it or nothing. Decided in one step on the server's clock, so any number of
   * processes together get what the limit allows. A `RangeError` when the cost is above the limit: it could never pass.
   */
  async take(cost = 1): Promise<LimitResult> {
    const { limit, name, home } = this
    if (!Number.isSafeInteger(cost) || cost < 1 || cost > limit) {
      throw new ArgumentRangeError(
        `${name}: cannot take ${cost} of a limit of ${limit}: a cost is a whole number from 1 to the limit`,
      )
    }
    const { perMs, outage } = home
    if (!home.enabled) return { allowed: true, limit, perMs, remaining: limit, resetMs: 0, from: 'disabled' }
    try {
      const how = home.lately.refused ? WARY : undefined
      const [remaining, resetMs, retryAfterMs] = await home.ask(name, cost, limit, how)
      home.lately.refused = retryAfterMs !== undefined
      const taken: LimitResult =
        retryAfterMs === undefined
          ? { allowed: true, limit, perMs, remaining, resetMs, from: 'redis' }
          : { allowed: false, limit, perMs, remaining, retryAfterMs, resetMs, from: 'redis' }
      return outage === undefined ? taken : outage.reached(name, taken)
    } catch (error) {
      if (outage === undefined || !isUnavailable(error)) throw error
      return outage.take(name, cost, limit)
    }
  }

  /**
   * Returns how it stands now; takes nothing. `remaining` leaves out what this process admitted without Redis and has not
   * added yet. While Redis cannot be reached it rejects, whatever `unreachable` says.
   */
  async peek(): Promise<LimitState> {
    const { limit, name, home } = this
    const { perMs, outage } = home
    if (!home.enabled) return { limit, perMs, remaining: limit, resetMs: 0, from: 'disabled' }
    const [remaining, resetMs] = await home.ask(name, 0, limit)
    const standing: LimitState = { limit, perMs, remaining, resetMs, from: 'redis' }
    return outage === undefined ? standing : outage.looked(name, standing, perMs)
  }

  /**
   * Adds to Redis what this process admitted without it, for all keys of the entry, and returns how many calls it could not
   * add yet. It happens by itself once Redis answers again; call this before the process ends, until it returns 0.
   */
  async settle(): Promise<number> {
    return (await this.home.outage?.settle()) ?? 0
  }

  /** Forgets all that was taken; answers whether anything was. */
  async reset(): Promise<boolean> {
    const done = this.home.outage?.resetting(this.name)
    const existed = await this.delete()
    done?.()
    return existed
  }
}

/** Refuses a share that makes no sense, or that would admit nothing of one of these limits. */
export function checkUnreachable(
  pattern: string,
  unreachable: Unreachable | undefined,
  limits: number[],
): void {
  if (typeof unreachable !== 'object') return
  const { share } = unreachable
  if (!(share > 0 && share <= 1)) {
    throw new SchemaError(`"${pattern}": a share is a fraction above 0 and up to 1, not ${String(share)}`)
  }
  const least = Math.min(...limits)
  if (least * share + 1e-9 >= 1) return
  throw new SchemaError(
    `"${pattern}": a share of ${share} of a limit of ${least} would admit nothing: say 'refuse', or a larger share`,
  )
}
