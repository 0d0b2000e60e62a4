import { now, pause } from '../clock.ts'
import type { Fault, Scene } from './fault.ts'

/** Steps the server's clock either way, and back. */
export const clockStep: Fault = {
  name: 'clock-step',
  possible: ({ stepClock }) => stepClock !== undefined,
  async inflict(scene) {
    const { random } = scene
    const ms = random.pick([-1, 1]) * random.whole(2000, 8000)
    step(scene, ms, ms > 0)
    await pause(random.whole(200, 1200))
    step(scene, 0, ms < 0)
  },
}

function step(scene: Scene, ms: number, forward: boolean): void {
  const from = now()
  scene.topology.stepClock?.(ms)
  if (forward) scene.lose({ cause: 'clock-forward', from, to: now() + 1 })
  else scene.clockWentBack = true
}
