import { withoutEndSlashes } from '@keyspec-systems/program/end-slashes'
import type { Environment } from '@keyspec-systems/model'
import { SettingsError } from '@keyspec-systems/model'
import { Secret } from '@keyspec-systems/model/http'

/** Where TMDB is and the token that opens it. */
export interface TmdbSettings {
  /** Ends in `/`. */
  readonly baseUrl: string
  readonly token: Secret
}

/** Reads `TMDB_TOKEN`, without which there is no TMDB, and `TMDB_BASE_URL`, the real one unless told. */
export function tmdbSettings(environment: Environment): TmdbSettings | undefined {
  const token = environment['TMDB_TOKEN']?.trim()
  if (!token) return undefined
  const baseUrl = environment['TMDB_BASE_URL']?.trim() || 'https://api.themoviedb.org/3'
  if (!URL.canParse(baseUrl)) throw new SettingsError(`TMDB_BASE_URL is not a URL: ${baseUrl}`)
  return { baseUrl: `${withoutEndSlashes(baseUrl)}/`, token: new Secret(token) }
}
