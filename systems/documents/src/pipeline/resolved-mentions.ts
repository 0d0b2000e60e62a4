import * as v from 'valibot'

import { MatchMethod } from './canonical-entities.ts'

/** What each place in a document means: the value of `cache:doc:resolved_mentions:<documentUuid>`. */
export const ResolvedMentions = v.strictObject({
  document_uuid: v.string(),
  resolved: v.array(
    v.strictObject({
      mention_id: v.string(),
      canonical_id: v.string(),
      method: MatchMethod,
      score: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
    }),
  ),
  /** Mentions that none of the entities has among its names. */
  unresolved: v.array(v.string()),
})

/** What each place in a document means. */
export type ResolvedMentions = v.InferOutput<typeof ResolvedMentions>
