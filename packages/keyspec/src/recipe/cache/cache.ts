import type { Codec } from '../../codec/codec.ts'
import { text } from '../../codec/text.ts'
import { type Connection, ONE_KEY, type Reply } from '../../connection/connection.ts'
import { decodeReply, integerReply, optionalReply, storedReply } from '../../connection/reply.ts'
import { GET, GET_BYTES } from '../../connection/pipeline/reads.ts'
import { isUnavailable } from '../../connection/server-error.ts'
import { type Duration, milliseconds } from '../../duration.ts'
import { DecodeError, SchemaError } from '../../errors.ts'
import { type Entry, keyWriter, openEntry, prefixed, wholePattern } from '../../kind/entry.ts'
import { homeOf } from '../../kind/key.ts'
import { type EntryOptions, type Kind, type KeySpec, keySpec, type Opening } from '../../kind/kind.ts'
import { VERBS } from '../../kind/permission.ts'
import { ManyStrings, type StringHome, stringHome, StringKey } from '../../kind/string.ts'
import type { ParamCodecs, ParamValues } from '../../param.ts'
import { type Pattern, pattern as parsePattern, requireSamePlaceholders } from '../../pattern.ts'
import { readable } from '../../codec/readable.ts'
import { freeze } from './freeze.ts'
import type { LoadAll, Loaded, LoadsHome, Params } from './flight.ts'
import { Loads } from './load.ts'
import { dropping, Near, type Reading } from './near.ts'
import { type CacheStats, noStats } from './stats.ts'
import { untilAborted } from './until-aborted.ts'

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
  /**
   * The pattern of the key that says which process loads an entry, with the same placeholders. On a cluster it must share the
   * slot of the entry, else a load could write what was deleted before.
   *
   * @default `lock:` and the pattern of the entry. On a cluster, if neither this pattern nor the prefix has a {hash tag}, the
   * whole name of the entry is the tag: `lock:{page:<id>}`, under the prefix `app:` `app:lock:{app:page:<id>}`. Placeholders
   * then take no braces
   */
  readonly lock?: string
  /**
   * How long a lock outlives a loader that has died; 10 s unless said. It is renewed while the load runs, so a load may
   * take longer, but a process that stands still for longer loses it, and what it loaded is not kept.
   */
  readonly lockTtl?: Duration
  /**
   * How long one load may take. A load that takes longer is abandoned: those who wait for it in this process get a
   * `LoadTimeoutError`, its signal is aborted, its lock is given back so that another process may load, and a value that it
   * gives later is dropped. A caller that waits for loads of other processes is rejected in the same way after twice this
   * time and `lockTtl`.
   *
   * @default '1m'
   */
  readonly loadTimeout?: Duration
  /**
   * How long the failure of a load is shared with all who ask, in every process, at most `lockTtl`. They are rejected with a
   * `LoadFailedError` and do not load. Only the name and the code of the error reach other processes, never its message.
   *
   * @default none: only those who waited for that load are told of it, the next caller loads
   */
  readonly failureTtl?: Duration
  /**
   * How long it is shared with all who ask that a load gave `undefined` (negative caching), at most `lockTtl`. `delete` ends
   * it, and so does a write of the entry.
   *
   * @default none: only those who waited for that load are told of it, the next caller loads
   */
  readonly absenceTtl?: Duration
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
 * ocr: cache('cache:ocr:<content>', json(Ocr), { ttl: '7d', params: { content: param.digest() } })
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
  const loadTimeoutMs = milliseconds(options.loadTimeout ?? '1m')
  const failureTtlMs = sharedFor('failureTtl', options, lock)
  const absenceTtlMs = sharedFor('absenceTtl', options, lock)
  return {
    keys: [spec, lock],
    together: true,
    layout: 2,
    commands: [...VERBS.string, 'DEL', 'PUBLISH'],
    channels: [lock],
    open(given) {
      const stats = noStats()
      const near = nearOf<T>(spec, options, given)
      const opening = near === undefined ? given : { ...given, connection: dropping(given.connection, near) }
      const lockPattern = wholePattern(lock, opening.prefix, opening.connection.cluster)
      const lockNameOf = keyWriter(lockPattern, lock.params)
      // Of a name that is a hash tag as a whole: braces in it would put the lock into another slot.
      const isTag =
        lockPattern.hashTag !== undefined && prefixed(spec.pattern, opening.prefix).hashTag === undefined
      const shared = {
        ...stringHome(homeOf(spec, opening), codec),
        stats,
        moments: { latest: 0 },
        subscriber: opening.subscriber,
        wakes: opening.subscriber !== undefined,
        lockTtlMs: lock.lifetime.ttlMs as number,
        loadTimeoutMs,
        failureTtlMs,
        absenceTtlMs,
        lockNameOf,
      }
      const freezes = options.near !== undefined
      const home: CacheHome<T, In> = { ...shared, loads: new Loads(shared), near, freezes }
      const entry = openEntry<P, C, CacheKey<T, In>, ManyCached<ParamValues<P, C>, T, In>>(
        spec,
        opening,
        (name, params) => {
          if (isTag && BRACE.test(name)) lockNameOf(params)
          return new CacheKey(home, name, params)
        },
        (keys, connection) => new ManyCached(keys, connection, home),
      )
      return Object.assign(entry, { stats: () => ({ ...stats }) })
    },
  }
}

