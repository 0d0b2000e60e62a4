import * as v from 'valibot'

import { EntityType } from './mentions.ts'

/** How a name is known to mean an entity. */
export const MatchMethod = v.picklist(['exact', 'initials', 'short', 'acronym', 'similar'])

/** Who or what a document's names mean: the value of `cache:doc:canonical_entities:<documentUuid>`. */
export const CanonicalEntities = v.strictObject({
  document_uuid: v.string(),
  entities: v.array(
    v.strictObject({
      /** The same for the same name in every document. */
      canonical_id: v.string(),
      type: EntityType,
      /** The fullest of its names, as it was written. */
      name: v.string(),
      normal: v.string(),
      mention_count: v.pipe(v.number(), v.integer(), v.minValue(1)),
      /** Every name it has in this document, with how that was matched and how sure that is, from 0 to 1. */
      aliases: v.array(
        v.strictObject({
          normal: v.string(),
          method: MatchMethod,
          score: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
        }),
      ),
    }),
  ),
})

/** Who or what a document's names mean. */
export type CanonicalEntities = v.InferOutput<typeof CanonicalEntities>

/** One of them. */
export type CanonicalEntity = CanonicalEntities['entities'][number]

/** How a name is known to mean an entity. */
export type MatchMethod = v.InferOutput<typeof MatchMethod>
