import type { CacheStats } from 'keyspec/recipes'

import type { Tutor } from '../keyspace.ts'

/** The caches of the system. */
export const caches = ['ocr', 'embedding', 'llm', 'abcr', 'web', 'youtube'] as const

/** What each cache has counted in this process. */
export function cacheStats(keys: Tutor): Record<(typeof caches)[number], CacheStats> {
  return Object.fromEntries(caches.map((name) => [name, keys[name].stats()])) as Record<
    (typeof caches)[number],
    CacheStats
  >
}
