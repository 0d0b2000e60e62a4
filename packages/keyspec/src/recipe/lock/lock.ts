import type { Connection, Subscriber } from '../../connection/connection.ts'
import { integer } from '../../codec/integer.ts'
import { text as textCodec } from '../../codec/text.ts'
import { isUnavailable } from '../../connection/server-error.ts'
import { type Duration, LONGEST_DURATION_MS, milliseconds, spell } from '../../duration.ts'
import { SchemaError } from '../../errors.ts'
import { type Entry, openEntry } from '../../kind/entry.ts'
import { keyWriter, prefixed } from '../../kind/key-name.ts'
import { type Home, homeOf, Key } from '../../kind/key.ts'
import { type Description, type Kind, keySpec, type KeySpec } from '../../kind/kind.ts'
import type { ParamCodecs } from '../../param.ts'
import { requireSamePlaceholders } from '../../pattern.ts'
import { acknowledging, type ReplicatedOptions, replicationOf } from '../replicated.ts'
import { digits, int, serverNow, text } from '../../script/argument.ts'
import { integerReply, tupleReply } from '../../connection/reply.ts'
import { script } from '../../script/script.ts'
import { after } from '../../timer.ts'
import { TokenLease } from '../lease/token-lease.ts'
import { Waiting } from '../lease/waiting.ts'
import { Lease, type LockHome } from './lease.ts'
import { keepWhile } from './keep.ts'
import * as lua from './lua.gen.ts'

/** The options of a lock. */
export type LockOptions<P extends string, C extends ParamCodecs<P>, F> = Description<P, C> & {
  /** How long it is held at most, unless its holder extends it: a holder that dies keeps it no longer. */
  readonly ttl: Duration
} & (
    | {
        /**
         * The pattern of a second key, with the same placeholders and on a cluster in the same slot, that counts the
         * holders: then `lease.fence` rises with each. The server must not evict it.
         */
        readonly fence?: F
        /** Replicas acknowledge each lease before it is returned; `within` must be shorter than `ttl`. Needs `replicating` at `open`. */
        readonly replicated?: ReplicatedOptions
        readonly unreachable?: never
      }
    | {
        readonly fence?: never
        readonly replicated?: never
        /** While Redis cannot be reached the work is done without a lock. Without it the client's error passes through. */
        readonly unreachable: 'proceed'
      }
  )

/** An entry of locks: `keys.lock({ key }).acquire()`. */
export type LockEntry<P extends string, C, F> = Entry<P, C, LockKey<F extends string ? number : undefined>>

/** Another holder has the lock, for `retryAfterMs` at most. */
export interface NotAcquired {
  readonly acquired: false
  readonly retryAfterMs: number
}

/** The result of `using`. */
export type UseResult<T> = { readonly acquired: true; readonly value: T } | NotAcquired

/** How long to wait for a lock. */
export interface AcquireOptions {
  /** How long to wait if the lock is held. Defaults to no wait. */
  readonly wait?: Duration
}

const WEEK_MS = 604_800_000

/**
 * At most one holder at a time, each for `ttl` at most: `SET key token NX PX ttl`, given back only by the token that took it.
 *
 * A lock cannot stop a holder that sleeps through its lease (a process that was stopped, a long collection of garbage) from
 * writing when it wakes up, and it ends early where the server's clock steps forward. Where that matters, declare a `fence`
 * and let what is written to refuse a lower one than it has seen (M. Kleppmann, How to do distributed locking, 2016). With
 * replicas, a failover can lose a lock that was just taken; `replicated` makes that rarer.
 *
 * A caller that waits asks again in short pauses. If its keyspace has a `subscriber`, a message on the channel of the key's
 * name wakes it at once. Only holders whose keyspace has a subscriber too send that message: give one to all programs or to none.
 *
 * @example
 * const schema = { report: lock('report:<name>:lock', { ttl: '10s' }) }
 * const done = await keys.report({ name: 'sales' }).using((signal) => buildReport({ signal }), { wait: '5s' })
 * if (!done.acquired) return later(done.retryAfterMs)
 */
