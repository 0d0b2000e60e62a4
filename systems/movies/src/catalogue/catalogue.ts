import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

import * as v from 'valibot'

import type { Film } from './film.ts'
import { filmOf, RawFilm } from './raw-film.ts'

/** The films that can be searched. */
export interface Catalogue {
  readonly films: readonly Film[]
  byId(id: number): Film | undefined
}

/**
 * The 3,201 films of `vega-datasets`, which is pinned, so that an id always means the same film. The package's code is
 * under BSD-3-Clause; it states no licence for the film data, which serves here as test data and is not distributed.
 */
export function loadCatalogue(): Catalogue {
  const entry = createRequire(import.meta.url).resolve('vega-datasets')
  const file = new URL('../data/movies.json', pathToFileURL(entry))
  const raw = v.parse(v.array(RawFilm), JSON.parse(readFileSync(file, 'utf8')))
  return catalogueOf(raw.map((film, index) => filmOf(film, index + 1)))
}

/** A catalogue of these films. */
export function catalogueOf(films: readonly Film[]): Catalogue {
  const byId = new Map(films.map((film) => [film.id, film]))
  return { films, byId: (id) => byId.get(id) }
}
