import { now } from '../clock.ts'
import type { Routine } from './world.ts'

/** Takes from limiters that all processes share, and from one of its own that is often fresh, so that much is left. */
export const limiter: Routine = {
  pauseMs: 20,
  async step({ keys, record, random, name }) {
    const recipe = random.pick(['sliding', 'compact', 'fixed'] as const)
    const key = random.pick(['a', `${name}-${Math.floor(now() / 1500)}`])
    await record(
      { recipe, verb: 'take', key },
      () => keys[recipe]({ id: key }).take(),
      ({ allowed, from }) => ({ allowed, from }),
    )
  },
}
