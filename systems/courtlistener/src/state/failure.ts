import type { Codec } from 'keyspec'
import * as v from 'valibot'

/** Why and when a docket failed. */
export const FailureReason = v.object({ error: v.string(), timestamp: v.string() })

/** Why and when a docket failed. */
export type FailureReason = v.InferOutput<typeof FailureReason>

/** A docket that could not be fetched, as the list has it. */
export interface Failure {
  readonly docketId: string
  readonly error?: string | undefined
  readonly timestamp?: string | undefined
  /** The element as it stands in Redis, by which it is found again. */
  readonly stored: string
}

const Stored = v.object({
  docket_id: v.pipe(v.union([v.string(), v.number()]), v.transform(String), v.nonEmpty()),
  error: v.optional(v.nullable(v.string())),
  timestamp: v.optional(v.nullable(v.string())),
})

/** An element of the list: a bare id, as it is written, or JSON with `docket_id`, `error` and `timestamp`. */
export const failure: Codec<Failure, Pick<Failure, 'stored'>> = {
  name: 'failure',
  bytes: false,
  encode: ({ stored }) => stored,
  decode(stored: string) {
    if (!stored.startsWith('{')) {
      if (stored.trim() === '') throw new TypeError('it is empty')
      return { docketId: stored, stored }
    }
    const { docket_id, error, timestamp } = v.parse(Stored, JSON.parse(stored))
    return { docketId: docket_id, error: error ?? undefined, timestamp: timestamp ?? undefined, stored }
  },
}
