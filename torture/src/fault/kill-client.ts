import type { Fault } from './fault.ts'

/** Kills an actor that runs all recipes, with SIGKILL, and starts another. */
export const killClient: Fault = {
  name: 'kill-client',
  async inflict({ crew, random }) {
    await crew.replace(random.pick(crew.actors.filter(({ order }) => order.role === 'all')))
  },
}
