export { delayOf } from './delay.ts'

import { pause } from './program.ts'

/** How patiently a client of another service tries again. */
export interface RetryOptions {
  /** Tries for each call, the first included; 5 unless told. */
  readonly attempts?: number
  /** The first back-off is a random time up to this, the next up to twice it, and so on; 500 unless told. */
  readonly backoffMs?: number
  /** No back-off is longer; 30,000 unless told. */
  readonly maxBackoffMs?: number
  /** A `Retry-After` beyond this is an error that carries it, not a wait; 60,000 unless told. */
  readonly maxRetryAfterMs?: number
  readonly sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<unknown>
  readonly random?: () => number
}

/** What a call that failed says about another try. */
export interface RetryRules {
  readonly signal: AbortSignal | undefined
  /** How long the service asked to be left alone, 0 where it did not; `undefined` where no other try would help. */
  readonly askedMs: (error: unknown) => number | undefined
}

/**
 * Runs `attempt` until it succeeds, fails for good, or was tried often enough. The back-off is exponential with full
 * jitter (Brooker, "Exponential Backoff and Jitter", 2015), so that callers who failed together do not return together.
 */
export async function retried<T>(
  attempt: () => Promise<T>,
  options: RetryOptions,
  { signal, askedMs }: RetryRules,
): Promise<T> {
  const { attempts = 5, backoffMs = 500, maxBackoffMs = 30_000, maxRetryAfterMs = 60_000 } = options
  const { sleep: rest = sleep, random = Math.random } = options
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt()
    } catch (error) {
      const asked = tried < attempts ? askedMs(error) : undefined
      if (asked === undefined || asked > maxRetryAfterMs) throw error
      // On top of Retry-After, since those told to come back at one moment would all come back at it.
      await rest(asked + random() * Math.min(maxBackoffMs, backoffMs * 2 ** (tried - 1)), signal)
    }
  }
}

/** What a `Retry-After` header asks for, in ms: it holds seconds, or a date (RFC 9110, 10.2.3). */
export function retryAfterIn(header: string | null, nowMs: number): number | undefined {
  if (header === null || header.trim() === '') return undefined
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000)
  const atMs = Date.parse(header)
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs)
}

/** What a status that is no success means. */
export function reasonOf(
  status: number,
): 'credentials' | 'missing' | 'refused' | 'limited' | 'unavailable' | 'timed-out' {
  if (status === 429) return 'limited'
  if (status === 401 || status === 403) return 'credentials'
  if (status === 404 || status === 410) return 'missing'
  if (status === 408) return 'timed-out'
  return status >= 500 ? 'unavailable' : 'refused'
}

/** Waits, however long; rejects when the signal ends it. */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await pause(ms, signal ?? NEVER)
  signal?.throwIfAborted()
}

const NEVER = new AbortController().signal
