import * as v from 'valibot'

import { instant } from './instant.ts'

/** How a session was opened. */
const SessionConfig = v.strictObject({
  ttl_hours: v.pipe(v.number(), v.minValue(0)),
  max_resources: v.pipe(v.number(), v.integer(), v.minValue(0)),
  relatedness_threshold: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
})

/** `session:<userId>`; `topic_anchor` is null until the first question. */
export const Session = v.strictObject({
  session_id: v.pipe(v.string(), v.nonEmpty()),
  user_id: v.pipe(v.string(), v.nonEmpty()),
  classroom_id: v.string(),
  created_at: instant,
  last_active_at: instant,
  turn_count: v.pipe(v.number(), v.integer(), v.minValue(0)),
  resource_list: v.array(v.string()),
  topic_anchor: v.nullable(
    v.strictObject({ id: v.string(), canonical_title: v.string(), created_at: instant }),
  ),
  config: SessionConfig,
})

/** `session:<userId>`. */
export type Session = v.InferOutput<typeof Session>
