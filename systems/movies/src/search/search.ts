import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Film } from '../catalogue/film.ts'
import { channels, type QueryUnderstanding, type Relevance } from '../understanding/query-understanding.ts'
import { isUnwanted, lexicalScore } from './lexical.ts'
import { metadataScore, passes, popularity, unanswerable } from './metadata.ts'
import type { VectorChannel, VectorIndex } from './vector-index.ts'

/** Everything that a ranking depends on beside the catalogue and its vectors. */
export interface SearchRequest {
  readonly understanding: QueryUnderstanding
  /** The vector of the query under `anchor`, and of each subquery under its channel. */
  readonly embeddings: ReadonlyMap<VectorChannel, Float32Array>
  /** The ids of the films that are trending; read once a request. */
  readonly trending: ReadonlySet<number>
  /** 20 unless told. */
  readonly limit?: number
}

/** A film that was found, and what its score is made of. */
export interface Found {
  readonly movieId: number
  readonly title: string
  readonly year: number
  readonly score: number
  readonly parts: { readonly lexical: number; readonly metadata: number; readonly vector: number }
  readonly isTrending: boolean
}

/** The films that were found, the best first. */
export interface SearchResult {
  readonly results: readonly Found[]
  /** Films that satisfied every hard demand. */
  readonly candidates: number
  /** Preferences that this catalogue cannot answer. */
  readonly ignored: readonly string[]
}

/** What a trending film is given where the query asks for such: as much as a medium match. */
export const TRENDING_BONUS = 0.25

// Breaks ties towards what people know, too weakly to overrule a match.
const POPULARITY_SHARE = 0.02

const numberOf: Readonly<Record<Relevance, number>> = { not_relevant: 0, small: 1, medium: 2, large: 3 }

/**
 * Ranks the catalogue for a query, from its arguments alone: the mean of the lexical, metadata and vector scores (each
 * 0 to 1), weighed by `channel_weights` (not_relevant 0, small 1, medium 2, large 3), plus the trending bonus and a
 * small share of popularity.
 */
export function search(catalogue: Catalogue, index: VectorIndex, request: SearchRequest): SearchResult {
  const { understanding, trending, limit = 20 } = request
  const { metadata_preferences: preferences, channel_weights: weights } = understanding
  const entities = understanding.lexical_entities.entity_candidates
  const candidates = catalogue.films
    .map((film, at) => ({ film, at }))
    .filter(({ film }) => passes(film, preferences) && !isUnwanted(film, entities))
  const vectorOf = vectorScores(index, request)
  const lexical = numberOf[weights.lexical_relevance]
  const metadata = numberOf[weights.metadata_relevance]
  const vector = numberOf[weights.vector_relevance]
  const total = lexical + metadata + vector || 1
  const wantsTrending = preferences.popular_trending_preference.prefers_trending_movies

  const found = candidates.map(({ film, at }) => {
    const parts = {
      lexical: lexicalScore(film, entities),
      metadata: metadataScore(film, preferences),
      vector: vectorOf(at),
    }
    const isTrending = trending.has(film.id)
    const score =
      (lexical * parts.lexical + metadata * parts.metadata + vector * parts.vector) / total +
      (wantsTrending && isTrending ? TRENDING_BONUS : 0) +
      POPULARITY_SHARE * popularity(film)
    return { film, parts, isTrending, score }
  })
  found.sort((a, b) => b.score - a.score || a.film.id - b.film.id)
  return {
    results: found.slice(0, limit).map(shown),
    candidates: candidates.length,
    ignored: unanswerable(preferences),
  }
}

/** The weighed mean of the channels that have a vector, each scaled so that its best film has 1. */
function vectorScores(
  index: VectorIndex,
  { understanding, embeddings }: SearchRequest,
): (at: number) => number {
  const weighed = [
    // The query as a whole always counts a little.
    { channel: 'anchor' as const, weight: numberOf.small },
    ...channels.map((channel) => ({
      channel,
      weight: numberOf[understanding.vector_weights[`${channel}_data`].relevance],
    })),
  ]
  const scored = weighed.flatMap(({ channel, weight }) => {
    const vector = embeddings.get(channel)
    if (vector === undefined || weight === 0) return []
    const cosines = index.cosines(channel, vector)
    return [{ cosines, weight, best: cosines.reduce((best, each) => Math.max(best, each), 0) }]
  })
  const total = scored.reduce((sum, { weight }) => sum + weight, 0)
  return (at) => {
    let sum = 0
    for (const { cosines, weight, best } of scored)
      if (best > 0) sum += (weight * Math.max(0, cosines[at]!)) / best
    return total === 0 ? 0 : sum / total
  }
}

function shown({
  film,
  score,
  parts,
  isTrending,
}: Omit<Found, 'movieId' | 'title' | 'year'> & { film: Film }): Found {
  const { id, title, year } = film
  return {
    movieId: id,
    title,
    year,
    score: rounded(score),
    parts: {
      lexical: rounded(parts.lexical),
      metadata: rounded(parts.metadata),
      vector: rounded(parts.vector),
    },
    isTrending,
  }
}

function rounded(score: number): number {
  return Math.round(score * 1e4) / 1e4
}
