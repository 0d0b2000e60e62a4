import type { LimitResult } from './limiter/limit-result.ts'
import { ArgumentRangeError } from '../errors.ts'

/** The HTTP fields that tell a client how it stands; `Retry-After` only where it was refused. */
export interface RateLimitHeaders {
  readonly 'RateLimit-Policy'?: string
  readonly RateLimit?: string
  readonly 'Retry-After'?: string
}

/**
 * The fields of draft-ietf-httpapi-ratelimit-headers-09, for a policy of this name: `RateLimit-Policy: "search";q=10;w=60`
 * and `RateLimit: "search";r=0;t=12`, with `Retry-After` (RFC 9110, 10.2.3) where the take was refused. Seconds are rounded
 * up, so that nobody comes back too early. None where the limiter is switched off.
 *
 * @example
 * const taken = await keys.requests({ userId, endpoint: 'search' }).take()
 * return new Response(body, { status: taken.allowed ? 200 : 429, headers: { ...rateLimitHeaders(taken, 'search') } })
 */
export function rateLimitHeaders(taken: LimitResult, policyName: string): RateLimitHeaders {
  if (taken.from === 'disabled') return {}
  const name = quoted(policyName)
  return {
    'RateLimit-Policy': `${name};q=${taken.limit};w=${seconds(taken.perMs)}`,
    RateLimit: `${name};r=${taken.remaining};t=${seconds(taken.resetMs)}`,
    ...(taken.allowed ? {} : { 'Retry-After': String(seconds(taken.retryAfterMs)) }),
  }
}

function seconds(ms: number): number {
  return Math.ceil(ms / 1000)
}

/** A string of RFC 9651, 3.3.3: printable ASCII, with quotes and backslashes escaped. */
function quoted(text: string): string {
  if (!/^[\x20-\x7e]+$/.test(text)) {
    throw new ArgumentRangeError(
      `${JSON.stringify(text)} cannot name a policy in a header: use printable ASCII`,
    )
  }
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
