import { now } from '../clock.ts'
import type { Fault } from './fault.ts'

/** The keys beside those that hold the data: an eviction may take any of them. */
const SIDE_KEYS = [
  '{queue}:attempts',
  '{queue}:deadlines',
  '{queue}:errors',
  '{queue}:finished',
  '{queue}:holders',
  '{queue}:recent',
  'fence:{a}',
  'page-lock:{page:a}',
  '{swap}:next',
]

/** Deletes a side key, as an eviction does. */
export const evict: Fault = {
  name: 'evict',
  async inflict(scene) {
    const key = scene.random.pick(SIDE_KEYS)
    const from = now()
    await scene.topology.ask('DEL', key)
    const to = now()
    if (key === '{queue}:deadlines') scene.deadlinesWent = true
    if (key === '{queue}:recent') scene.lose({ cause: 'evicted-recent', from, to })
    if (key === 'fence:{a}' && scene.clockWentBack) scene.lose({ cause: 'clock-back', from, to })
  },
}
