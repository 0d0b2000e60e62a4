import { setTimeout as wait } from 'node:timers/promises'

import { UpstreamError, type UpstreamReason } from './upstream-error.ts'

/** How long and how often a client tries, and by which clock. */
export interface Patience {
  /** Tries for each call, the first included; 4 unless told. */
  readonly attempts?: number
  /** How long one try may take; 30,000 unless told. */
  readonly timeoutMs?: number
  /** The first back-off is a random time up to this, the next up to twice it, and so on; 250 unless told. */
  readonly backoffMs?: number
  /** No back-off is longer; 10,000 unless told. */
  readonly maxBackoffMs?: number
  /** A `Retry-After` beyond this is an error that carries it, not a wait; 20,000 unless told. */
  readonly maxRetryAfterMs?: number
  readonly sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<unknown>
  readonly random?: () => number
}

/**
 * Runs `attempt` until it succeeds, or fails for a reason that another try cannot mend. The back-off is exponential
 * with full jitter (Brooker, "Exponential Backoff and Jitter", 2015), so callers that failed together do not return
 * together.
 */
export async function patiently<T>(
  patience: Patience,
  signal: AbortSignal | undefined,
  attempt: () => Promise<T>,
): Promise<T> {
  const { attempts = 4, backoffMs = 250, maxBackoffMs = 10_000, maxRetryAfterMs = 20_000 } = patience
  const { sleep = pause, random = Math.random } = patience
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof UpstreamError) || !passing.has(error.reason) || tried >= attempts) throw error
      const askedMs = error.retryAfterMs ?? 0
      if (askedMs > maxRetryAfterMs) throw error
      await sleep(askedMs + random() * Math.min(maxBackoffMs, backoffMs * 2 ** (tried - 1)), signal)
    }
  }
}

const passing = new Set<UpstreamReason>(['limited', 'unavailable', 'unreachable', 'timed-out'])

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await wait(ms, undefined, signal === undefined ? {} : { signal })
}
