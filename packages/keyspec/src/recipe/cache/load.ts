import type { Codec } from '../../codec/codec.ts'
import type { Subscriber } from '../../connection/connection.ts'
import { GET_BYTES } from '../../connection/reads.ts'
import { isUnavailable, ServerError } from '../../connection/server-error.ts'
import { EncodeError } from '../../errors.ts'
import { type Lifetime, ttlFor } from '../../kind/lifetime.ts'
import { readable } from '../../codec/readable.ts'
import { Lock, type LockHome } from './lock.ts'
import type { CacheStats } from './stats.ts'
import { Waiting } from './waiting.ts'

/** The values of an entry's placeholders. */
export type Params = Readonly<Record<string, unknown>>

/** What loads the values of several entries at once, each at the place of its entry; `undefined` is not kept. */
export type LoadAll<P, V> = (
  missing: readonly P[],
  signal: AbortSignal,
) => Promise<readonly (V | undefined)[]>

/** An entry that somebody asks for and that was not there. */
export interface Missing<P> {
  readonly name: string
  readonly params: P
}

/** What a load gave: the form it has in Redis, so that everybody reads a value of his own; `undefined` for none. */
export type Loaded = string | Uint8Array | undefined

/** What the loads of one cache share. */
export interface LoadsHome<T, In> extends LockHome {
  readonly codec: Codec<T, In>
  readonly lifetime: Lifetime
  readonly stats: { -readonly [N in keyof CacheStats]: CacheStats[N] }
  readonly lockNameOf: (params: Params) => string
  readonly subscriber: Subscriber | undefined
}

/** The loads that this process has under way: whoever asks for an entry that is being loaded shares the load. */
export class Loads<T, In> {
  readonly #home: LoadsHome<T, In>
  readonly #flights = new Map<string, Flight>()

  constructor(home: LoadsHome<T, In>) {
    this.#home = home
  }

