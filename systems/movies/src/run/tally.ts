import type { CacheStats } from 'keyspec/recipes'

import type { Log } from '../log.ts'
import type { Movies } from '../schema.ts'

/** A log that counts what requests say of their hits and misses, and passes on the warnings. */
export function tally(warn: Log['warn']): { readonly log: Log; rows(keys: Movies): string[][] } {
  const counted = { qu: [0, 0], embedding: [0, 0], movie: [0, 0] }
  const count = (of: keyof typeof counted, hits: number, misses: number) => {
    counted[of][0]! += hits
    counted[of][1]! += misses
  }
  const add = ({ qu, embeddingHits, embeddingMisses, movie }: Trace) => {
    if (qu !== undefined) count('qu', Number(qu === 'hit'), Number(qu === 'miss'))
    count('embedding', embeddingHits ?? 0, embeddingMisses ?? 0)
    if (movie !== undefined) count('movie', Number(movie === 'hit'), Number(movie === 'miss'))
  }
  return {
    log: { info: (event, details) => (event === 'request' ? add(details) : undefined), warn },
    rows(keys) {
      const row = (name: string, of: keyof typeof counted, { loads, waits }: CacheStats) => [
        name,
        ...[...counted[of], loads, waits].map((each) => each.toLocaleString('en')),
      ]
      return [
        row('queryUnderstanding', 'qu', keys.queryUnderstanding.stats()),
        row('embedding', 'embedding', keys.embedding.stats()),
        row('movie', 'movie', keys.movie.stats()),
      ]
    },
  }
}

interface Trace {
  readonly qu?: 'hit' | 'miss'
  readonly embeddingHits?: number
  readonly embeddingMisses?: number
  readonly movie?: 'hit' | 'miss'
}