const STORED = optionalReply(storedReply)

const BRACE = /[{}]/

function lockSpec(spec: KeySpec, { lock, lockTtl = '10s' }: CacheOptions): KeySpec {
  const { pattern, params, subject, renamedFrom, phase } = spec
  const found = keySpec(lock ?? `lock:${pattern.text}`, 'string', text, {
    ttl: lockTtl,
    params,
    about: `Held by whoever loads "${pattern.text}"`,
    ...(subject === undefined ? {} : { subject }),
    // Under its usual name the lock is renamed with the entry, or programs of two phases would load side by side.
    ...(lock === undefined && phase !== undefined
      ? { renamedFrom: { pattern: renamedFrom.map((old) => `lock:${old.text}`), phase } }
      : {}),
  })
  requireSamePlaceholders(found.pattern, pattern, `"${pattern.text}" is locked by "${lock}"`)
  return lock === undefined
    ? { ...found, onCluster: (before) => besideOnCluster(spec, found, before) }
    : found
}

/** The pattern of a lock in the slot of its entry: with the entry's whole name as its hash tag, unless both have one. */
function besideOnCluster(entry: KeySpec, lock: KeySpec, before: string): Pattern {
  const { hashTag, text } = prefixed(entry.pattern, before)
  return hashTag === undefined ? parsePattern(`${before}lock:{${text}}`) : prefixed(lock.pattern, before)
}

/** How long an outcome is shared: no longer than the lock's key lives, in which it is kept. */
function sharedFor(
  name: 'failureTtl' | 'absenceTtl',
  options: CacheOptions,
  { pattern, lifetime }: KeySpec,
): number | undefined {
  const declared = options[name]
  if (declared === undefined) return undefined
  const ms = milliseconds(declared)
  if (ms > (lifetime.ttlMs as number))
    throw new SchemaError(
      `"${pattern.text}": ${name} is ${declared}, but lives in the key of the lock: declare a lockTtl that is as long`,
    )
  return ms
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

/** The copies of this cache, where it declares any and somebody tells of changes; none until its rename is at phase 3. */
function nearOf<T>(
  { pattern, phase }: KeySpec,
  { near }: CacheOptions,
  opening: Opening,
): Near<T> | undefined {
  const { watch, prefix } = opening
  if (near === undefined || watch === undefined || phase === 1 || phase === 2) return undefined
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
   * loading is waited for. If that process dies or its load takes too long, a second call loads it here.
   */
  async getOrLoad(loadAll: LoadAll<P, In>, options?: LoadOptions): Promise<T[]>
  async getOrLoad(loadAll: LoadAll<P, In | undefined>, options?: LoadOptions): Promise<(T | undefined)[]>
  async getOrLoad(
    loadAll: LoadAll<P, In | undefined>,
    { signal }: LoadOptions = {},
  ): Promise<(T | undefined)[]> {
    signal?.throwIfAborted()
    const began = this.#home.moments.latest
    const finding = Promise.all(this.keys.map((key) => key.find()))
    const found = await (signal === undefined ? finding : untilAborted(finding, signal))
    const reachable = !found.includes(UNREACHABLE)
    const missing = this.keys.filter((_, index) => found[index] === undefined || found[index] === UNREACHABLE)
    if (missing.length === 0) return found as T[]
    const load: LoadAll<Params, In | undefined> = (params, signal) => loadAll(params as readonly P[], signal)
    const loaded = await this.#home.loads.ask(missing, load, { signal, reachable, began })
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
