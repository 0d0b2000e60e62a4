import { retried, type RetryOptions } from '@keyspec-systems/program/retry'

import { UpstreamError, type UpstreamReason } from '@keyspec-systems/program/upstream'

/** How long and how often a client tries: 4 times unless told, as somebody waits for the answer. */
export interface Patience extends RetryOptions {
  /** How long one try may take; 30,000 unless told. */
  readonly timeoutMs?: number
}

/** Runs `attempt` until it succeeds, or fails for a reason that another try cannot mend. */
export function patiently<T>(
  patience: Patience,
  signal: AbortSignal | undefined,
  attempt: () => Promise<T>,
): Promise<T> {
  return retried(attempt, { ...hurried, ...patience }, { signal, askedMs })
}

const hurried: RetryOptions = { attempts: 4, backoffMs: 250, maxBackoffMs: 10_000, maxRetryAfterMs: 20_000 }

const passing = new Set<UpstreamReason>(['limited', 'unavailable', 'unreachable', 'timed-out'])

function askedMs(error: unknown): number | undefined {
  return error instanceof UpstreamError && passing.has(error.reason) ? (error.retryAfterMs ?? 0) : undefined
}
