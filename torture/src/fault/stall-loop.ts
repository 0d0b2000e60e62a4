import { pause } from '../clock.ts'
import type { Fault } from './fault.ts'

/** Holds up the event loop of an actor. */
export const stallLoop: Fault = {
  name: 'stall-loop',
  async inflict({ crew, random }) {
    const ms = random.whole(100, 1500)
    random.pick(crew.actors).tell({ tell: 'stall', ms })
    await pause(ms)
  },
}
