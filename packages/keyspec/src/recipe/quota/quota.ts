import { integer } from '../../codec/integer.ts'
import type { Connection } from '../../connection/connection.ts'
import { GET } from '../../connection/pipeline/reads.ts'
import { isUnavailable } from '../../connection/server-error.ts'
import type { Duration } from '../../duration.ts'
import { ArgumentRangeError, ClockError, DecodeError } from '../../errors.ts'
import { type Entry, openEntry } from '../../kind/entry.ts'
import { keyWriter, prefixed } from '../../kind/key-name.ts'
import { type Home, homeOf, Key } from '../../kind/key.ts'
import { type Description, type Kind, keySpec, type KeySpec } from '../../kind/kind.ts'
import { ttlFor } from '../../kind/lifetime.ts'
import type { ParamCodec, ParamCodecs, ParamTexts, ParamValues } from '../../param.ts'
import { digits, flag, int, serverNow } from '../../script/argument.ts'
import { decodeStored } from '../../codec/readable.ts'
import { decodeReply, integerReply, listReply, optionalReply, storedReply } from '../../connection/reply.ts'
import { script } from '../../script/script.ts'
import { requireSamePlaceholders } from '../../pattern.ts'
import { checkLimit } from '../limiter/limit-by.ts'
import { checkUnreachable } from '../limiter/limiter.ts'
import { Outage, type Unreachable } from '../limiter/outage.ts'
import type { LimitResult, LimitState } from '../limiter/limit-result.ts'
import * as lua from './lua.gen.ts'
import { ServerClock, windowAt, windowParam } from './window.ts'

/** What a quota declares: how much may be taken in each hour or day, and where it is counted besides. */
export type QuotaOptions<P extends string, C extends ParamCodecs<P>> = Description<P, C> & {
  /** Which placeholder is the window: `{ hour: param.hour }` or `{ day: param.day }`. */
  readonly params: C
  readonly limit: number
  /** Further counters of the same window, with the same placeholders, that always show the same count. */
  readonly mirror?: readonly string[]
  /** How long a counter lives from its creation: the window, and as long as somebody may still ask for it. */
  readonly ttl: Duration
  /** Without it the client's error passes through while Redis cannot be reached. */
  readonly unreachable?: Unreachable
}

/** The placeholder of a quota that is its window. */
export type WindowParam<C> = {
  [N in keyof C]: C[N] extends ParamCodec<infer In> ? (Date extends In ? N : never) : never
}[keyof C]

/** An entry of quotas: `keys.calls().take()`, or `keys.calls({ token }).take()` where there is one for each. */
export interface QuotaEntry<P extends string, C> {
  (
    ...params: {} extends Omit<ParamValues<P, C>, WindowParam<C>>
      ? [params?: Record<string, never>]
      : [params: Omit<ParamValues<P, C>, WindowParam<C>>]
  ): Quota
  /** The counters that exist now, mirrors among them, found with SCAN. */
  scan(options?: {
    readonly count?: number
  }): AsyncGenerator<{ readonly params: ParamTexts<P, C>; readonly key: Key }>
  /** The placeholders of one of its keys, window and all, or `undefined` when the key is not one of them. */
  parse(key: string): ParamTexts<P, C> | undefined
}

interface InWindow {
  /** When the window began, on the server's clock. */
  readonly window: Date
  /** What is counted in the window; `undefined` while Redis cannot be reached. */
  readonly used: number | undefined
}

/** What became of a take from a quota. `previousUsed` is there when it opened a window: what was used in the one before. */
export type QuotaResult = LimitResult & InWindow & { readonly previousUsed?: number }

/** How a quota stands, as `peek` sees it. */
export type QuotaState = LimitState & InWindow

const take = script('quota/take', {
  keys: ['counters*'],
  args: { from: int, till: int, limit: int, cost: int, force: flag, ttlMs: digits, now: serverNow },
  lua: lua.take,
  commands: ['GET', 'PTTL', 'SET'],
  reply: listReply(integerReply),
})

/**
 * Admits up to `limit` in each hour or day of the calendar, UTC, as the server's clock tells it. The window is part of the
 * key, so that each window is a key of its own, which can be read afterwards until it expires.
 *
 * In Redis: a string with a decimal count, as INCRBY would write it, at the pattern and at each mirror. One step moves all
 * of them; where another program raised one alone, the largest counts. On a cluster they need one hash tag.
 *
 * @example
 * const schema = {
 *   calls: quota('api:rate_limit:<hour>', { limit: 4975, mirror: ['api:counter:<hour>'], ttl: '2h', params: { hour: param.hour } }),
 * }
 * const taken = await keys.calls().take()
 * if (!taken.allowed) return retryIn(taken.retryAfterMs)
 */
