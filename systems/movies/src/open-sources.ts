import type { Environment } from '@keyspec-systems/model'
import type { Patience } from '@keyspec-systems/model/http'

import type { Catalogue } from './catalogue/catalogue.ts'
import { embeddedDetails } from './detail/embedded.ts'
import type { DetailSource } from './detail/movie-detail.ts'
import { tmdb } from './tmdb/client.ts'
import { tmdbSettings } from './tmdb/settings.ts'
import { embeddedTrending } from './trending/embedded.ts'
import type { TrendingSource } from './trending/trending-source.ts'

/** Details and trending films: TMDB's where `TMDB_TOKEN` is set, otherwise the catalogue's own. */
export function openSources(
  environment: Environment,
  catalogue: Catalogue,
  patience: Patience = {},
): { readonly details: DetailSource; readonly trending: TrendingSource } {
  const settings = tmdbSettings(environment)
  if (settings !== undefined) return tmdb(settings, catalogue, { timeoutMs: 10_000, ...patience })
  return { details: embeddedDetails(catalogue), trending: embeddedTrending(catalogue) }
}
