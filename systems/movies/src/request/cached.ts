import { isUnavailable, ServerError } from 'keyspec'

import type { Log } from '../log.ts'

/** What a read found; `undefined`, as if there were nothing, where Redis cannot be reached. */
export async function foundOrNone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (!isUnavailable(error)) throw error
    return undefined
  }
}

/**
 * What the cache answers; where Redis refuses (a key of another type, a wrong password), what there is without it, with a
 * warning: a cache is no reason for a request to fail.
 */
export async function orWithout<T>(
  log: Log,
  cached: () => Promise<T>,
  without: () => T | Promise<T>,
): Promise<T> {
  try {
    return await cached()
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    log.warn('redis', { message: error.message })
    return without()
  }
}
