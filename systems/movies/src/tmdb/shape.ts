import type { MovieDetail } from '../detail/movie-detail.ts'
import type { RawMovie } from './answer.ts'

// TMDB lists hundreds of names for a large film; a page shows these, and an entry stays within a few kilobytes.
const CAST = 20
const JOBS = new Set([
  'Director',
  'Screenplay',
  'Writer',
  'Producer',
  'Director of Photography',
  'Original Music Composer',
])

/** Our answer out of TMDB's: the leading cast and crew, zeros as null, nothing that we do not use. */
export function shaped(id: number, raw: RawMovie): MovieDetail {
  return {
    id,
    source: 'tmdb',
    title: raw.title,
    overview: raw.overview || null,
    tagline: raw.tagline || null,
    release_date: raw.release_date || null,
    runtime_minutes: raw.runtime || null,
    genres: raw.genres.map(({ name }) => name),
    cast: raw.credits.cast
      .toSorted((a, b) => a.order - b.order)
      .slice(0, CAST)
      .map(({ name, character }) => ({ name, character: character || null })),
    crew: raw.credits.crew.filter(({ job }) => JOBS.has(job)).map(({ name, job }) => ({ name, job })),
    production_companies: raw.production_companies.map(({ name }) => name),
    spoken_languages: raw.spoken_languages.flatMap(
      ({ english_name: english, name }) => english || name || [],
    ),
    budget_dollars: raw.budget || null,
    revenue_dollars: raw.revenue || null,
    poster_path: raw.poster_path || null,
    backdrop_path: raw.backdrop_path || null,
  }
}