export function quota<const P extends string, const C extends ParamCodecs<P>>(
  pattern: P,
  options: QuotaOptions<P, C>,
): Kind<QuotaEntry<P, C>> {
  const { limit, mirror = [], ttl, unreachable, ...description } = options
  const { name: windowPlace, perMs } = windowParam(pattern, description.params)
  const specs = [pattern, ...mirror].map((text, index) => {
    const { renamedFrom, ...shared } = description
    return keySpec(text, 'string', integer, {
      ...shared,
      ...(index === 0 && renamedFrom !== undefined ? { renamedFrom } : {}),
      ttl,
      renew: 'creation',
    })
  })
  const [spec] = specs as [KeySpec]
  for (const { pattern: other } of specs)
    requireSamePlaceholders(other, spec.pattern, `"${other.text}" mirrors "${pattern}"`)
  checkLimit(pattern, limit)
  checkUnreachable(pattern, unreachable, [limit])

  return {
    keys: specs,
    together: true,
    layout: 1,
    commands: take.commands,
    open(opening) {
      const { prefix, now } = opening
      const entries = specs.map((each) =>
        openEntry(each, opening, (name) => new Key(homeOf(each, opening), name)),
      ) as readonly Entry<string, {}, Key>[]
      const home: QuotaHome = {
        ...homeOf(spec, opening),
        clock: new ServerClock(now),
        limit,
        perMs,
        outage: undefined,
      }
      const writers = specs.map((each) => keyWriter(prefixed(each.pattern, prefix), each.params))
      const namesIn = (params: Readonly<Record<string, unknown>>) => (atMs: number) =>
        writers.map((write) => write({ ...params, [windowPlace]: new Date(atMs) }))
      const outage =
        unreachable === undefined
          ? undefined
          : new Outage({
              unreachable,
              perMs,
              ask: (counters) => count(home, counters, 0),
              add: async (counters, cost) => {
                const [serverMs, , used] = await count(home, counters, cost)
                const { tillMs } = windowAt(serverMs!, perMs)
                return { remaining: Math.max(0, limit - used!), resetMs: tillMs - serverMs! }
              },
              clock: now ?? (() => performance.now()),
            })
      const opened = { ...home, outage }
      const entry = (params: Readonly<Record<string, unknown>> = {}) => new Quota(opened, namesIn(params))
      return Object.assign(entry, {
        async *scan(how?: { readonly count?: number }) {
          for (const each of entries) yield* each.scan(how)
        },
        parse: (key: string) => entries.map((each) => each.parse(key)).find((found) => found !== undefined),
      }) as unknown as QuotaEntry<P, C>
    },
  }
}

interface QuotaHome extends Home {
  readonly clock: ServerClock
  readonly limit: number
  readonly perMs: number
  readonly outage: Outage | undefined
}

/** A window's counters as one text, by which an outage knows the window. */
function windowName(counters: readonly string[]): string {
  return JSON.stringify(counters)
}

/** Takes whatever the limit, in whatever window: for what was admitted while Redis was away. */
function count({ connection, lifetime, limit, now }: QuotaHome, name: string, cost: number) {
  const counters = JSON.parse(name) as string[]
  const args = { from: 0, till: Number.MAX_SAFE_INTEGER, limit, cost, force: true, ttlMs: ttlFor(lifetime) }
  return take.run(connection, { counters }, { ...args, now: now?.() })
}

const MOST_ASKED = 5

/** One quota: so much in each window. */
export class Quota {
  /** How much may be taken in one window. */
  readonly limit: number
  readonly #home: QuotaHome
  readonly #namesAt: (atMs: number) => string[]

  constructor(home: QuotaHome, namesAt: (atMs: number) => string[]) {
    this.#home = home
    this.#namesAt = namesAt
    this.limit = home.limit
  }

  /** The names of the counters of the window that an instant lies in, the first pattern's first. */
  namesAt(at: Date): readonly string[] {
    return this.#namesAt(at.getTime())
  }

