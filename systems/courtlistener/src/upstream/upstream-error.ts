/**
 * Why a call to CourtListener failed: `credentials` (401, 403), `missing` (404), `refused` (any other status that is no
 * success), `limited` (429), `unavailable` (5xx), `unreachable` (no connection, or one that broke), `timed-out`, and
 * `unreadable` (not JSON, or not of the API's shape).
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

/** A call to CourtListener that failed for good, after the tries that its reason deserves. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  readonly code = 'E_UPSTREAM'
  readonly reason: UpstreamReason
  readonly url: string
  readonly status: number | undefined
  /** What the `Retry-After` header asked for. */
  readonly retryAfterMs: number | undefined
  /** True when the same call may succeed later: a docket that failed so is worth keeping for a retry. */
  readonly isPassing: boolean

  constructor(reason: UpstreamReason, url: string, what: string, details: UpstreamErrorDetails = {}) {
    super(`${what} (GET ${url})`, details.cause === undefined ? {} : { cause: details.cause })
    this.reason = reason
    this.url = url
    this.status = details.status
    this.retryAfterMs = details.retryAfterMs
    this.isPassing = details.isPassing ?? passing.has(reason)
  }
}

/** What an `UpstreamError` knows beside its reason and address. */
export interface UpstreamErrorDetails {
  readonly status?: number
  readonly retryAfterMs?: number
  readonly isPassing?: boolean
  readonly cause?: unknown
}

const passing = new Set<UpstreamReason>(['limited', 'unavailable', 'unreachable', 'timed-out', 'unreadable'])
