import { serveStandIn, type StandIn } from '@keyspec-systems/model/stand-in'

import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Film } from '../catalogue/film.ts'
import { folded } from '../understanding/name-index.ts'

/** What it calls itself wherever it shows. */
const tmdbStandInName = 'stand-in for TMDB'

/** What the stand-in knows beside the catalogue. */
export interface TmdbStandInOptions {
  readonly token?: string
  /** Internal ids that it calls trending; none unless told. Read at each request. */
  readonly trending?: readonly number[]
  readonly port?: number
}

// Its ids are not the catalogue's, as TMDB's are not.
const OFFSET = 70_000

/** Serves the catalogue in the shape of TMDB's API, with an invented cast and the bulk that TMDB sends. */
export function startTmdbStandIn(catalogue: Catalogue, options: TmdbStandInOptions = {}): Promise<StandIn> {
  const { token = 'tmdb-token', trending = [], port } = options
  return serveStandIn(
    tmdbStandInName,
    ({ url, headers }) => {
      if (headers.authorization !== `Bearer ${token}`) {
        return { status: 401, body: { success: false, status_code: 7, status_message: 'Invalid API key' } }
      }
      const path = url.pathname.replace(/^\/3\//, '')
      const id = /^movie\/(\d+)$/.exec(path)?.[1]
      const film = id === undefined ? undefined : catalogue.byId(Number(id) - OFFSET)
      if (film !== undefined)
        return { body: rawMovie(film, url.searchParams.get('append_to_response') === 'credits') }
      if (path === 'search/movie') {
        const sought = folded(url.searchParams.get('query') ?? '')
        const year = Number(url.searchParams.get('primary_release_year'))
        const found = catalogue.films.filter((each) => folded(each.title) === sought && each.year === year)
        return { body: { page: 1, results: found.map(listed) } }
      }
      if (path === 'trending/movie/day') {
        return {
          body: { page: 1, results: trending.flatMap((each) => catalogue.byId(each) ?? []).map(listed) },
        }
      }
      return { status: 404, body: { success: false, status_code: 34, status_message: 'Not found' } }
    },
    port,
  )
}

function listed(film: Film): unknown {
  return {
    id: film.id + OFFSET,
    title: film.title,
    original_title: film.title,
    release_date: film.releaseDate,
    video: false,
  }
}

function rawMovie(film: Film, withCredits: boolean): unknown {
  const cast = Array.from({ length: 40 }, (_, at) => ({
    id: at,
    name: `Invented Player ${at}`,
    character: `Role ${at}`,
    order: 39 - at,
    profile_path: null,
  }))
  const crew = [
    { name: film.director ?? 'Invented Director', job: 'Director', department: 'Directing' },
    ...Array.from({ length: 100 }, (_, at) => ({
      name: `Invented Hand ${at}`,
      job: 'Grip',
      department: 'Crew',
    })),
  ]
  return {
    id: film.id + OFFSET,
    title: film.title,
    overview: `An invented overview of ${film.title}.`,
    tagline: '',
    release_date: film.releaseDate,
    runtime: film.runtimeMinutes ?? 0,
    genres: film.genres.map((name, id) => ({ id, name })),
    production_companies: [{ id: 1, name: film.distributor ?? 'Invented Pictures', logo_path: null }],
    spoken_languages: [{ iso_639_1: 'en', english_name: 'English', name: 'English' }],
    budget: film.budgetDollars ?? 0,
    revenue: film.grossDollars ?? 0,
    poster_path: '/poster.jpg',
    backdrop_path: null,
    belongs_to_collection: { name: 'what we do not use' },
    ...(withCredits ? { credits: { cast, crew } } : {}),
  }
}
