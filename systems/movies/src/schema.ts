import { decimal, digest, float32, integer, json, type Keyspace, number } from 'keyspec'
import { cache, scoredSnapshot, snapshot, type SnapshotOptions } from 'keyspec/recipes'

import { MovieDetail } from './detail/movie-detail.ts'
import { normalised } from './normalised.ts'
import { QueryUnderstanding } from './understanding/query-understanding.ts'
import { fingerprints, QU_VERSION } from './understanding/version.ts'

/** What the schema depends on. */
export interface MoviesSchemaOptions {
  /** The length of a vector; 1,536 unless told. Where it is not the model's own, the model's name says it too. */
  readonly dimensions?: number
  /** Told of each read that found no trending films: the key, and why where Redis could not be asked. */
  readonly onTrendingMissing?: SnapshotOptions['onMissing']
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
      params: { version: number, queryHash: textHash },
      // `keyspec check --against manifest.json` fails where these change and N does not.
      fingerprint: { version: QU_VERSION, of: fingerprints() },
      about: 'All that the graph understood of a query, in one piece',
    }),
    trending: snapshot('trending:current', integer, {
      ...trendingOptions,
      ...(onTrendingMissing === undefined ? {} : { onMissing: onTrendingMissing }),
    }),
    movie: cache('tmdb:movie:<id>', json(MovieDetail), {
      ttl: '1d',
      params: { id: number },
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
  return scoredSnapshot('trending:current', integer, decimal, {
    ...trendingOptions,
    ...(onTrendingMissing === undefined ? {} : { onMissing: onTrendingMissing }),
  })
}

// 64 bits: enough for the texts of a week. The case is kept, since "It" is not "it".
const textHash = digest(16, normalised)

const trendingOptions = {
  staging: 'trending:next',
  ttl: 'forever',
  because: 'each successful refresh replaces it whole; after a failed one the old list is better than none',
  unreachable: 'empty',
  about: 'Internal ids of the films that trend today',
} as const
