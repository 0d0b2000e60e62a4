/**
 * Why a call failed: `credentials` (401, 403), `missing` (404, 410), `refused` (any other 4xx), `limited` (429),
 * `unavailable` (5xx), `unreachable` (no connection, or one that broke), `timed-out`, `unreadable` (not JSON, or not
 * of the shape agreed), `too-large`.
 */
export type UpstreamReason =
  | 'credentials'
  | 'missing'
  | 'refused'
  | 'limited'
  | 'unavailable'
  | 'unreachable'
  | 'timed-out'
  | 'unreadable'
  | 'too-large'

/** What an `UpstreamError` knows beside its reason and service. */
export interface UpstreamErrorDetails {
  readonly status?: number | undefined
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

/** A call to another service that failed for good, after the retries that its reason deserves. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  readonly code = 'E_UPSTREAM'
  readonly reason: UpstreamReason
  /** What the failed service is called, for people. */
  readonly service: string
  readonly status: number | undefined
  /** What a `Retry-After` header asked for, where it asked for longer than the caller waits. */
  readonly retryAfterMs: number | undefined

  constructor(reason: UpstreamReason, service: string, what: string, details: UpstreamErrorDetails = {}) {
    super(`${service} ${what}`, details.cause === undefined ? {} : { cause: details.cause })
    this.reason = reason
    this.service = service
    this.status = details.status
    this.retryAfterMs = details.retryAfterMs
  }
}
