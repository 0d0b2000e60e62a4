import { pause } from '../clock.ts'
import type { Routine } from './world.ts'

/** Reads values that are loaded once each, and deletes them. */
export const cache: Routine = {
  pauseMs: 15,
  async step({ keys, record, random, unique }) {
    const key = random.pick(['a', 'b'])
    const page = keys.page({ id: key })
    if (random.chance(0.12)) {
      await record({ recipe: 'page', verb: 'delete', key }, () => page.delete())
      return
    }
    await record({ recipe: 'page', verb: 'read', key }, () =>
      page.getOrLoad(async () => {
        const loaded = await record({ recipe: 'page', verb: 'load', key }, async () => {
          await pause(random.whole(0, 30))
          return unique()
        })
        if ('value' in loaded) return loaded.value
        throw new Error('unreachable: this load does not fail')
      }),
    )
  },
}
