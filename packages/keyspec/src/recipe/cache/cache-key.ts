import { ONE_KEY, type Reply } from '../../connection/connection.ts'
import { readable } from '../../codec/readable.ts'
import { decodeReply, integerReply, optionalReply, storedReply } from '../../connection/reply.ts'
import { GET, GET_BYTES } from '../../connection/pipeline/reads.ts'
import { isUnavailable } from '../../connection/server-error.ts'
import { DecodeError } from '../../errors.ts'
import { type StringHome, StringKey } from '../../kind/string.ts'
import type { Loaded, LoadsHome } from './flight.ts'
import { freeze } from './freeze.ts'
import type { Loads } from './load.ts'
import type { Near, Reading } from './near.ts'
import { untilAborted } from './until-aborted.ts'

/** What the keys of one cache share. */
export interface CacheHome<T, In> extends StringHome<T, In>, Omit<LoadsHome<T, In>, keyof StringHome<T, In>> {
  readonly loads: Loads<T, In>
  readonly near: Near<T> | undefined
  /** Whether values that all may share are frozen. */
  readonly freezes: boolean
}

const STORED = optionalReply(storedReply)

/**
 * Computes a missing value; `undefined` is not kept. The signal is aborted when nobody waits any more, and when the load
 * has taken as long as `loadTimeout`.
 */
export type Load<V> = (signal: AbortSignal) => V | Promise<V>

/** How one asks for what may have to be loaded. */
export interface LoadOptions {
  /** Ends the waiting, with the signal's reason. The load goes on for others who wait for it, else its own signal is aborted. */
  readonly signal?: AbortSignal
}

/** A key that holds a value which can be computed again. */
export class CacheKey<T, In = T> extends StringKey<T, In> {
  declare protected readonly home: CacheHome<T, In>
  /** @internal The values of its placeholders, as they were given. */
  readonly params: Readonly<Record<string, unknown>>

  constructor(home: CacheHome<T, In>, name: string, params: Readonly<Record<string, unknown>>) {
    super(home, name)
    this.params = params
  }

  /** The value, or `undefined` where there is none, or none that the codec can read. */
  override get(): Promise<T | undefined> {
    return this.copy() ?? this.#read()
  }

  async #read(): Promise<T | undefined> {
    const { stats, near } = this.home
    const reading = near?.begin(this.name)
    try {
      const value = await (reading === undefined ? super.get() : this.#readNear(near!, reading))
      if (reading === undefined) this.#freeze(value)
      if (value === undefined) stats.misses += 1
      else stats.hits += 1
      return value
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      stats.misses += 1
      stats.undecodable += 1
      return undefined
    }
  }

