import type { Codec } from '../../codec/codec.ts'
import { GET_BYTES } from '../../connection/pipeline/reads.ts'
import { isUnavailable, ServerError } from '../../connection/server-error.ts'
import { EncodeError, LoadTimeoutError } from '../../errors.ts'
import { ttlFor } from '../../kind/lifetime.ts'
import { decodeStored, readable } from '../../codec/readable.ts'
import { callLoad } from './call-load.ts'
import type { Flight, LoadAll, Landing, LoadsHome, Params } from './flight.ts'
import { Lock } from './lock.ts'
import {
  failedElsewhere,
  type Failure,
  failureOf,
  type LoadOutcome,
  outcomeOf,
  outcomeText,
} from './outcome.ts'
import { Waiting } from '../lease/waiting.ts'
import { bytesReply, decodeReply, optionalReply } from '../../connection/reply.ts'

// How long the outcome of a load stands for those who wait for it, who ask every 50 ms at the latest.
const WAITING_MS = 250

const STORED = optionalReply(bytesReply)

/**
 * Entries that were asked for together. Each round takes the locks that are free and loads their entries in one call;
 * those that another process loads are waited for. If that load fails or gives nothing, this batch is told; if it takes
 * too long or its process dies, the entry is loaded here. See docs/design/cache-load.md.
 */
