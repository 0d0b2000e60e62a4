import type { ServerResponse } from 'node:http'

import * as v from 'valibot'

/** What the stand-in can be told to answer instead of the truth. */
export const Fault = v.strictObject({
  /** `limited` 429, `unavailable` 500, `garbage` 200 with HTML, `silent` no answer at all, `broken` half an answer. */
  fault: v.picklist(['limited', 'unavailable', 'garbage', 'silent', 'broken']),
  /** How many of the next requests fail so; 1 unless told. */
  times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1),
  /** The `Retry-After` of a 429, in seconds; 1 unless told. */
  retryAfterSeconds: v.optional(v.number(), 1),
  /** Only for requests whose path holds this. */
  path: v.optional(v.string(), '/'),
})

/** A run of failures to plan. */
export type Fault = v.InferInput<typeof Fault>

/** A run of failures, planned. */
export type PlannedFault = v.InferOutput<typeof Fault>

/** Takes the next planned fault for a path off the list. */
export function nextFault(planned: PlannedFault[], path: string): PlannedFault | undefined {
  const index = planned.findIndex((fault) => path.includes(fault.path))
  const fault = planned[index]
  if (fault === undefined) return undefined
  if (fault.times > 1) planned[index] = { ...fault, times: fault.times - 1 }
  else planned.splice(index, 1)
  return fault
}

/** Answers as the fault says. */
export function spoil(response: ServerResponse, { fault, retryAfterSeconds }: PlannedFault): void {
  if (fault === 'limited') throttled(response, retryAfterSeconds)
  else if (fault === 'unavailable') {
    response.writeHead(500, { 'Content-Type': 'text/html' }).end('<h1>Server Error (500)</h1>')
  } else if (fault === 'garbage') {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>Down for maintenance</html>')
  } else if (fault === 'broken') {
    response.writeHead(200, { 'Content-Length': 1000 })
    response.write('{"next": null, "res', () => response.destroy())
  }
  // A silent one stays open until the client goes.
}

/** Answers 429, as Django REST framework words it. */
export function throttled(response: ServerResponse, seconds: number): void {
  response.setHeader('Retry-After', seconds)
  send(response, 429, { detail: `Request was throttled. Expected available in ${seconds} seconds.` })
}

/** Answers with JSON. */
export function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}