export function lock<
  const P extends string,
  const C extends ParamCodecs<P> = {},
  const F extends string | undefined = undefined,
>(pattern: P, options: LockOptions<P, C, F>): Kind<LockEntry<P, C, F>> {
  const { ttl, fence, unreachable, replicated, ...description } = options
  const spec = keySpec(pattern, 'string', textCodec, { evictable: false, ...description, ttl })
  const ttlMs = milliseconds(ttl)
  if (replicated !== undefined && milliseconds(replicated.within) >= ttlMs)
    throw new SchemaError(
      `"${pattern}": \`replicated\` waits up to ${replicated.within} for replicas, and the lock is over after ${ttl}: ` +
        'make `within` shorter than `ttl`',
    )
  const fenceTtlMs = Math.min(ttlMs + WEEK_MS, LONGEST_DURATION_MS)
  const fenceSpec = fence === undefined ? undefined : specOfFence(spec, fence, fenceTtlMs)
  return {
    keys: fenceSpec === undefined ? [spec] : [spec, fenceSpec],
    together: fenceSpec !== undefined,
    commands: [
      ...(fenceSpec === undefined ? acquire : acquireFenced).commands,
      'DEL',
      'PUBLISH',
      ...acknowledging(replicated),
    ],
    layout: 1,
    channels: [spec],
    open(opening) {
      const { connection, prefix, subscriber } = opening
      const home: KeyHome = {
        ...homeOf(spec, opening),
        ttlMs,
        fenceTtlMs,
        subscriber,
        lock: {
          connection,
          ttlMs,
          proceeds: unreachable === 'proceed',
          wakes: subscriber !== undefined,
          replication: replicationOf(opening, replicated),
        },
      }
      const fenceOf =
        fenceSpec === undefined ? undefined : keyWriter(prefixed(fenceSpec.pattern, prefix), fenceSpec.params)
      return openEntry(spec, opening, (name, params) => new LockKey(home, name, fenceOf?.(params)))
    },
  }
}

