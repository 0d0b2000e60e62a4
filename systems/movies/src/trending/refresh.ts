import type { Log } from '../log.ts'
import type { Movies } from '../schema.ts'
import type { TrendingSource } from './trending-source.ts'

/**
 * Puts today's trending films in place of yesterday's, in one step. Where the source fails or knows none, or Redis cannot
 * be reached, the old ones stay and a warning is logged. Answers whether they were replaced.
 */
export async function refreshTrending(
  keys: Movies,
  source: TrendingSource,
  log: Log,
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    const ids = await source.fetch(signal)
    const replaced = await keys.trending().replace(ids)
    if (replaced.replaced) log.info('refresh', { source: source.name, films: replaced.size })
    else log.warn('refresh', { source: source.name, message: 'no films; the old ones stay' })
    return replaced.replaced
  } catch (error) {
    if (signal?.aborted) return false
    const message = error instanceof Error ? error.message : String(error)
    log.warn('refresh', { source: source.name, message: `${message}; the old ones stay` })
    return false
  }
}
