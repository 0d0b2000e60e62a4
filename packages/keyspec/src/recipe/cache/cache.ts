import type { Codec } from '../../codec/codec.ts'
import { text } from '../../codec/text.ts'
import { type Connection, ONE_KEY, type Reply } from '../../connection/connection.ts'
import { GET, GET_BYTES } from '../../connection/reads.ts'
import { isUnavailable } from '../../connection/server-error.ts'
import type { Duration } from '../../duration.ts'
import { DecodeError, SchemaError } from '../../errors.ts'
import { type Entry, keyWriter, openEntry, prefixed } from '../../kind/entry.ts'
import { homeOf } from '../../kind/key.ts'
import { type EntryOptions, type Kind, type KeySpec, keySpec, type Opening } from '../../kind/kind.ts'
import { ManyStrings, type StringHome, stringHome, StringKey } from '../../kind/string.ts'
import type { ParamCodecs, ParamValues } from '../../param.ts'
import { readable } from '../../codec/readable.ts'
import { freeze } from './freeze.ts'
import { type LoadAll, type Loaded, Loads, type LoadsHome, type Params } from './load.ts'
import { dropping, Near, type Reading } from './near.ts'
import { type CacheStats, noStats } from './stats.ts'

/** An entry of caches: `keys.ocr({ content })` is a `CacheKey`, `keys.ocr.stats()` what it has counted. */
export type CacheEntry<P extends string, C, T, In> = Entry<
  P,
  C,
  CacheKey<T, In>,
  ManyCached<ParamValues<P, C>, T, In>
> & {
  /** What has been counted since the keyspace was opened, in this process. */
  stats(): CacheStats
}

/** What a cache may declare beside its lifetime. */
export interface CacheOptions {
  /** The pattern of the key that says who loads an entry, with the same placeholders; `lock:` and the pattern unless said. */
  readonly lock?: string
  /**
   * How long a lock outlives a loader that has died; 10 s unless said. It is renewed while the load runs, so a load may
   * take longer, but a process that stands still for longer loses it, and what it loaded is not kept.
   */
  readonly lockTtl?: Duration
  /**
   * Keeps copies in this process's memory, of `most` entries at most, where the keyspace is opened with `invalidations`; else
   * Redis is read each time. Redis tells which entries change, so a copy is older than Redis by one message at most; where
   * the connection dies without a word, by 3 s. Values are frozen where that keeps everybody from changing them (what
   * JSON can hold), as all share one; others are decoded for each read.
   */
  readonly near?: { readonly most: number }
}

/**
 * Values that can be computed again: whoever asks for one that is missing waits for one load, however many ask in however
 * many processes. While Redis cannot be reached `getOrLoad` loads; its other verbs reject with the client's error.
 *
 * @example
 * ocr: cache('cache:ocr:<content>', json(Ocr), { ttl: '7d', params: { content: digest() } })
 * const page = await keys.ocr({ content: file }).getOrLoad(() => recognise(file))
 */
export function cache<const P extends string, T, In, const C extends ParamCodecs<P> = {}>(
  pattern: P,
  codec: Codec<T, In>,
  options: EntryOptions<P, C> & CacheOptions,
): Kind<CacheEntry<P, C, T, In>> {
  const spec = keySpec(pattern, 'string', codec, options)
  const lock = lockSpec(spec, options)
  checkNear(spec, options)
  return {
    keys: [spec, lock],
    together: false,
    open(given) {
      const stats = noStats()
      const near = nearOf<T>(spec, options, given)
      const opening = near === undefined ? given : { ...given, connection: dropping(given.connection, near) }
      const shared = {
        ...stringHome(homeOf(spec, opening), codec),
        stats,
        subscriber: opening.subscriber,
        wakes: opening.subscriber !== undefined,
        lockTtlMs: lock.lifetime.ttlMs as number,
        lockNameOf: keyWriter(prefixed(lock.pattern, opening.prefix), lock.params),
      }
      const freezes = options.near !== undefined
      const home: CacheHome<T, In> = { ...shared, loads: new Loads(shared), near, freezes }
      const entry = openEntry<P, C, CacheKey<T, In>, ManyCached<ParamValues<P, C>, T, In>>(
        spec,
        opening,
        (name, params) => new CacheKey(home, name, params),
        (keys, connection) => new ManyCached(keys, connection, home),
      )
      return Object.assign(entry, { stats: () => ({ ...stats }) })
    },
  }
}

function lockSpec(spec: KeySpec, { lock, lockTtl = '10s' }: CacheOptions): KeySpec {
  const { pattern, params, subject } = spec
  const found = keySpec(lock ?? `lock:${pattern.text}`, 'string', text, {
    ttl: lockTtl,
    params,
    about: `Held by whoever loads "${pattern.text}"`,
    ...(subject === undefined ? {} : { subject }),
  })
  if ([...found.pattern.params].sort().join() !== [...pattern.params].sort().join())
    throw new SchemaError(`"${pattern.text}" is locked by "${lock}": both need the same placeholders`)
  return found
}

function checkNear({ pattern, lifetime }: KeySpec, { near }: CacheOptions): void {
  if (near === undefined) return
  if (!Number.isSafeInteger(near.most) || near.most < 1)
    throw new SchemaError(`"${pattern.text}": near.most is how many copies are kept at most, 1 or more`)
  if (lifetime.ttlMs !== 'forever' && lifetime.renew === 'read')
    throw new SchemaError(
      `"${pattern.text}" is renewed by reads, which copies near would keep from Redis: leave out one of the two`,
    )
}

