import { now } from '../clock.ts'
import type { Routine } from './world.ts'

/** Advances a watermark, sometimes to where it has long been, and reads it. */
export const mark: Routine = {
  pauseMs: 25,
  async step({ keys, record, random }) {
    if (random.chance(0.5)) {
      await record({ recipe: 'mark', verb: 'get', key: 'mark' }, () => keys.mark().get())
      return
    }
    const value = Math.floor(now()) - random.whole(0, 200)
    await record(
      { recipe: 'mark', verb: 'advance', key: 'mark', asked: value },
      () => keys.mark().advance(value),
      (advanced) => advanced.value,
    )
  },
}
