import type { Subscriber } from '../../connection/connection.ts'
import { integer } from '../../codec/integer.ts'
import { text as textCodec } from '../../codec/text.ts'
import { isUnavailable } from '../../connection/server-error.ts'
import { type Duration, milliseconds, spell } from '../../duration.ts'
import { SchemaError } from '../../errors.ts'
import { type Entry, keyWriter, openEntry, prefixed } from '../../kind/entry.ts'
import { type Home, homeOf, Key } from '../../kind/key.ts'
import { type Description, type Kind, keySpec, type KeySpec } from '../../kind/kind.ts'
import type { ParamCodecs } from '../../param.ts'
import { digits, serverNow, text } from '../../script/argument.ts'
import { integerReply, tupleReply } from '../../script/reply.ts'
import { script } from '../../script/script.ts'
import { Waiting } from '../cache/waiting.ts'
import { Held, type LockHome } from './held.ts'
import { keepWhile } from './keep.ts'
import * as lua from './lua.gen.ts'

/** What a lock declares. */
export type LockOptions<P extends string, C extends ParamCodecs<P>, F> = Description<P, C> & {
  /** How long it is held at most, unless its holder extends it: a holder that dies keeps it no longer. */
  readonly ttl: Duration
} & (
    | {
        /**
         * The pattern of a second key, with the same placeholders and on a cluster in the same slot, that counts the
         * holders: then `held.fence` rises with each.
         */
        readonly fence?: F
        readonly unreachable?: never
      }
    | {
        readonly fence?: never
        /** While Redis cannot be reached the work is done without a lock. Without it the client's error passes through. */
        readonly unreachable: 'proceed'
      }
  )

/** An entry of locks: `keys.lock({ key }).acquire()`. */
export type LockEntry<P extends string, C, F> = Entry<P, C, LockKey<F extends string ? number : undefined>>

/** Somebody else holds the lock, for so long at most. */
export interface NotAcquired {
  readonly acquired: false
  readonly retryAfterMs: number
}

/** What became of `using`. */
export type Used<T> = { readonly acquired: true; readonly value: T } | NotAcquired

/** How long to wait for a lock. */
export interface AcquireOptions {
  /** How long to wait where somebody else holds it; not at all unless said. */
  readonly wait?: Duration
}

const WEEK_MS = 604_800_000

/**
 * At most one holder at a time, each for `ttl` at most: `SET key token NX PX ttl`, given back only by the token that took it.
 *
 * A lock cannot stop a holder that sleeps through its lease (a process that was stopped, a long collection of garbage) from
 * writing when it wakes up. Where that matters, declare a `fence` and let what is written to refuse a lower one than it has
 * seen (M. Kleppmann, How to do distributed locking, 2016). With replicas, a failover can lose a lock that was just taken.
 *
 * Who waits asks again in short pauses. Where the keyspace has a `subscriber` it is woken at once by a message, on the channel
 * of the key's name, that those release with whose keyspace has one too: so give it to all or to none.
 *
 * @example
 * const schema = { lock: lock('lock:<key*>', { ttl: '10s' }) }
 * const done = await keys.lock({ key: 'report' }).using((signal) => buildReport({ signal }), { wait: '5s' })
 * if (!done.acquired) return later(done.retryAfterMs)
 */
export function lock<
  const P extends string,
  const C extends ParamCodecs<P> = {},
  const F extends string | undefined = undefined,
>(pattern: P, options: LockOptions<P, C, F>): Kind<LockEntry<P, C, F>> {
  const { ttl, fence, unreachable, ...description } = options
  const spec = keySpec(pattern, 'string', textCodec, { evictable: false, ...description, ttl })
  const ttlMs = milliseconds(ttl)
  const fenceTtlMs = Math.max(ttlMs, WEEK_MS)
  const fenceSpec = fence === undefined ? undefined : specOfFence(spec, fence, fenceTtlMs)
  return {
    keys: fenceSpec === undefined ? [spec] : [spec, fenceSpec],
    together: fenceSpec !== undefined,
    open(opening) {
      const { connection, prefix, subscriber } = opening
      const home: KeyHome = {
        ...homeOf(spec, opening),
        ttlMs,
        fenceTtlMs,
        subscriber,
        lock: { connection, ttlMs, proceeds: unreachable === 'proceed', wakes: subscriber !== undefined },
      }
      const fenceOf =
        fenceSpec === undefined ? undefined : keyWriter(prefixed(fenceSpec.pattern, prefix), fenceSpec.params)
      return openEntry(spec, opening, (name, params) => new LockKey(home, name, fenceOf?.(params)))
    },
  }
}

