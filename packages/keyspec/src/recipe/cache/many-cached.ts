import type { Connection } from '../../connection/connection.ts'
import { ManyStrings } from '../../kind/string.ts'
import { type CacheHome, type CacheKey, type LoadOptions, UNREACHABLE } from './cache-key.ts'
import type { LoadAll, Params } from './flight.ts'
import { untilAborted } from './until-aborted.ts'

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
