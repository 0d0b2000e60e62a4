import type { Catalogue } from '../catalogue/catalogue.ts'
import type { DetailSource } from './movie-detail.ts'

/** Details from the catalogue alone: no cast, no overview, no images. */
export function embeddedDetails(catalogue: Catalogue): DetailSource {
  const name = 'embedded:vega-datasets'
  return {
    name,
    async detail(id) {
      const film = catalogue.byId(id)
      if (film === undefined) return undefined
      return {
        id,
        source: name,
        title: film.title,
        overview: null,
        tagline: null,
        release_date: film.releaseDate,
        runtime_minutes: film.runtimeMinutes ?? null,
        genres: [...film.genres],
        cast: [],
        crew: film.director === undefined ? [] : [{ name: film.director, job: 'Director' }],
        production_companies: film.distributor === undefined ? [] : [film.distributor],
        spoken_languages: [],
        budget_dollars: film.budgetDollars ?? null,
        revenue_dollars: film.grossDollars ?? null,
        poster_path: null,
        backdrop_path: null,
      }
    },
  }
}
