import type { ServerResponse } from 'node:http'

import * as v from 'valibot'

/** What a stand-in can be told to answer instead of the truth. */
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

/** Faults still to come. */
export interface Plan {
  add(fault: Fault): void
  /** The fault for this path, used up by asking. */
  next(path: string): v.InferOutput<typeof Fault> | undefined
}

/** An empty plan. */
export function plan(): Plan {
  const faults: v.InferOutput<typeof Fault>[] = []
  return {
    add: (fault) => void faults.push(v.parse(Fault, fault)),
    next(path) {
      const fault = faults.find((each) => path.startsWith(each.path))
      if (fault === undefined) return undefined
      fault.times -= 1
      if (fault.times === 0) faults.splice(faults.indexOf(fault), 1)
      return fault
    },
  }
}

/** Answers as the fault says; `body` is the true answer, for a fault that breaks it off. */
export function spoil(response: ServerResponse, fault: v.InferOutput<typeof Fault>, body: string): void {
  switch (fault.fault) {
    case 'limited':
      if (fault.retryAfterSeconds !== undefined) response.setHeader('Retry-After', fault.retryAfterSeconds)
      response.writeHead(429).end('{"error":{"message":"Too many requests"}}')
      return
    case 'unavailable':
      response.writeHead(500).end('{"error":{"message":"Internal server error"}}')
      return
    case 'garbage':
      response.writeHead(200).end('<html><body>Down for maintenance</body></html>')
      return
    case 'cut':
      response.writeHead(200, { 'Content-Length': Buffer.byteLength(body) })
      response.write(body.slice(0, body.length / 2), () => response.destroy())
      return
    case 'silent':
  }
}