  /** Reads the value, and in the same round trip for how long it will be there, so that a copy ends with it. */
  async #readNear(near: Near<T>, reading: Reading): Promise<T | undefined> {
    const { codec } = this.home
    let isUnchanged = false
    let found: readonly [ttlMs: Reply, reply: Reply]
    try {
      // The time goes first: behind the value, it would keep that from being read together with its neighbours.
      const ttlMs = this.send(['PTTL', this.name], ONE_KEY).catch(() => GONE)
      found = await Promise.all([ttlMs, this.send(['GET', this.name], codec.bytes ? GET_BYTES : GET)])
    } finally {
      isUnchanged = near.end(reading)
    }
    const ttlMs = decodeReply(integerReply, found[0], this.name)
    const stored = decodeReply(STORED, found[1], this.name)
    if (stored === undefined) return undefined
    const value = this.decode(codec, stored)
    const isEverybodys = freeze(value)
    if (isUnchanged && ttlMs !== GONE)
      near.keep(
        reading,
        isEverybodys
          ? { everybodys: Promise.resolve(value), stored: undefined }
          : { everybodys: undefined, stored: readable(codec, stored) },
        ttlMs === FOREVER ? 'forever' : ttlMs,
      )
    return value
  }

  /**
   * Returns the value; where there is none, what `load` gives, which is kept unless it is `undefined`. All who ask meanwhile
   * wait for that one load, here and in other processes, and get its value, its `undefined` or its failure: in this process
   * the error itself, in others a `LoadFailedError` with the name and the code of it.
   *
   * A call never gets what was deleted before it began: if `delete` overtakes a load, calls that began later load again.
   *
   * @throws {LoadTimeoutError} The load took longer than `loadTimeout`.
   * @throws {LoadFailedError} The load failed in another process.
   */
  getOrLoad(load: Load<In>, options?: LoadOptions): Promise<T>
  getOrLoad(load: Load<In | undefined>, options?: LoadOptions): Promise<T | undefined>
  getOrLoad(load: Load<In | undefined>, options?: LoadOptions): Promise<T | undefined> {
    const signal = options?.signal
    return (signal?.aborted === true ? undefined : this.copy()) ?? this.#getOrLoad(load, signal)
  }

  async #getOrLoad(load: Load<In | undefined>, signal: AbortSignal | undefined): Promise<T | undefined> {
    signal?.throwIfAborted()
    const began = this.home.moments.latest
    const found = await (signal === undefined ? this.find() : untilAborted(this.find(), signal))
    if (found !== undefined && found !== UNREACHABLE) return found
    const [loaded] = await this.home.loads.ask([this], async (_, signal) => [await load(signal)], {
      signal,
      reachable: found !== UNREACHABLE,
      began,
    })
    return this.valueLoaded(loaded)
  }

  /**
   * Deletes the entry; answers whether it existed. A load that is under way is still answered to those who already wait for
   * it, but no longer kept. Calls that begin later, in any process, do not get its value.
   */
  override delete(): Promise<boolean> {
    return this.#endingLoads(() => super.delete())
  }

  /** Deletes the entry and answers the value it held, as a string does. It ends loads that are under way, as `delete` does. */
  override getAndDelete(): Promise<T | undefined> {
    return this.#endingLoads(() => super.getAndDelete())
  }

  /** Deletes by `deleting` after the lock, so that no load that began before can be kept. */
  async #endingLoads<R>(deleting: () => Promise<R>): Promise<R> {
    const { connection, loads, lockNameOf } = this.home
    loads.forget(this.name)
    try {
      const unlocking = connection.send(['UNLINK', lockNameOf(this.params)], ONE_KEY)
      // On a cluster a redirection could let the second command overtake the first.
      if (connection.cluster) await unlocking
      const [, deleted] = await Promise.all([unlocking, deleting()])
      return deleted
    } finally {
      // A load that began meanwhile may have read the entry that was there.
      loads.forget(this.name)
    }
  }

  /** @internal The value where there is one, or that Redis could not be asked. */
  find(): Promise<T | undefined | typeof UNREACHABLE> {
    return (
      this.copy() ??
      this.#read().catch((error: unknown) => {
        if (!isUnavailable(error)) throw error
        this.home.stats.misses += 1
        return UNREACHABLE
      })
    )
  }

  /** @internal The value of what was loaded: everybody who waited gets his own, as if he had read it. */
  valueLoaded(loaded: Loaded): T | undefined {
    if (loaded === undefined) return undefined
    const { codec } = this.home
    return this.#freeze(this.decode(codec, readable(codec, loaded)))
  }

  /** What is kept near, without asking anybody. */
  protected copy(): Promise<T> | undefined {
    const { near, stats } = this.home
    const copy = near?.find(this.name)
    if (copy === undefined) return undefined
    stats.hits += 1
    stats.nearHits += 1
    return copy.everybodys ?? this.#own(copy.stored!)
  }

  async #own(stored: string | Uint8Array): Promise<T> {
    const { codec } = this.home
    return this.decode(codec, readable(codec, stored))
  }

  /** A value of an entry that keeps copies is frozen wherever it comes from: whoever changes one learns it the first time. */
  #freeze<V extends T | undefined>(value: V): V {
    if (this.home.freezes) freeze(value)
    return value
  }
}

// What PTTL answers where there is no key, and where it has no time to live.
const GONE = -2
const FOREVER = -1

/** Says that Redis could not be asked. */
export const UNREACHABLE = Symbol('Redis could not be reached')
