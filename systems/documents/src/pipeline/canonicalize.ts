import { createHash } from 'node:crypto'

import * as v from 'valibot'

import { CanonicalEntities, type CanonicalEntity } from './canonical-entities.ts'
import { matched, type Match, type Name } from './match.ts'
import type { EntityType, ExtractedMentions } from './mentions.ts'

/** The fourth stage: which of a document's names mean the same, judged by name alone. What fits two stays apart. */
export async function canonicalize(extracted: ExtractedMentions): Promise<CanonicalEntities> {
  const entities: Entity[] = []
  for (const name of namesOf(extracted)) {
    const known = entities.filter(({ type }) => type === name.type)
    const candidates = known.flatMap((entity) => {
      const match = matched(name.type, name, entity.fullest)
      return match === undefined ? [] : [{ entity, match }]
    })
    const [candidate, ...others] = candidates
    if (candidate !== undefined && others.length === 0)
      candidate.entity.aliases.push({ ...name, match: candidate.match })
    else
      entities.push({
        type: name.type,
        fullest: name,
        aliases: [{ ...name, match: { method: 'exact', score: 1 } }],
      })
  }
  return v.parse(CanonicalEntities, {
    document_uuid: extracted.document_uuid,
    entities: entities.map(entityOf).toSorted((a, b) => b.mention_count - a.mention_count),
  })
}

interface CountedName extends Name {
  readonly type: EntityType
  readonly count: number
}

interface Entity {
  readonly type: EntityType
  readonly fullest: Name
  readonly aliases: (CountedName & { readonly match: Match })[]
}

/** Every distinct name, the fullest first, so that each finds what it is short for. */
function namesOf({ mentions }: ExtractedMentions): CountedName[] {
  const names = new Map<string, CountedName>()
  for (const { type, normal, text } of mentions) {
    const key = `${type}\n${normal}`
    const known = names.get(key)
    const longest = known !== undefined && known.text.length >= text.length ? known.text : text
    names.set(key, { type, normal, text: longest, count: (known?.count ?? 0) + 1 })
  }
  return [...names.values()].toSorted(
    (a, b) => words(b) - words(a) || b.normal.length - a.normal.length || (a.normal < b.normal ? -1 : 1),
  )
}

function words({ normal }: Name): number {
  return normal.split(' ').length
}

function entityOf({ type, fullest, aliases }: Entity): CanonicalEntity {
  const hash = createHash('sha256').update(`${type}\n${fullest.normal}`).digest('hex')
  return {
    canonical_id: `${type.toLowerCase()}-${hash.slice(0, 16)}`,
    type,
    name: fullest.text,
    normal: fullest.normal,
    mention_count: aliases.reduce((sum, { count }) => sum + count, 0),
    aliases: aliases.map(({ normal, match }) => ({ normal, ...match })),
  }
}
