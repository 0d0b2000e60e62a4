/**
 * Why a call to regulations.gov failed: `credentials` (401, 403), `missing` (404, 410), `refused` (any other 4xx, or a
 * URL that is not the API's), `limited` (429), `unavailable` (5xx), `unreachable` (no connection, or one that broke),
 * `timed-out`, `unreadable` (not JSON, or not of the API's shape), `too-large`, and `ceiling` (more records share one
 * moment than the API can list).
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
  | 'ceiling'

/** A call to regulations.gov that failed for good, after the retries that its reason deserves. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  readonly code = 'E_UPSTREAM'
  readonly reason: UpstreamReason
  /** The address without the API key. */
  readonly url: string
  readonly status: number | undefined
  /** What a `Retry-After` header asked for, when it asked for longer than this client waits. */
  readonly retryAfterMs: number | undefined

  constructor(reason: UpstreamReason, url: string, what: string, details: UpstreamErrorDetails = {}) {
    const shown = withoutKey(url)
    super(`${what} (GET ${shown})`, details.cause === undefined ? {} : { cause: details.cause })
    this.reason = reason
    this.url = shown
    this.status = details.status
    this.retryAfterMs = details.retryAfterMs
  }

  /** True when the same URL would fail again: its job is invalid, where any other failure says nothing about the job. */
  get isFinal(): boolean {
    return this.reason === 'missing' || this.reason === 'refused' || this.reason === 'too-large'
  }
}

/** What an `UpstreamError` knows beside its reason and address. */
export interface UpstreamErrorDetails {
  readonly status?: number
  readonly retryAfterMs?: number
  readonly cause?: unknown
}

/** The same URL without `api_key` and user information, fit to be shown. */
function withoutKey(url: string): string {
  if (!URL.canParse(url)) return url.replaceAll(/(api_key=)[^&\s]*/gi, '$1…')
  const parsed = new URL(url)
  parsed.username = ''
  parsed.password = ''
  const keys = [...parsed.searchParams.keys()].filter((name) => name.toLowerCase() === 'api_key')
  for (const name of keys) parsed.searchParams.delete(name)
  return parsed.href
}
