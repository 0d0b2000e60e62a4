import * as v from 'valibot'

import { instant } from './instant.ts'

const score = v.pipe(v.number(), v.minValue(0), v.maxValue(1))

/** `abcr:<sessionId>:<questionHash>`. */
export const AbcrDecision = v.strictObject({
  decision: v.picklist(['related', 'unrelated']),
  attention_score: score,
  similarity_score: score,
  combined_score: score,
  computed_at: instant,
})
/** `abcr:<sessionId>:<questionHash>`. */
export type AbcrDecision = v.InferOutput<typeof AbcrDecision>

/** `anchor:<sessionId>`: the topic that a session holds on to. */
export const Anchor = v.strictObject({
  id: v.pipe(v.string(), v.startsWith('anchor_')),
  canonical_title: v.pipe(v.string(), v.nonEmpty()),
  canonical_seed: v.string(),
  topic_embedding: v.array(v.pipe(v.number(), v.finite())),
  subject_scope: v.array(v.string()),
  locked_entities: v.array(v.string()),
  source: v.string(),
  created_at: instant,
})
/** `anchor:<sessionId>`: the topic that a session holds on to. */
export type Anchor = v.InferOutput<typeof Anchor>

/**
 * One entry of `topic_history:<sessionId>`. The document shows `canonical_title` and "...": the other fields are
 * optional here, and further ones of another writer are kept as they are.
 */
export const TopicHistoryEntry = v.looseObject({
  canonical_title: v.string(),
  id: v.optional(v.string()),
  created_at: v.optional(instant),
})
/** One entry of `topic_history:<sessionId>`. */
export type TopicHistoryEntry = v.InferOutput<typeof TopicHistoryEntry>
