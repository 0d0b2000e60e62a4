import { setTimeout as wait } from 'node:timers/promises'

import { UpstreamError } from './upstream-error.ts'

/** How patiently a client tries again. */
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

/** Runs `attempt` until it succeeds, fails for good, or was tried often enough; waits in between, with full jitter. */
export async function retried<T>(
  attempt: () => Promise<T>,
  options: RetryOptions,
  signal: AbortSignal | undefined,
): Promise<T> {
  const { attempts = 5, backoffMs = 500, maxBackoffMs = 30_000, maxRetryAfterMs = 60_000 } = options
  const { sleep = pause, random = Math.random } = options
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof UpstreamError) || !error.isPassing || tried >= attempts) throw error
      const { retryAfterMs = 0 } = error
      if (retryAfterMs > maxRetryAfterMs) throw error
      // On top of Retry-After, since workers told to come back at one moment would all come back at it.
      await sleep(retryAfterMs + random() * Math.min(maxBackoffMs, backoffMs * 2 ** (tried - 1)), signal)
    }
  }
}

/** What a `Retry-After` header asks for, in ms: it holds seconds, or a date. */
export function retryAfterIn(header: string | null, nowMs: number): number | undefined {
  if (header === null || header.trim() === '') return undefined
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000)
  const atMs = Date.parse(header)
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs)
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await wait(ms, undefined, signal === undefined ? {} : { signal })
}
