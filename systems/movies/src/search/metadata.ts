import { maturities, type Film } from '../catalogue/film.ts'
import type { MetadataPreferences } from '../understanding/query-understanding.ts'

/** True for a film that satisfies every hard demand; a fact that the catalogue lacks satisfies none. */
export function passes(film: Film, preferences: MetadataPreferences): boolean {
  const { result: genres } = preferences.genres_preference
  return (
    isReleased(film, preferences.release_date_preference.result) &&
    isAsLong(film, preferences.duration_preference.result) &&
    isRated(film, preferences.maturity_rating_preference.result) &&
    !(genres?.should_exclude.some((name) => hasGenre(film, name)) ?? false)
  )
}

/** How well a film meets what is only preferred, from 0 to 1; 0 where nothing is. */
export function metadataScore(film: Film, preferences: MetadataPreferences): number {
  const scores: number[] = []
  const wanted = preferences.genres_preference.result?.should_include ?? []
  if (wanted.length > 0) scores.push(wanted.filter((name) => hasGenre(film, name)).length / wanted.length)
  const { prefers_popular_movies: popular } = preferences.popular_trending_preference
  if (popular) scores.push(popularity(film))
  const { reception_type: reception } = preferences.reception_preference
  if (reception !== 'no_preference') {
    const liking = likingOf(film)
    scores.push(reception === 'critically_acclaimed' ? liking : liking === 0 ? 0 : 1 - liking)
  }
  return scores.length === 0 ? 0 : scores.reduce((sum, score) => sum + score, 0) / scores.length
}

/** How well known a film is, from 0 to 1: the logarithm of its votes, of which the catalogue has 519,541 at most. */
export function popularity({ votes = 0 }: Film): number {
  return Math.min(1, Math.log1p(votes) / Math.log1p(519_541))
}

/** What the query prefers and this catalogue cannot tell: it knows neither languages nor streaming services. */
export function unanswerable(preferences: MetadataPreferences): string[] {
  const names = ['audio_languages_preference', 'watch_providers_preference'] as const
  return names.filter((name) => preferences[name].result !== null)
}

function hasGenre(film: Film, name: string): boolean {
  return film.genres.some((genre) => genre.toLowerCase() === name.toLowerCase())
}

type Result<K extends keyof MetadataPreferences> = MetadataPreferences[K] extends { result: infer R }
  ? R
  : never

function isReleased({ releaseDate }: Film, wanted: Result<'release_date_preference'>): boolean {
  if (wanted === null) return true
  const { first_date: first, second_date: second, match_operation: operation } = wanted
  switch (operation) {
    case 'exact':
      return releaseDate === first
    case 'before':
      return releaseDate < first
    case 'after':
      return releaseDate > first
    case 'between':
      return releaseDate >= first && (second === null || releaseDate <= second)
  }
}

function isAsLong({ runtimeMinutes }: Film, wanted: Result<'duration_preference'>): boolean {
  if (wanted === null) return true
  if (runtimeMinutes === undefined) return false
  const { first_minutes: first, second_minutes: second, match_operation: operation } = wanted
  switch (operation) {
    case 'exact':
      // Nobody means the minute.
      return Math.abs(runtimeMinutes - first) <= 5
    case 'less_than':
      return runtimeMinutes < first
    case 'greater_than':
      return runtimeMinutes > first
    case 'between':
      return runtimeMinutes >= first && (second === null || runtimeMinutes <= second)
  }
}

function isRated({ maturity }: Film, wanted: Result<'maturity_rating_preference'>): boolean {
  if (wanted === null) return true
  if (maturity === undefined) return false
  const distance = maturities.indexOf(maturity) - maturities.indexOf(wanted.rating)
  switch (wanted.match_operation) {
    case 'exact':
      return distance === 0
    case 'at_most':
      return distance <= 0
    case 'at_least':
      return distance >= 0
  }
}

/** Critics and viewers together, from 0 to 1; a film that either does not know is not called liked. */
function likingOf({ criticsPercent, rating }: Film): number {
  return criticsPercent === undefined || rating === undefined ? 0 : (criticsPercent / 100 + rating / 10) / 2
}
