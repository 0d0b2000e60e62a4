import type { Routine } from './world.ts'

/** Takes from a quota of the hour, which all processes share. */
export const quota: Routine = {
  pauseMs: 60,
  async step({ keys, record, random }) {
    const key = random.pick(['a', 'b'])
    await record(
      { recipe: 'quota', verb: 'take', key },
      () => keys.quota({ id: key }).take(),
      ({ allowed, used, window }) => ({ allowed, used, window: window.toISOString() }),
    )
  },
}
