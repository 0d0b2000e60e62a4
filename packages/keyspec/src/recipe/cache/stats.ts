/** What a cache has counted since it was opened, in this process. */
export interface CacheStats {
  /** Reads that found the entry. */
  readonly hits: number
  /** The hits that were answered from this process's memory. */
  readonly nearHits: number
  /** Reads that found none, or one that could not be read. */
  readonly misses: number
  /** The misses whose entry the codec could not read. */
  readonly undecodable: number
  /** Entries that were loaded here. */
  readonly loads: number
  /** Misses that waited for a load which somebody else had begun, here or in another process. */
  readonly waits: number
  /** Loads whose value was answered but not kept: the lock had passed on, the entry was written, or Redis out of reach. */
  readonly unwritten: number
  /** Loads that were done without a lock, because Redis could not be reached or had no room. */
  readonly unreachable: number
}

/** Counters at zero. */
export function noStats(): { -readonly [N in keyof CacheStats]: CacheStats[N] } {
  return { hits: 0, nearHits: 0, misses: 0, undecodable: 0, loads: 0, waits: 0, unwritten: 0, unreachable: 0 }
}
