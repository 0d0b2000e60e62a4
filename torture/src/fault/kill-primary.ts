import type { Fault } from './fault.ts'

/** Kills a primary with SIGKILL. A replica takes its place, or the server starts again. */
export const killPrimary: Fault = {
  name: 'kill-primary',
  async inflict({ topology, random, lose }) {
    const loss = await topology.crash(random)
    if (loss !== undefined) lose(loss)
  },
}
