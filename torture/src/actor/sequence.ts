import type { Routine } from './world.ts'

/** Takes numbers from a sequence. */
export const sequence: Routine = {
  pauseMs: 25,
  async step({ keys, record, random }) {
    const count = random.whole(1, 3)
    await record({ recipe: 'ids', verb: 'nextMany', key: 'ids', asked: count }, () =>
      keys.ids().nextMany(count),
    )
  },
}
