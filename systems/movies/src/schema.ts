import { float32, integer, json, type Keyspace, number, param } from 'keyspec'
import { cache, swapHash, type SwapOptions, swapSet } from 'keyspec/recipes'

import { MovieDetail } from './detail/movie-detail.ts'
import { normalised } from './normalised.ts'
import { QueryUnderstanding } from './understanding/query-understanding.ts'
import { fingerprints, QU_VERSION } from './understanding/version.ts'

/** What the schema depends on. */
export interface MoviesSchemaOptions {
  /** The length of a vector; 1,536 unless told. Where it is not the model's own, the model's name says it too. */
  readonly dimensions?: number
  /** Told of each read that found no trending films: the key, and why where Redis could not be asked. */
  readonly onTrendingMissing?: SwapOptions['onMissing']
}

/** Every key of the system, all of it cache. The environment stands before each: see `openMovies`. */
export function moviesSchema({ dimensions = 1536, onTrendingMissing }: MoviesSchemaOptions = {}) {
  return {
    embedding: cache('emb:<model*>:<textHash>', float32(dimensions), {
      ttl: '7d',
      params: { textHash },
      about: 'The vector of a text: the same for ever, for one model',
    }),
    queryUnderstanding: cache('qu:v<version>:<queryHash>', json(QueryUnderstanding), {
      ttl: '1d',
      params: { version: param.integer, queryHash: textHash },
      // `keyspec check --against manifest.json` fails where these change and N does not.
      fingerprint: { version: QU_VERSION, of: fingerprints() },
      about: 'All that the graph understood of a query, in one piece',
    }),
    trending: swapSet('trending:current', integer, {
      ...trendingOptions,
      ...(onTrendingMissing === undefined ? {} : { onMissing: onTrendingMissing }),
    }),
    movie: cache('tmdb:movie:<id>', json(MovieDetail), {
      ttl: '1d',
      params: { id: param.integer },
      about: 'What GET /movie/<id> answers, by internal id',
    }),
  }
}

/** The keyspace of the system. */
export type Movies = Keyspace<ReturnType<typeof moviesSchema>>

/**
 * The other form of `trending` that is found in the wild, a hash of id to score: declare it in place of the set where
 * programs write that.
 *
 * @example
 * const schema = { ...moviesSchema(), trending: scoredTrending() }
 */
export function scoredTrending({ onTrendingMissing }: Pick<MoviesSchemaOptions, 'onTrendingMissing'> = {}) {
  return swapHash('trending:current', integer, number, {
    ...trendingOptions,
    ...(onTrendingMissing === undefined ? {} : { onMissing: onTrendingMissing }),
  })
}

// 64 bits: enough for the texts of a week. The case is kept, since "It" is not "it".
const textHash = param.digest(16, normalised)

const trendingOptions = {
  staging: 'trending:next',
  ttl: 'forever',
  reason: 'each successful refresh replaces it whole; after a failed one the old list is better than none',
  unreachable: 'empty',
  about: 'Internal ids of the films that trend today',
} as const
