import { requestJson, UpstreamError, type Patience } from '@keyspec-systems/model/http'
import type * as v from 'valibot'

import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Film } from '../catalogue/film.ts'
import type { DetailSource } from '../detail/movie-detail.ts'
import type { TrendingSource } from '../trending/trending-source.ts'
import { folded } from '../understanding/name-index.ts'
import { MovieList, RawMovie } from './answer.ts'
import type { TmdbSettings } from './settings.ts'
import { shaped } from './shape.ts'

/**
 * The Movie Database, version 3 of its API. The catalogue has no TMDB ids: a film is looked up once by title and year,
 * and its TMDB id remembered for the life of the process.
 */
export function tmdb(
  settings: TmdbSettings,
  catalogue: Catalogue,
  patience: Patience = {},
): { readonly details: DetailSource; readonly trending: TrendingSource } {
  const idOf = new Map<number, number>()
  const byTitle = filmsByTitle(catalogue.films)

  async function get<S extends v.GenericSchema>(path: string, schema: S, signal: AbortSignal | undefined) {
    const url = new URL(path, settings.baseUrl)
    return requestJson({ service: 'TMDB', url, token: settings.token, schema, signal }, patience)
  }

  async function tmdbIdOf(film: Film, signal: AbortSignal | undefined): Promise<number | undefined> {
    const known = idOf.get(film.id)
    if (known !== undefined) return known
    const query = new URLSearchParams({ query: film.title, primary_release_year: String(film.year) })
    const { results } = await get(`search/movie?${query.toString()}`, MovieList, signal)
    const found = results.find(({ title }) => folded(title) === folded(film.title)) ?? results[0]
    if (found !== undefined) idOf.set(film.id, found.id)
    return found?.id
  }

  return {
    details: {
      name: 'tmdb',
      async detail(id, signal) {
        const film = catalogue.byId(id)
        const tmdbId = film && (await tmdbIdOf(film, signal))
        if (tmdbId === undefined) return undefined
        try {
          return shaped(id, await get(`movie/${tmdbId}?append_to_response=credits`, RawMovie, signal))
        } catch (error) {
          if (error instanceof UpstreamError && error.reason === 'missing') return undefined
          throw error
        }
      },
    },
    trending: {
      name: 'tmdb',
      async fetch(signal) {
        const { results } = await get('trending/movie/day', MovieList, signal)
        return results.flatMap(({ title, release_date: date }) => {
          const films = byTitle.get(folded(title)) ?? []
          // Dates differ between countries, by a year at most.
          const film = films.find(({ year }) => Math.abs(year - Number(date?.slice(0, 4))) <= 1)
          return film === undefined ? [] : [film.id]
        })
      },
    },
  }
}

function filmsByTitle(films: readonly Film[]): Map<string, Film[]> {
  const byTitle = new Map<string, Film[]>()
  for (const film of films)
    byTitle.set(folded(film.title), [...(byTitle.get(folded(film.title)) ?? []), film])
  return byTitle
}