  /**
   * Takes `cost` from what is left of the present window, all of it or nothing, in one step on the server's clock. A
   * `RangeError` when the cost is above the limit: it could never pass.
   */
  async take(cost = 1): Promise<QuotaResult> {
    const { limit, outage, clock } = this.#home
    if (!Number.isSafeInteger(cost) || cost < 1 || cost > limit) {
      throw new ArgumentRangeError(
        `${this.#namesAt(clock.nowMs())[0]}: cannot take ${cost} of a limit of ${limit}: a cost is a whole number from 1 to the limit`,
      )
    }
    try {
      const { counters, allowed, isOpened, retryAfterMs, standing } = await this.#ask(cost)
      const decided: LimitResult & InWindow = allowed
        ? { allowed, ...standing }
        : { allowed, ...standing, retryAfterMs }
      const { window, used } = standing
      const taken =
        outage === undefined ? decided : { ...outage.reached(windowName(counters), decided), window, used }
      return isOpened ? { ...taken, ...(await this.#before(standing.window)) } : taken
    } catch (error) {
      if (outage === undefined || !isUnavailable(error)) throw error
      return this.#takeAway(outage, cost)
    }
  }

  /**
   * Returns how it stands now; takes nothing. `remaining` leaves out what this process admitted without Redis and has not
   * added yet; `used` is what is counted. While Redis cannot be reached it rejects, whatever `unreachable` says.
   */
  async peek(): Promise<QuotaState> {
    const { outage } = this.#home
    const { counters, standing, retryAfterMs } = await this.#ask(0)
    return outage === undefined ? standing : outage.looked(windowName(counters), standing, retryAfterMs)
  }

  /**
   * Adds to Redis what this process admitted without it, for all keys of the entry, and returns how many calls it could not
   * add yet. It happens by itself once Redis answers again; call this before the process ends, until it returns 0.
   */
  async settle(): Promise<number> {
    return (await this.#home.outage?.settle()) ?? 0
  }

  /** What was used in the window that an instant lies in; 0 where nothing was, or its counters have expired. */
  async at(instant: Date): Promise<number> {
    const names = this.namesAt(instant)
    const counts = await Promise.all(names.map((name) => usedAt(this.#home.connection, name)))
    return Math.max(...counts)
  }

  /** Asks with the keys of the window that it should be; the server knows which it is. */
  async #ask(cost: number) {
    const { clock, connection, lifetime, limit, perMs, now } = this.#home
    for (let asked = 0; asked < MOST_ASKED; asked += 1) {
      const { fromMs, tillMs } = windowAt(clock.nowMs(), perMs)
      const counters = this.#namesAt(fromMs)
      const args = { from: fromMs, till: tillMs, limit, cost, force: false, ttlMs: ttlFor(lifetime) }
      const [serverMs, allowed, used, opened] = await take.run(
        connection,
        { counters },
        { ...args, now: now?.() },
      )
      clock.heard(serverMs!)
      if (used === undefined) continue
      const standing: QuotaState = {
        limit,
        perMs,
        remaining: Math.max(0, limit - used),
        resetMs: used === 0 ? 0 : tillMs - serverMs!,
        from: 'redis',
        window: new Date(fromMs),
        used,
      }
      const isOpened = allowed === 1 && opened === 1
      return { counters, allowed: allowed === 1, isOpened, retryAfterMs: tillMs - serverMs!, standing }
    }
    const [name] = this.#namesAt(clock.nowMs())
    throw new ClockError(
      `${name}: nothing was taken: the server's clock was in another window each of ${MOST_ASKED} times it was asked: is it being set?`,
      name,
    )
  }

  /** The take is done: where the window before cannot be read any more, it goes without it. */
  async #before(window: Date): Promise<{ readonly previousUsed?: number }> {
    const before = this.at(new Date(window.getTime() - 1))
    return before.then(
      (previousUsed) => ({ previousUsed }),
      () => ({}),
    )
  }

  #takeAway(outage: Outage, cost: number): QuotaResult {
    const { clock, limit, perMs } = this.#home
    const { fromMs } = windowAt(clock.nowMs(), perMs)
    const taken = outage.take(windowName(this.#namesAt(fromMs)), cost, limit)
    return { ...taken, window: new Date(fromMs), used: undefined }
  }
}

const STORED = optionalReply(storedReply)

async function usedAt(connection: Connection, name: string): Promise<number> {
  const stored = decodeReply(STORED, await connection.send(['GET', name], GET), name)
  if (stored === undefined) return 0
  try {
    return decodeStored(integer, stored)
  } catch (error) {
    throw new DecodeError(name, integer.name, error, stored)
  }
}
