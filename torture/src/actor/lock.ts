import { now, pause } from '../clock.ts'
import type { Routine } from './world.ts'

/** Holds a lock for a while, sometimes longer than its lease. */
export const lock: Routine = {
  pauseMs: 20,
  async step({ keys, record, random }) {
    const key = random.pick(['a', 'b'])
    const acquired = await record(
      { recipe: 'lock', verb: 'acquire', key },
      () => keys.lock({ id: key }).acquire(),
      (held) => {
        if (!held.acquired) return { ours: false }
        // The time before the answer: what the lock says then cannot be too late.
        const asked = now()
        return { ours: true, token: held.token, fence: held.fence, until: asked + held.leftMs }
      },
    )
    if (!('value' in acquired) || !acquired.value.acquired) return
    const held = acquired.value
    await pause(random.chance(0.05) ? 1700 : random.whole(0, 60))
    if (random.chance(0.3)) {
      await record(
        { recipe: 'lock', verb: 'extend', key, asked: held.token },
        () => held.extend(),
        (ours) => {
          const asked = now()
          return { ours, token: held.token, until: asked + held.leftMs }
        },
      )
      await pause(random.whole(0, 30))
    }
    await record({ recipe: 'lock', verb: 'release', key, asked: held.token }, () => held.release())
  },
}
