/**
 * Why a call to another service failed: `credentials` (401, 403), `missing` (404, 410), `refused` (any other 4xx, or an address
 * that is not the service's), `limited` (429), `unavailable` (5xx), `unreachable` (no connection, or one that broke),
 * `timed-out`, `unreadable` (not JSON, or not of the shape agreed), `too-large`, and `ceiling` (more records share one moment
 * than the service can list).
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

/** What failed: a service by its name, or one address of it. */
export type Upstream = { readonly service: string } | { readonly url: string }

/** What an `UpstreamError` knows beside its reason and what failed. */
export interface UpstreamErrorDetails {
  readonly status?: number | undefined
  /** What a `Retry-After` header asked for, in ms. */
  readonly retryAfterMs?: number | undefined
  /** Whether the same call may succeed later, where the reason alone does not tell. */
  readonly isPassing?: boolean | undefined
  readonly cause?: unknown
}

/** A call to another service that failed for good, after the tries that its reason deserves. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  readonly code = 'E_UPSTREAM'
  readonly reason: UpstreamReason
  /** What the failed service is called, for people: its name, or its host. */
  readonly service: string
  /** The address without credentials, where one failed. */
  readonly url: string | undefined
  readonly status: number | undefined
  /** What a `Retry-After` header asked for, in ms. */
  readonly retryAfterMs: number | undefined
  /** Whether the same call may succeed later. */
  readonly isPassing: boolean

  constructor(reason: UpstreamReason, upstream: Upstream, what: string, details: UpstreamErrorDetails = {}) {
    const url = 'url' in upstream ? withoutCredentials(upstream.url) : undefined
    super(
      url === undefined ? `${nameOf(upstream)} ${what}` : `${what} (GET ${url})`,
      details.cause === undefined ? {} : { cause: details.cause },
    )
    this.reason = reason
    this.service = nameOf(upstream)
    this.url = url
    this.status = details.status
    this.retryAfterMs = details.retryAfterMs
    this.isPassing = details.isPassing ?? PASSING.has(reason)
  }

  /** Whether the same call would fail again, where any other failure says nothing about what was asked for. */
  get isFinal(): boolean {
    return FINAL.has(this.reason)
  }
}

const PASSING: ReadonlySet<UpstreamReason> = new Set([
  'limited',
  'unavailable',
  'unreachable',
  'timed-out',
  'unreadable',
])
const FINAL: ReadonlySet<UpstreamReason> = new Set(['missing', 'refused', 'too-large'])

function nameOf(upstream: Upstream): string {
  if ('service' in upstream) return upstream.service
  return URL.canParse(upstream.url) ? new URL(upstream.url).host : 'the service'
}

/** The same URL without `api_key` and user information, fit to be shown. */
function withoutCredentials(url: string): string {
  if (!URL.canParse(url)) return url.replaceAll(/(api_key=)[^&\s]*/gi, '$1…')
  const parsed = new URL(url)
  parsed.username = ''
  parsed.password = ''
  const keys = [...parsed.searchParams.keys()].filter((name) => name.toLowerCase() === 'api_key')
  if (keys.length === 0 && parsed.href === url) return url
  for (const name of keys) parsed.searchParams.delete(name)
  return parsed.href
}
