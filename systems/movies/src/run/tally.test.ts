import { expect, test, vi } from 'vitest'

import type { Log } from '../log.ts'
import type { Movies } from '../schema.ts'
import { tally } from './tally.ts'

// Of the keyspace nothing is asked but what its caches counted.
const stats = (loads: number, waits: number) => ({ stats: () => ({ loads, waits }) })
const keys = {
  queryUnderstanding: stats(1, 2),
  embedding: stats(3, 0),
  movie: stats(1_000, 0),
} as unknown as Movies

test('hits and misses of all requests are counted, beside loads and waits of the caches', () => {
  const { log, rows } = tally(() => {})
  log.info('request', { qu: 'miss', embeddingHits: 2, embeddingMisses: 6 })
  log.info('request', { qu: 'hit', embeddingHits: 8, embeddingMisses: 0 })
  log.info('request', { movie: 'miss' })
  log.info('refresh', { qu: 'hit', movie: 'hit' })
  expect(rows(keys)).toEqual([
    ['queryUnderstanding', '1', '1', '1', '2'],
    ['embedding', '10', '6', '3', '0'],
    ['movie', '0', '1', '1,000', '0'],
  ])
})

test('warnings are passed on', () => {
  const warn = vi.fn<Log['warn']>()
  tally(warn).log.warn('redis', { message: 'gone' })
  expect(warn).toHaveBeenCalledWith('redis', { message: 'gone' })
})