const ACQUIRE = {
  keys: ['key', 'fences*'],
  lua: lua.acquire,
  commands: ['GET', 'PEXPIRE', 'PTTL', 'SET'],
  reply: tupleReply(integerReply, integerReply),
} as const
const TAKEN = { token: text, ttlMs: digits, fenceTtlMs: int } as const
// A lock without a fence needs no clock, nor the permission to read it: its instant is always 0.
const acquire = script('lock/acquire', { ...ACQUIRE, args: { ...TAKEN, now: int } })
const acquireFenced = script('lock/acquire-fenced', { ...ACQUIRE, args: { ...TAKEN, now: serverNow } })

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

  /**
   * Takes the lock, or says how long its holder may keep it. Without Redis, as declared in `unreachable`. If no answer came
   * to the last try, it rejects and gives back what it may have taken.
   */
  async acquire({ wait }: AcquireOptions = {}): Promise<Lease<Fence> | NotAcquired> {
    const token = crypto.randomUUID()
    const waitMs = wait === undefined ? 0 : milliseconds(wait)
    const giveUpAt = performance.now() + waitMs
    let patience: Patience | undefined
    let unanswered = false
    try {
      for (;;) {
        const last = performance.now() >= giveUpAt
        const answer = await this.#ask(token, last)
        if (answer?.acquired === true) return answer
        unanswered = answer === undefined
        if (answer !== undefined && performance.now() >= giveUpAt) return answer
        patience ??= this.#patience(waitMs)
        await patience.waiting.pause([this.name])
      }
    } catch (error) {
      // A try without an answer may have taken it. This gives it back if Redis still answers; else it ends by itself.
      if (unanswered || isUnavailable(error)) void this.#giveBack(token)
      throw error
    } finally {
      patience?.end()
    }
  }

  /**
   * Acquires the lock, runs the work with the lock renewed as long as it takes, and releases it. The signal is aborted when
   * the lock is lost; then, or if it turns out at the end, `using` rejects with a `LeaseLostError` once the work has ended.
   * The work may release the lock itself, with `held.release()`: if that answers true, nothing was lost, and `using` returns
   * the value. What the work does after that, it does without the lock.
   */
  async using<T>(
    work: (signal: AbortSignal, lease: Lease<Fence>) => T | Promise<T>,
    options: AcquireOptions = {},
  ): Promise<UseResult<T>> {
    const lease = await this.acquire(options)
    if (!lease.acquired) return lease
    const value = await keepWhile(lease, work, { key: this.name, proceeds: this.home.lock.proceeds })
    return { acquired: true, value }
  }

  /** Asks once. `undefined`: there was no answer, so the same token is asked for again, unless it was the `last` time. */
  async #ask(token: string, last: boolean): Promise<Lease<Fence> | NotAcquired | undefined> {
    const { connection, lock } = this.home
    try {
      if (lock.replication === undefined) return await this.#take(token, connection)
      const { value, replicas } = await lock.replication.write(
        (over) => this.#take(token, over),
        ({ acquired }) => acquired,
      )
      return value.acquired ? value.acknowledged(replicas) : value
    } catch (error) {
      if (!isUnavailable(error)) throw error
      if (lock.proceeds) return this.#without(token)
      if (!last) return undefined
      throw error
    }
  }

  async #take(token: string, over: Connection): Promise<Lease<Fence> | NotAcquired> {
    const { ttlMs, fenceTtlMs, now } = this.home
    const held = new TokenLease(this.home.lock, this.name, token)
    const given = { token, ttlMs, fenceTtlMs }
    const fence = this.#fence
    const [acquired, told] = await held.acquire(
      () =>
        fence === undefined
          ? acquire.run(over, { key: this.name, fences: [] }, { ...given, now: 0 })
          : acquireFenced.run(over, { key: this.name, fences: [fence] }, { ...given, now: now?.() }),
      ([ours]) => ours === 1,
    )
    if (acquired !== 1) return { acquired: false, retryAfterMs: Math.max(1, told) }
    return this.#lease(held, fence === undefined ? undefined : told, true)
  }

  /** The lease of a caller that goes on without a lock. */
  #without(token: string): Lease<Fence> {
    return this.#lease(new TokenLease(this.home.lock, this.name, token), undefined, false)
  }

  #lease(held: TokenLease, fence: number | undefined, exclusive: boolean): Lease<Fence> {
    return new Lease(this.home.lock, held, { fence: fence as Fence, exclusive })
  }

  async #giveBack(token: string): Promise<void> {
    await this.#without(token)
      .giveBack()
      .catch(() => {})
  }

  #patience(waitMs: number): Patience {
    const over = new AbortController()
    const timer = after(waitMs, () => over.abort())
    const waiting = new Waiting(this.home.subscriber, over.signal)
    return {
      waiting,
      end() {
        timer.cancel()
        waiting.end()
      },
    }
  }
}

/** The pauses of one `acquire`, and the timer that ends them. */
interface Patience {
  readonly waiting: Waiting
  end(): void
}

function specOfFence(spec: KeySpec, fence: string, ttlMs: number): KeySpec {
  const about = `The fence of the newest holder of ${spec.pattern.text}`
  const { subject, params } = spec
  const made = keySpec(fence, 'string', integer, {
    ttl: spell(ttlMs),
    evictable: false,
    about,
    params,
    ...(subject === undefined ? {} : { subject }),
  })
  const relation = `"${fence}" is to count the holders of "${spec.pattern.text}"`
  requireSamePlaceholders(made.pattern, spec.pattern, relation)
  return made
}
