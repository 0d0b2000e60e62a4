import { type Call, Problem } from '@keyspec-systems/program/http'
import * as v from 'valibot'

/** A question, a page address, a video and the like are short. */
const MAX_JSON_BYTES = 64 * 1024

/** The body of a request as JSON of a shape; a 400 says what is wrong with it. */
export async function jsonOf<S extends v.GenericSchema>(call: Call, schema: S): Promise<v.InferOutput<S>> {
  const parsed = v.safeParse(schema, await call.json(MAX_JSON_BYTES))
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  throw new Problem(400, `${v.getDotPath(issue) ?? 'The body'} is not as it should be`)
}

const id = v.pipe(v.string(), v.nonEmpty(), v.maxLength(200))

/** `POST /sessions`. */
export const OpenBody = v.strictObject({
  user_id: id,
  classroom_id: v.optional(id),
  max_resources: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100))),
  relatedness_threshold: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
})

/** `POST /sessions/<userId>/questions`. */
export const QuestionBody = v.strictObject({
  question: v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(2_000)),
  new_topic: v.optional(v.boolean(), false),
})

/** `POST /sessions/<userId>/pages`. */
export const PageBody = v.strictObject({ url: v.pipe(v.string(), v.nonEmpty(), v.maxLength(4_000)) })

/** `POST /sessions/<userId>/videos`. */
export const VideoBody = v.strictObject({ video: v.pipe(v.string(), v.nonEmpty(), v.maxLength(400)) })

/** `POST /sessions/<userId>/suggestions`. */
export const SuggestionsBody = v.strictObject({
  most: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(20)), 3),
})
