import { stale } from './cache-deleted.ts'
import type { Model } from './model.ts'

/** A read that began after a delete never joins a read of its process that the delete overtook. */
export const cacheOvertaken: Model = {
  invariant: 'cache-overtaken',
  judge: (evidence) => stale(evidence, { joined: true }),
}
