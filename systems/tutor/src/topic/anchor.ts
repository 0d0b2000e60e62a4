import { randomBytes } from 'node:crypto'

import { contentWordsOf, isFunctionWord, rank, wordsOf, type Embedder } from '@keyspec-systems/model'

import type { Resource } from '../resource/resource.ts'
import { instantOf } from '../shape/instant.ts'
import type { Anchor, TopicHistoryEntry } from '../shape/topic.ts'
import { entitiesOf, keyPhrasesOf } from './key-phrase.ts'

/** Texts to vectors; a caller may put a cache in front of the model's. */
export type Embed = Embedder['embed']

/** What a topic is made from. */
export interface AnchorMaterial {
  readonly question: string
  readonly resources: readonly Resource[]
  readonly embed: Embed
  readonly now?: Date
  readonly signal?: AbortSignal
}

const SCOPE = 6
const ENTITIES = 8

/**
 * The topic of a session out of its first question: a title from the question's own words, the scope and the names from
 * the resources that speak of it, and the vector of all these.
 */
export async function buildAnchor(material: AnchorMaterial): Promise<Anchor> {
  const { question, resources, embed, now = new Date(), signal } = material
  const title = titleOf(question)
  const { scores } = rank(
    question,
    resources.map((each) => `${each.title} ${each.text}`),
  )
  const best = Math.max(0, ...scores)
  // One shared word does not make a resource speak of the topic.
  const speaking = resources.filter((_, at) => scores[at]! > best / 3)
  const text = speaking.map((each) => `${each.title}.\n\n${each.text}`).join('\n\n')
  const said = new Set(contentWordsOf(title))
  const scope = keyPhrasesOf(text)
    .map(({ phrase }) => phrase)
    .filter((phrase) => !contentWordsOf(phrase).every((word) => said.has(word)))
    .slice(0, SCOPE)
  const entities = [...new Set([...entitiesOf(question), ...entitiesOf(text)])].slice(0, ENTITIES)
  const described = [title, title, question, ...scope, ...entities].join('. ')
  const [vector] = await embed([described], signal)
  return {
    id: `anchor_${randomBytes(6).toString('hex')}`,
    canonical_title: title,
    canonical_seed: question.replaceAll(/\s+/g, ' ').trim(),
    topic_embedding: [...vector!],
    subject_scope: scope,
    locked_entities: entities,
    source: 'user_query',
    created_at: instantOf(now),
  }
}

/** The entry that an anchor leaves in the history of topics. */
export function historyEntryOf({ id, canonical_title, created_at }: Anchor): TopicHistoryEntry {
  return { canonical_title, id, created_at }
}

/** `Why did the French Revolution begin?` is about the `French Revolution`: names first, else the content words. */
export function titleOf(question: string): string {
  const names = entitiesOf(question).filter((name) => !/^\d+$/.test(name))
  if (names.length > 0) return names.slice(0, 2).join(' and ')
  const telling = (question.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu) ?? []).filter((word) => {
    const [folded] = wordsOf(word)
    return folded !== undefined && !isFunctionWord(folded)
  })
  const title = telling.slice(0, 5).join(' ') || question.trim() || 'Untitled topic'
  return title.charAt(0).toUpperCase() + title.slice(1)
}