/** The copies of this cache, where it declares any and somebody tells of changes. */
function nearOf<T>({ pattern }: KeySpec, { near }: CacheOptions, opening: Opening): Near<T> | undefined {
  const { watch, prefix } = opening
  if (near === undefined || watch === undefined) return undefined
  const [first] = prefixed(pattern, prefix).parts
  if (first === undefined || !('literal' in first))
    throw new SchemaError(
      `"${pattern.text}" begins with a placeholder, so Redis would have to tell of every key that changes: ` +
        'give it a text to begin with, or leave out near',
    )
  const copies = new Near<T>(watch, near.most)
  watch.follow(first.literal, copies)
  return copies
}

interface CacheHome<T, In> extends StringHome<T, In>, Omit<LoadsHome<T, In>, keyof StringHome<T, In>> {
  readonly loads: Loads<T, In>
  readonly near: Near<T> | undefined
  /** Whether values that all may share are frozen. */
  readonly freezes: boolean
}

/** What computes a missing value; `undefined`: it is not kept. The signal is aborted when nobody waits any more. */
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
    let found: readonly [ttlMs: Reply, stored: Reply]
    try {
      // The time goes first: behind the value, it would keep that from being read together with its neighbours.
      const ttlMs = this.send(['PTTL', this.name], ONE_KEY).catch(() => GONE)
      found = await Promise.all([ttlMs, this.send(['GET', this.name], codec.bytes ? GET_BYTES : GET)])
    } finally {
      isUnchanged = near.end(reading)
    }
    const [ttlMs, stored] = found
    if (stored === null) return undefined
    const value = this.decode(codec, stored)
    const isEverybodys = freeze(value)
    if (isUnchanged && ttlMs !== GONE)
      near.keep(
        reading,
        isEverybodys
          ? { everybodys: Promise.resolve(value), stored: undefined }
          : { everybodys: undefined, stored: readable(codec, stored as string | Buffer) },
        ttlMs === FOREVER ? 'forever' : (ttlMs as number),
      )
    return value
  }

  /**
   * The value; where there is none, what `load` gives, which is kept unless it is `undefined`. All who ask meanwhile wait
   * for that one load, here and in other processes. If it fails, those who ask here get its error, and others load
   * themselves. `load` is given a signal that is aborted when nobody waits any more.
   */
  getOrLoad(load: Load<In>, options?: LoadOptions): Promise<T>
  getOrLoad(load: Load<In | undefined>, options?: LoadOptions): Promise<T | undefined>
  getOrLoad(load: Load<In | undefined>, options?: LoadOptions): Promise<T | undefined> {
    const signal = options?.signal
    return (signal?.aborted === true ? undefined : this.copy()) ?? this.#getOrLoad(load, signal)
  }

  async #getOrLoad(load: Load<In | undefined>, signal: AbortSignal | undefined): Promise<T | undefined> {
    signal?.throwIfAborted()
    const found = await this.find()
    if (found !== undefined && found !== UNREACHABLE) return found
    const [loaded] = await this.home.loads.ask([this], async (_, signal) => [await load(signal)], {
      signal,
      reachable: found !== UNREACHABLE,
    })
    return this.valueLoaded(loaded)
  }

  /**
   * Deletes the entry; answers whether it existed. A load that is under way is still answered to those who wait for it,
   * but no longer kept.
   */
  override async delete(): Promise<boolean> {
    const { connection, loads, lockNameOf } = this.home
    loads.forget(this.name)
    // First the lock, so that no loader can write behind our back; on a cluster that is another node.
    const unlocking = connection.send(['UNLINK', lockNameOf(this.params)], ONE_KEY)
    if (connection.cluster) await unlocking
    const [, existed] = await Promise.all([unlocking, super.delete()])
    return existed
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

const UNREACHABLE = Symbol('Redis could not be reached')

/** Many entries of a cache at once. */
export class ManyCached<P, T, In = T> extends ManyStrings<T, In> {
  declare protected readonly keys: readonly CacheKey<T, In>[]
  readonly #home: CacheHome<T, In>

  constructor(keys: readonly CacheKey<T, In>[], connection: Connection, home: CacheHome<T, In>) {
    super(keys, connection)
    this.#home = home
  }

  /**
   * Their values in the order asked, looked up together. Those that are missing are loaded by one call of `loadAll`,
   * which gives a value for each in its order (`undefined`: not kept), and written together. What another process is
   * loading is waited for, and loaded by a second call should it fail there.
   */
  async getOrLoad(loadAll: LoadAll<P, In>, options?: LoadOptions): Promise<T[]>
  async getOrLoad(loadAll: LoadAll<P, In | undefined>, options?: LoadOptions): Promise<(T | undefined)[]>
  async getOrLoad(
    loadAll: LoadAll<P, In | undefined>,
    { signal }: LoadOptions = {},
  ): Promise<(T | undefined)[]> {
    signal?.throwIfAborted()
    const found = await Promise.all(this.keys.map((key) => key.find()))
    const reachable = !found.includes(UNREACHABLE)
    const missing = this.keys.filter((_, index) => found[index] === undefined || found[index] === UNREACHABLE)
    if (missing.length === 0) return found as T[]
    const load: LoadAll<Params, In | undefined> = (params, signal) => loadAll(params as readonly P[], signal)
    const loaded = await this.#home.loads.ask(missing, load, { signal, reachable })
    let next = 0
    return found.map((value) => {
      if (value !== undefined && value !== UNREACHABLE) return value
      const key = missing[next]!
      return key.valueLoaded(loaded[next++])
    })
  }

  override get(): Promise<(T | undefined)[]> {
    return Promise.all(this.keys.map((key) => key.get()))
  }

  /** Deletes them, as `CacheKey.delete` does; answers how many there were. */
  override async delete(): Promise<number> {
    const existed = await Promise.all(this.keys.map((key) => key.delete()))
    return existed.filter(Boolean).length
  }
}
