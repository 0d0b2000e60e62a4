import type { Fault } from './fault.ts'

/** Kills a worker of the queue with SIGKILL, and starts another. */
export const killWorker: Fault = {
  name: 'kill-worker',
  async inflict({ crew, random }) {
    await crew.replace(random.pick(crew.actors.filter(({ order }) => order.role === 'worker')))
  },
}
