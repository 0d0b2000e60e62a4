import type { Routine } from './world.ts'

/** Changes a number by what it is. */
export const update: Routine = {
  pauseMs: 25,
  async step({ keys, record }) {
    await record({ recipe: 'balance', verb: 'update', key: 'a' }, () =>
      keys.balance({ id: 'a' }).update((value = 0) => value + 1),
    )
  },
}
