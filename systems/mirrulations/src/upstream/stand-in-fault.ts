import type { ServerResponse } from 'node:http'

import * as v from 'valibot'

/** What the stand-in can be told to answer instead of the truth. */
export const Fault = v.strictObject({
  /** `limited` 429, `unavailable` 500, `garbage` 200 with HTML, `silent` no answer at all, `cut` a body that breaks off. */
  fault: v.picklist(['limited', 'unavailable', 'garbage', 'silent', 'cut']),
  /** How many of the next requests fail so; 1 unless told. */
  times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1),
  /** The `Retry-After` of a 429, in seconds; none unless told. */
  retryAfterSeconds: v.optional(v.number()),
  /** Only for requests whose path begins so. */
  path: v.optional(v.string(), '/'),
})

/** A run of failures to plan. */
export type Fault = v.InferInput<typeof Fault>

/** A run of failures, planned. */
export type PlannedFault = v.InferOutput<typeof Fault>

/** Answers as the fault says; false when the true answer is still needed, to be cut off. */
export function spoil(response: ServerResponse, { fault, retryAfterSeconds }: PlannedFault): boolean {
  if (fault === 'cut') return false
  if (fault === 'limited') {
    if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', retryAfterSeconds)
    send(response, 429, overLimit)
  } else if (fault === 'unavailable') {
    send(response, 500, problem(500, 'Internal Server Error'))
  } else if (fault === 'garbage') {
    response.setHeader('Content-Type', 'text/html')
    deliver(response, 200, Buffer.from('<html><body>Down for maintenance</body></html>'))
  }
  return true
}

/** Answers with JSON. */
export function send(response: ServerResponse, status: number, body: unknown, isCut = false): void {
  response.setHeader('Content-Type', 'application/vnd.api+json')
  deliver(response, status, Buffer.from(JSON.stringify(body)), isCut)
}

/** Answers with bytes, all of them or, to stand for a connection that breaks, the first half. */
export function deliver(response: ServerResponse, status: number, body: Buffer, isCut = false): void {
  response.writeHead(status, { 'Content-Length': body.length })
  if (!isCut) {
    response.end(body)
    return
  }
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy())
}

/** What the API itself answers when it refuses. */
export function problem(status: number, detail: string): unknown {
  return {
    errors: [{ status: `${status}`, title: status === 404 ? 'Not Found' : 'The request is invalid', detail }],
  }
}

/** What the gateway answers beyond the hourly limit. */
export const overLimit = {
  error: { code: 'OVER_RATE_LIMIT', message: 'You have exceeded your rate limit. Try again later.' },
}
