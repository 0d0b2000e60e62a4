import type { Model } from '@keyspec-systems/model'

import type { Catalogue } from '../catalogue/catalogue.ts'
import { embeddedUnderstander } from './embedded.ts'
import { graphUnderstander } from './graph.ts'
import type { Understander } from './understander.ts'

/** The language model's understanding where one is configured, otherwise the embedded rules'. */
export function openUnderstander({ chat }: Model, catalogue: Catalogue): Understander {
  return chat === undefined ? embeddedUnderstander(catalogue) : graphUnderstander(chat)
}
