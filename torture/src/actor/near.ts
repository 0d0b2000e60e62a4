import type { Routine } from './world.ts'

/** Writes, deletes and reads values of which each process keeps copies. */
export const near: Routine = {
  pauseMs: 15,
  async step({ keys, record, random, unique }) {
    const key = random.pick(['a', 'b', 'c'])
    const near = keys.near({ id: key })
    const chance = random.next()
    if (chance < 0.04) {
      const value = unique()
      await record({ recipe: 'near', verb: 'set', key, asked: value }, () => near.set(value))
    } else if (chance < 0.07) await record({ recipe: 'near', verb: 'delete', key }, () => near.delete())
    else await record({ recipe: 'near', verb: 'get', key }, () => near.get())
  },
}
