import { expect, test } from 'vitest'
import type { LimitResult } from './limiter/limit-result.ts'
import { rateLimitHeaders } from './rate-limit-headers.ts'

const admitted: LimitResult = {
  allowed: true,
  limit: 10,
  perMs: 60_000,
  remaining: 3,
  resetMs: 59_001,
  from: 'redis',
}

test('a take that was allowed gives the policy and how the client stands, seconds rounded up', () => {
  expect(rateLimitHeaders(admitted, 'search')).toEqual({
    'RateLimit-Policy': '"search";q=10;w=60',
    RateLimit: '"search";r=3;t=60',
  })
})

test('a take that was refused says when to come back', () => {
  const refused: LimitResult = { ...admitted, allowed: false, remaining: 0, retryAfterMs: 12_345 }
  expect(rateLimitHeaders(refused, 'search')).toEqual({
    'RateLimit-Policy': '"search";q=10;w=60',
    RateLimit: '"search";r=0;t=60',
    'Retry-After': '13',
  })
})

test('a limiter that is switched off tells nobody of a limit', () => {
  expect(rateLimitHeaders({ ...admitted, from: 'disabled' }, 'search')).toEqual({})
})

test('a name is quoted as a structured string, and refused where it cannot be', () => {
  expect(rateLimitHeaders(admitted, 'a "b" \\ c').RateLimit).toBe('"a \\"b\\" \\\\ c";r=3;t=60')
  expect(() => rateLimitHeaders(admitted, 'zürich')).toThrow(RangeError)
  expect(() => rateLimitHeaders(admitted, 'a\r\nSet-Cookie: b')).toThrow(RangeError)
})
