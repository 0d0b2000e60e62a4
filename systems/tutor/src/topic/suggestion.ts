import { createHash } from 'node:crypto'

import type { Resource } from '../resource/resource.ts'
import { entitiesOf, keyPhrasesOf } from './key-phrase.ts'

/** A question to ask next, and the digest under which the session remembers having shown it. */
export interface Suggestion {
  readonly text: string
  /** SHA-256 of the text, in hex. */
  readonly hash: string
  readonly resource: string
}

const EACH = 6

/** Questions that the resources can answer, the most telling first, the resources taking turns. */
export function suggestionsFrom(resources: readonly Resource[]): Suggestion[] {
  const lists = resources.map((resource) =>
    questionsAbout(resource).map((text) => ({ text, resource: resource.id })),
  )
  const turns = Array.from({ length: EACH }, (_, turn) => lists.flatMap((list) => list[turn] ?? []))
  const seen = new Set<string>()
  return turns.flat().flatMap(({ text, resource }) => {
    if (seen.has(text)) return []
    seen.add(text)
    return [{ text, hash: suggestionHash(text), resource }]
  })
}

/** The digest of a suggestion. */
export function suggestionHash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function questionsAbout({ title, text }: Resource): string[] {
  const names = entitiesOf(text).filter((name) => !title.includes(name))
  const years = names.filter((name) => /^\d{4}$/.test(name)).map((year) => `What happened in ${year}?`)
  const people = names
    .filter((name) => !/\d/.test(name) && name.slice(1, -1).includes(' '))
    .map((name) => `What does “${title}” say about ${name}?`)
  const phrases = keyPhrasesOf(text).map(({ phrase }) => `Can you explain “${phrase}”?`)
  const questions = [
    `What is “${title}” about?`,
    phrases[0],
    people[0],
    years[0],
    phrases[1],
    people[1],
    ...phrases.slice(2),
  ]
  return questions.flatMap((question) => question ?? []).slice(0, EACH)
}