export class Batch<P extends Params, T, In> {
  /** How many still wait for any of it. */
  askers = 0
  readonly #home: LoadsHome<T, In>
  readonly #pending: Map<string, Flight<P>>
  readonly #load: LoadAll<P, In | undefined>
  readonly #owner = crypto.randomUUID()
  readonly #abort = new AbortController()
  /** The error of the load that took too long. */
  #expired: LoadTimeoutError | undefined

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
    const { subscriber, loadTimeoutMs, lock } = this.#home
    const waiting = new Waiting(subscriber, signal)
    // Another process's load, then one that took over from it, and a lock that outlives a process between the two.
    const longestMs = 2 * loadTimeoutMs + lock.ttlMs
    const begunAt = performance.now()
    let isOverdue = false
    try {
      if (!reachable) return await this.#loadAll([...this.#pending.values()])
      for (let heard = false; ;) {
        // A released lock mostly means that the entry was written. If it cannot be read, the attempt says why.
        if (heard)
          await Promise.all(Array.from(this.#pending.values(), (each) => this.#read(each).catch(() => false)))
        if (!isOverdue && performance.now() - begunAt > lock.ttlMs) {
          isOverdue = true
          await this.#limitLocks()
        }
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
        if (performance.now() - begunAt > longestMs) return this.#giveUp(longestMs)
      }
    } catch (error) {
      for (const flight of this.#pending.values()) this.#fail(flight, error)
    } finally {
      waiting.end()
    }
  }

  /** Gives the locks a time to live that another program left without: they would be held for ever. */
  async #limitLocks(): Promise<void> {
    const locks = Array.from(
      this.#pending.values(),
      ({ params }) => new Lock(this.#home.lock, this.#home.lockNameOf(params), this.#owner),
    )
    await Promise.all(locks.map((lock) => lock.limit()))
  }

  /**
   * Tries to become the one that loads an entry; returns whether this batch is to load it. The entry is read again behind
   * the lock: its former holder has written it by then.
   */
  async #attempt(flight: Flight<P>): Promise<boolean> {
    const lock = new Lock(this.#home.lock, this.#home.lockNameOf(flight.params), this.#owner)
    try {
      if (await lock.take()) {
        flight.lock = lock
        return !(await this.#read(flight))
      }
      const asOf = this.#moment()
      const [isThere, held] = await Promise.all([this.#read(flight), lock.look()])
      if (isThere || held === null) return false
      const outcome = outcomeOf(held)
      if (outcome === undefined) {
        flight.waitsFor = held
        return false
      }
      if (outcome.forAll || outcome.owner === flight.waitsFor) {
        this.#conclude(flight, outcome, asOf)
        return false
      }
      // Nothing was written between the read and this: the outcome would no longer be there.
      if (await lock.takeOver(held)) flight.lock = lock
      return flight.lock !== undefined
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
    const asOf = this.#moment()
    const reply = await connection.send(['GET', flight.name], GET_BYTES)
    const stored = decodeReply(STORED, reply, flight.name)
    flight.seen = stored
    if (stored === undefined || !isReadable(codec, stored)) return false
    this.#release(flight)
    this.#settle(flight, { loaded: readable(codec, stored), asOf })
    return true
  }

  /** Loads entries in one call, and writes those whose lock we hold; what cannot be written is answered all the same. */
  async #loadAll(flights: readonly Flight<P>[]): Promise<void> {
    const { stats } = this.#home
    for (const { lock } of flights) lock?.keep()
    try {
      stats.loads += flights.length
      for (const { lock } of flights) if (lock === undefined) stats.unreachable += 1
      const asOf = this.#moment()
      const values = await callLoad(this.#load, flights, {
        signal: this.#abort.signal,
        timeoutMs: this.#home.loadTimeoutMs,
        expired: () => (this.#expired = this.#tooLong(flights[0]!)),
      })
      await Promise.all(flights.map((flight, index) => this.#store(flight, values[index], asOf)))
    } catch (error) {
      // A load that took too long, or that nobody waits for any more, is no outcome: another process may load.
      const isExpired = this.#expired !== undefined && error === this.#expired
      const isOutcome = !isExpired && !this.#abort.signal.aborted
      for (const flight of flights) {
        if (isOutcome) this.#tell(flight, failureOf(error))
        else this.#release(flight)
        this.#fail(flight, isExpired ? this.#tooLong(flight) : error)
      }
    }
  }

  /** Writes a value that was loaded from the moment `loadedFrom` on, and answers with it. */
  async #store(flight: Flight<P>, value: In | undefined, loadedFrom: number): Promise<void> {
    const { codec, lifetime, stats } = this.#home
    const { name, lock, seen } = flight
    if (value === undefined) {
      this.#tell(flight, undefined)
      // Later callers ask Redis whether the outcome stands, since a delete would have ended it.
      flight.waitsFor = this.#owner
      return this.#settle(flight, { loaded: undefined, asOf: loadedFrom })
    }
    let encoded
    try {
      encoded = codec.encode(value)
    } catch (error) {
      const refused = new EncodeError(name, codec.name, error, value)
      this.#tell(flight, failureOf(refused))
      return this.#fail(flight, refused)
    }
    const writtenFrom = this.#moment()
    let stored: boolean | undefined
    try {
      stored = await lock?.store(name, encoded, seen, ttlFor(lifetime))
    } catch (error) {
      // Nothing would ever be kept, and every load wait for the lock of the last one to expire.
      if (error instanceof ServerError && error.code === 'E_DENIED') return this.#fail(flight, error)
      this.#release(flight)
    }
    if (stored !== true) stats.unwritten += 1
    this.#settle(flight, { loaded: encoded, asOf: stored === true ? writtenFrom : loadedFrom })
  }

  /** Gives a lock back; nobody's answer waits for that. */
  #release(flight: Flight<P>): void {
    void flight.lock?.release()
    flight.lock = undefined
  }

  /** Gives a lock back, and tells other processes in its place that the load failed, or gave nothing. */
  #tell(flight: Flight<P>, failure: Failure | undefined): void {
    const { failureTtlMs, absenceTtlMs } = this.#home
    const ttlMs = failure === undefined ? absenceTtlMs : failureTtlMs
    const outcome = outcomeText({ owner: this.#owner, forAll: ttlMs !== undefined, failure })
    void flight.lock?.conclude(outcome, ttlMs ?? WAITING_MS)
    flight.lock = undefined
  }

  /** Ends an entry as the load in another process ended. */
  #conclude(flight: Flight<P>, { failure }: LoadOutcome, asOf: number): void {
    if (failure === undefined) this.#settle(flight, { loaded: undefined, asOf })
    else this.#fail(flight, failedElsewhere(flight.name, failure))
  }

  #giveUp(waitedMs: number): void {
    for (const flight of this.#pending.values()) {
      const message = `${flight.name}: loads in other processes gave nothing within ${waitedMs} ms`
      this.#fail(flight, new LoadTimeoutError(message, flight.name))
    }
  }

  #tooLong({ name }: Flight<P>): LoadTimeoutError {
    return new LoadTimeoutError(
      `${name}: the load took longer than ${this.#home.loadTimeoutMs} ms, and was abandoned: let it end when its signal is aborted, or declare a longer loadTimeout`,
      name,
    )
  }

  #moment(): number {
    return (this.#home.moments.latest += 1)
  }

  #settle(flight: Flight<P>, landing: Landing): void {
    this.#pending.delete(flight.name)
    flight.resolve(landing)
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
    decodeStored(codec, readable(codec, stored))
    return true
  } catch {
    return false
  }
}
