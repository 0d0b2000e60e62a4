import { type Environment, openModel } from '@keyspec-systems/model'
import type { Patience } from '@keyspec-systems/model/http'

import { loadCatalogue } from '../catalogue/catalogue.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { openMovies, type Opened } from '../keyspace.ts'
import type { Log } from '../log.ts'
import { openSources } from '../open-sources.ts'
import type { Parts } from '../request/parts.ts'
import { buildVectorIndex } from '../search/vector-index.ts'
import { environmentName, required } from '../settings.ts'
import type { TrendingSource } from '../trending/trending-source.ts'
import { openUnderstander } from '../understanding/open-understander.ts'
import { versionOf } from '../understanding/version.ts'

/** What requests are answered with, opened from the environment. */
export interface OpenedParts extends Parts {
  readonly opened: Opened
  readonly trending: TrendingSource
}

/** How it is opened, where that is not for the environment to say. */
export interface OpenPartsOptions {
  readonly log: Log
  /** The films that ship unless told. */
  readonly catalogue?: Catalogue
  readonly patience?: Patience
  /** Ends the opening, of which the films' vectors take longest. */
  readonly signal?: AbortSignal
  readonly patienceMs?: number
}

/** Opens everything that the environment names; settings that are missing or contradict themselves are an error. */
export async function openParts(environment: Environment, options: OpenPartsOptions): Promise<OpenedParts> {
  const { log, catalogue = loadCatalogue(), patience, patienceMs, signal } = options
  const name = environmentName(environment)
  const url = required(environment, 'REDIS_URL')
  const model = openModel(environment, patience)
  const understander = openUnderstander(model, catalogue)
  const version = versionOf(understander, environment)
  const { details, trending } = openSources(environment, catalogue, patience)
  const index = await buildVectorIndex(catalogue.films, model.embedder, signal)
  const opened = openMovies({
    url,
    environment: name,
    dimensions: model.embedder.dimensions,
    log,
    ...(patienceMs === undefined ? {} : { patienceMs }),
  })
  const { embedder } = model
  return {
    keys: opened.keys,
    opened,
    catalogue,
    index,
    embedder,
    understander,
    version,
    details,
    trending,
    log,
    ready: () => opened.connection.send(['PING'], { firstKey: 0, keyCount: 0 }),
  }
}
