import type { Film } from '../catalogue/film.ts'
import { folded } from '../understanding/name-index.ts'
import type { EntityCandidate } from '../understanding/query-understanding.ts'

/** How well a film matches the names that are wanted, from 0 to 1. */
export function lexicalScore(film: Film, candidates: readonly EntityCandidate[]): number {
  const wanted = candidates.filter((each) => !each.exclude_from_results)
  if (wanted.length === 0) return 0
  return wanted.reduce((sum, each) => sum + matchOf(film, each), 0) / wanted.length
}

/** True for a film that the query names as unwanted. */
export function isUnwanted(film: Film, candidates: readonly EntityCandidate[]): boolean {
  return candidates.some((each) => each.exclude_from_results && matchOf(film, each) === 1)
}

function matchOf(
  film: Film,
  { most_likely_category: category, corrected_and_normalized_entity: entity }: EntityCandidate,
) {
  const name = folded(entity)
  if (name === '') return 0
  switch (category) {
    case 'movie_title':
      return titleMatch(folded(film.title), name)
    case 'person':
      return nameMatch(film.director, name)
    case 'studio':
      return nameMatch(film.distributor, name)
    case 'franchise':
    case 'character':
      return contains(folded(film.title), name) ? 1 : 0
  }
}

/** 1 for the title itself; less for a title that only shares words with it. */
function titleMatch(title: string, name: string): number {
  if (title === name) return 1
  const words = title.split(' ')
  const sought = name.split(' ')
  const shared = sought.filter((word) => words.includes(word)).length
  return (0.8 * shared) / Math.max(words.length, sought.length)
}

function nameMatch(known: string | undefined, name: string): number {
  if (known === undefined) return 0
  const full = folded(known)
  if (full === name) return 1
  return contains(full, name) ? 0.7 : 0
}

/** As whole words: "Alien" is not in "Aliens". */
function contains(text: string, words: string): boolean {
  return ` ${text} `.includes(` ${words} `)
}