const acquire = script('lock/acquire', {
  keys: ['key', 'fences*'],
  args: { token: text, ttlMs: digits, fenceTtlMs: digits, now: serverNow },
  lua: lua.acquire,
  reply: tupleReply(integerReply, integerReply),
})

interface KeyHome extends Home {
  readonly ttlMs: number
  readonly fenceTtlMs: number
  readonly subscriber: Subscriber | undefined
  readonly lock: LockHome
}

/** One lock. */
export class LockKey<Fence extends number | undefined = undefined> extends Key {
  declare protected readonly home: KeyHome
  readonly #fence: string | undefined

  constructor(home: KeyHome, name: string, fence: string | undefined) {
    super(home, name)
    this.#fence = fence
  }

  /** Takes the lock, or says how long its holder may keep it. Without Redis, as declared in `unreachable`. */
  async acquire({ wait }: AcquireOptions = {}): Promise<Held<Fence> | NotAcquired> {
    const token = crypto.randomUUID()
    const waitMs = wait === undefined ? 0 : milliseconds(wait)
    const giveUpAt = performance.now() + waitMs
    let waiting: Waiting | undefined
    try {
      for (;;) {
        const answer = await this.#ask(token, performance.now() >= giveUpAt)
        if (answer?.acquired === true) return answer
        if (answer !== undefined && performance.now() >= giveUpAt) return answer
        waiting ??= new Waiting(this.home.subscriber, AbortSignal.timeout(waitMs))
        await waiting.pause([this.name])
      }
    } finally {
      waiting?.end()
    }
  }

  /**
   * Acquires the lock, runs the work with the lock renewed as long as it takes, and releases it. The signal is aborted when
   * the lock is lost; then, or if it turns out at the end, `using` rejects with a `LeaseLostError` once the work has ended.
   */
  async using<T>(
    work: (signal: AbortSignal, held: Held<Fence>) => T | Promise<T>,
    options: AcquireOptions = {},
  ): Promise<Used<T>> {
    const held = await this.acquire(options)
    if (!held.acquired) return held
    const { ttlMs, lock } = this.home
    const value = await keepWhile(held, work, { key: this.name, ttlMs, proceeds: lock.proceeds })
    return { acquired: true, value }
  }

  /** Asks once. `undefined`: there was no answer, so the same token is asked for again, unless it was the `last` time. */
  async #ask(token: string, last: boolean): Promise<Held<Fence> | NotAcquired | undefined> {
    const { connection, ttlMs, fenceTtlMs, now, lock } = this.home
    const asked = performance.now()
    const held = (fence: number | undefined, exclusive: boolean) =>
      new Held(lock, this.name, { token, fence: fence as Fence, until: asked + ttlMs, exclusive })
    try {
      const [acquired, told] = await acquire.run(
        connection,
        { key: this.name, fences: this.#fence === undefined ? [] : [this.#fence] },
        { token, ttlMs, fenceTtlMs, now: now?.() },
      )
      if (acquired === 1) return held(this.#fence === undefined ? undefined : told, true)
      return { acquired: false, retryAfterMs: Math.max(1, told) }
    } catch (error) {
      if (!isUnavailable(error)) throw error
      if (lock.proceeds) return held(undefined, false)
      if (!last) return undefined
      // It may have been taken for us all the same. Whoever still hears this gives it back; else it ends by itself.
      void held(undefined, true)
        .release()
        .catch(() => {})
      throw error
    }
  }
}

function specOfFence(spec: KeySpec, fence: string, ttlMs: number): KeySpec {
  const about = `The fence of the newest holder of ${spec.pattern.text}`
  const { subject, params } = spec
  const made = keySpec(fence, 'string', integer, {
    ttl: spell(ttlMs),
    about,
    params,
    ...(subject === undefined ? {} : { subject }),
  })
  if ([...made.pattern.params].sort().join() !== [...spec.pattern.params].sort().join()) {
    throw new SchemaError(
      `"${fence}" is to count the holders of "${spec.pattern.text}": both need the same placeholders`,
    )
  }
  return made
}
