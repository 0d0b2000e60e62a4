import * as v from 'valibot'

import type { CanonicalEntities } from './canonical-entities.ts'
import type { ExtractedMentions } from './mentions.ts'
import { ResolvedMentions } from './resolved-mentions.ts'

/** The fifth stage: gives each mention the entity that has its name. */
export async function resolveMentions(
  extracted: ExtractedMentions,
  { entities }: CanonicalEntities,
): Promise<ResolvedMentions> {
  const byName = new Map(
    entities.flatMap(({ canonical_id, type, aliases }) =>
      aliases.map(({ normal, ...match }) => [`${type}\n${normal}`, { canonical_id, ...match }] as const),
    ),
  )
  const pairs = extracted.mentions.map(
    ({ mention_id, type, normal }) => [mention_id, byName.get(`${type}\n${normal}`)] as const,
  )
  return v.parse(ResolvedMentions, {
    document_uuid: extracted.document_uuid,
    resolved: pairs.flatMap(([mention_id, meaning]) =>
      meaning === undefined ? [] : [{ mention_id, ...meaning }],
    ),
    unresolved: pairs.flatMap(([mention_id, meaning]) => (meaning === undefined ? [mention_id] : [])),
  })
}
