import type { Embedder } from '@keyspec-systems/model'

import type { Catalogue } from '../catalogue/catalogue.ts'
import type { DetailSource } from '../detail/movie-detail.ts'
import type { Log } from '../log.ts'
import type { Movies } from '../schema.ts'
import type { VectorIndex } from '../search/vector-index.ts'
import type { Understander } from '../understanding/understander.ts'

/** What requests are answered with. */
export interface Parts {
  readonly keys: Movies
  readonly catalogue: Catalogue
  readonly index: VectorIndex
  readonly embedder: Embedder
  readonly understander: Understander
  /** The `N` of `qu:v<N>:<queryHash>`: see `versionOf`. */
  readonly version: number
  readonly details: DetailSource
  readonly log: Log
  /** Comes back while Redis answers. */
  readonly ready?: () => Promise<unknown>
}
