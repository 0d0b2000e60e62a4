import { isFunctionWord, wordsOf } from '@keyspec-systems/model'

import { folded, type NameIndex } from './name-index.ts'
import { mentionAt, type Mention } from './phrase.ts'
import type { EntityCandidate } from './query-understanding.ts'

/** A name that stands in a query. */
export interface Name extends Mention {
  readonly candidate: EntityCandidate
  /** After "like" or "similar to": an example of what is sought, not itself wanted. */
  readonly isExample: boolean
}

/** The names in a query that the catalogue knows, the longest first where they overlap. */
export function namesOf(query: string, index: NameIndex): Name[] {
  const words = [...query.matchAll(/[\p{L}\p{N}]+(?:['’.-][\p{L}\p{N}]+)*/gu)]
  const names: Name[] = []
  for (let count = Math.min(MOST_WORDS, words.length); count >= 1; count -= 1) {
    for (let first = 0; first + count <= words.length; first += 1) {
      const start = words[first]!.index
      const last = words[first + count - 1]!
      const span = { query, start, end: last.index + last[0].length, count }
      if (names.some((name) => name.start < span.end && span.start < name.end)) continue
      const name = nameAt(span, index)
      if (name !== undefined) names.push(name)
    }
  }
  return names.sort((a, b) => a.start - b.start)
}

const MOST_WORDS = 9

interface Span {
  readonly query: string
  readonly start: number
  readonly end: number
  readonly count: number
}

function nameAt(span: Span, index: NameIndex): Name | undefined {
  const phrase = span.query.slice(span.start, span.end)
  const key = folded(phrase)
  const before = span.query.slice(0, span.start)
  const person = index.people.get(key)
  if (person !== undefined && (span.count > 1 || isWrittenAsName(span) || /\bby\s+$/i.test(before))) {
    return named(span, 'person', person)
  }
  const studio = index.studios.get(key)
  if (studio !== undefined && (span.count > 1 || isWrittenAsName(span))) return named(span, 'studio', studio)
  const franchise = index.franchises.get(key)
  if (franchise !== undefined && (span.count > 1 || isWrittenAsName(span)))
    return named(span, 'franchise', franchise)
  const titles = index.titles.get(key)
  if (titles !== undefined && meansTitle(span, titles[0]!.title))
    return named(span, 'movie_title', titles[0]!.title)
  // Cast and characters are not in the catalogue, but a name in a title is often a character's.
  const isInTitle = key.split(' ').every((word) => index.titleWords.has(word))
  if (
    isInTitle &&
    isWrittenAsName(span) &&
    !/\b(?:in|on|rated)\s+$/i.test(before) &&
    !wordsOf(phrase).some(isFunctionWord)
  ) {
    return named(span, 'character', phrase)
  }
  return undefined
}

function named(span: Span, category: EntityCandidate['most_likely_category'], name: string): Name {
  const { query, start, end } = span
  const match = Object.assign([query.slice(start, end)], { index: start }) as RegExpMatchArray
  const mention = mentionAt(query, match)
  const isExample = /(?:^|\s)(?:like|similar to|as good as|in the vein of)\s+["“']?$/i.test(
    query.slice(0, start),
  )
  return {
    ...mention,
    isExample,
    candidate: {
      candidate_entity_phrase: mention.phrase,
      most_likely_category: category,
      exclude_from_results: mention.isNegated || isExample,
      corrected_and_normalized_entity: name,
    },
  }
}

/** "It" is a film and "it" is not: in a longer query a title must be quoted or written with its capitals. */
function meansTitle(span: Span, title: string): boolean {
  const phrase = span.query.slice(span.start, span.end)
  if (isQuoted(span)) return true
  const isWhole = folded(span.query) === folded(phrase)
  const isTelling = wordsOf(phrase).some((word) => !isFunctionWord(word))
  if (isWhole && isTelling) return true
  if (isWhole) return span.query.trim() === title
  return isTelling && span.count > 1 ? hasCapitals(phrase) : isWrittenAsName(span) && title === phrase
}

function isQuoted({ query, start, end }: Span): boolean {
  return /["“]$/.test(query.slice(0, start)) && /^["”]/.test(query.slice(end))
}

/** Capitalised, and not merely because the query begins there. */
function isWrittenAsName(span: Span): boolean {
  return span.start > 0 && hasCapitals(span.query.slice(span.start, span.end))
}

function hasCapitals(phrase: string): boolean {
  return (
    phrase.split(/[\s-]+/).every((word) => /^[\p{Lu}\p{N}]/u.test(word) || isFunctionWord(word)) &&
    /\p{Lu}/u.test(phrase)
  )
}