  /** The loaded forms of these entries, in their order: those that are not under way yet are loaded together. */
  async ask<P extends Params>(
    missing: readonly Missing<P>[],
    load: LoadAll<P, In | undefined>,
    { signal, reachable }: { readonly signal: AbortSignal | undefined; readonly reachable: boolean },
  ): Promise<Loaded[]> {
    const fresh = new Map<string, Flight<P>>()
    const batch = new Batch(this.#home, fresh, load)
    const flights = missing.map(({ name, params }) => {
      const under = this.#flights.get(name)
      if (under !== undefined) {
        if (under.batch !== batch) this.#home.stats.waits += 1
        return under
      }
      const flight = new Flight(name, params, batch)
      fresh.set(name, flight)
      this.#flights.set(name, flight)
      // Nobody may be left to hear of a failure.
      flight.done.catch(() => {}).finally(() => this.#forget(flight))
      return flight
    })
    const batches = new Set(flights.map((flight) => flight.batch))
    for (const each of batches) each.askers += 1
    if (fresh.size > 0) void batch.run(reachable)

    const all = Promise.all(flights.map((flight) => flight.done))
    if (signal === undefined) return all
    return untilAborted(all, signal, () => {
      for (const each of batches) if (each.leave(signal.reason)) this.#abandon(each)
    })
  }

  /** Whoever asks from now on does not share the load of this entry that is under way. */
  forget(name: string): void {
    this.#flights.delete(name)
  }

  #abandon(batch: Flight['batch']): void {
    for (const flight of this.#flights.values()) if (flight.batch === batch) this.#flights.delete(flight.name)
  }

  #forget(flight: Flight): void {
    if (this.#flights.get(flight.name) === flight) this.#flights.delete(flight.name)
  }
}

/** One entry under way. */
class Flight<P extends Params = any> {
  readonly name: string
  readonly params: P
  readonly batch: Batch<P, any, any>
  readonly done: Promise<Loaded>
  resolve!: (loaded: Loaded) => void
  reject!: (error: unknown) => void
  /** What stood in the entry when the lock was taken: nothing, or what the codec could not read. */
  seen: Buffer | null = null
  lock: Lock | undefined

  constructor(name: string, params: P, batch: Batch<P, any, any>) {
    this.name = name
    this.params = params
    this.batch = batch
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }
}

/**
 * Entries that were asked for together. Each round takes the locks that are free and loads their entries in one call;
 * those that somebody else loads are waited for, and taken over should he fail or die.
 */
class Batch<P extends Params, T, In> {
  /** How many still wait for any of it. */
  askers = 0
  readonly #home: LoadsHome<T, In>
  readonly #pending: Map<string, Flight<P>>
  readonly #load: LoadAll<P, In | undefined>
  readonly #owner = crypto.randomUUID()
  readonly #abort = new AbortController()

  constructor(home: LoadsHome<T, In>, flights: Map<string, Flight<P>>, load: LoadAll<P, In | undefined>) {
    this.#home = home
    this.#pending = flights
    this.#load = load
  }

  /** One asker less. When none is left the load is abandoned, and its locks given back; answers whether it is. */
  leave(reason: unknown): boolean {
    this.askers -= 1
    if (this.askers === 0) this.#abort.abort(reason)
    return this.askers === 0
  }

  async run(reachable: boolean): Promise<void> {
    const { signal } = this.#abort
    const waiting = new Waiting(this.#home.subscriber, signal)
    try {
      if (!reachable) return await this.#loadAll([...this.#pending.values()])
      for (let heard = false; ;) {
        // Whoever gives a lock back has mostly written the entry. Where it cannot be read, the attempt says why.
        if (heard)
          await Promise.all(Array.from(this.#pending.values(), (each) => this.#read(each).catch(() => false)))
        const round = [...this.#pending.values()]
        const mine = await Promise.all(round.map((flight) => this.#attempt(flight)))
        const won = round.filter((_, index) => mine[index])
        if (won.length > 0) await this.#loadAll(won)
        if (this.#pending.size === 0) return
        if (!waiting.begun) this.#home.stats.waits += this.#pending.size
        heard = await waiting.pause(
          [...this.#pending.values()].map(({ params }) => this.#home.lockNameOf(params)),
        )
        signal.throwIfAborted()
      }
    } catch (error) {
      for (const flight of this.#pending.values()) this.#fail(flight, error)
    } finally {
      waiting.end()
    }
  }

  /**
   * Tries to become the one who loads an entry; answers whether it is for us to load. The entry is read again behind the
   * lock: whoever held it before has written it by then.
   */
  async #attempt(flight: Flight<P>): Promise<boolean> {
    const lock = new Lock(this.#home, this.#home.lockNameOf(flight.params), this.#owner)
    try {
      if (await lock.take()) flight.lock = lock
      return !(await this.#read(flight)) && flight.lock !== undefined
    } catch (error) {
      void lock.release() // also where it may have been taken, and only the answer was lost
      flight.lock = undefined
      if (cannotLock(error)) return true
      this.#fail(flight, error)
      return false
    }
  }

  /** Settles an entry that is there and can be read, and gives its lock back; answers whether it did. */
  async #read(flight: Flight<P>): Promise<boolean> {
    const { codec, connection } = this.#home
    const stored = (await connection.send(['GET', flight.name], GET_BYTES)) as Buffer | null
    flight.seen = stored
    if (stored === null || !isReadable(codec, stored)) return false
    this.#release(flight)
    this.#settle(flight, readable(codec, stored))
    return true
  }

  /** Loads entries in one call, and writes those whose lock we hold; what cannot be written is answered all the same. */
  async #loadAll(flights: readonly Flight<P>[]): Promise<void> {
    const { signal } = this.#abort
    const { stats, lockTtlMs } = this.#home
    const keeping = setInterval(() => {
      for (const { lock } of flights) lock?.renew().catch(() => {})
    }, lockTtlMs / 3)
    keeping.unref()
    try {
      stats.loads += flights.length
      for (const { lock } of flights) if (lock === undefined) stats.unreachable += 1
      const loading = this.#load(
        flights.map(({ params }) => params),
        signal,
      )
      const values = await untilAborted(loading, signal)
      if (values.length !== flights.length)
        throw new RangeError(
          `${flights.length} entries were to be loaded, but the load gave ${values.length} values`,
        )
      await Promise.all(flights.map((flight, index) => this.#store(flight, values[index])))
    } catch (error) {
      for (const flight of flights) {
        this.#release(flight)
        this.#fail(flight, error)
      }
    } finally {
      clearInterval(keeping)
    }
  }

  async #store(flight: Flight<P>, value: In | undefined): Promise<void> {
    const { codec, lifetime, stats } = this.#home
    const { name, lock, seen } = flight
    if (value === undefined) {
      this.#release(flight)
      return this.#settle(flight, undefined)
    }
    let encoded
    try {
      encoded = codec.encode(value)
    } catch (error) {
      this.#release(flight)
      return this.#fail(flight, new EncodeError(name, codec.name, error))
    }
    const stored = await lock?.store(name, encoded, seen, ttlFor(lifetime)).catch(() => this.#release(flight))
    if (stored !== true) stats.unwritten += 1
    this.#settle(flight, encoded)
  }

  /** Gives a lock back; nobody's answer waits for that. */
  #release(flight: Flight<P>): void {
    void flight.lock?.release()
    flight.lock = undefined
  }

  #settle(flight: Flight<P>, loaded: Loaded): void {
    this.#pending.delete(flight.name)
    flight.resolve(loaded)
  }

  #fail(flight: Flight<P>, error: unknown): void {
    this.#pending.delete(flight.name)
    flight.reject(error)
  }
}

/** Redis is out of reach, or has no room for a lock: neither keeps anybody from loading. */
function cannotLock(error: unknown): boolean {
  return isUnavailable(error) || (error instanceof ServerError && error.code === 'E_OUT_OF_MEMORY')
}

function isReadable(codec: Codec<any, any>, stored: Buffer): boolean {
  try {
    codec.decode(readable(codec, stored) as string & Buffer)
    return true
  } catch {
    return false
  }
}

/** A promise, or the signal's reason should that come first. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal, aborted?: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      reject(signal.reason as Error)
      aborted?.()
    }
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
}
