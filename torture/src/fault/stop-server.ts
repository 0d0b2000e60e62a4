import { BOUND_MS } from '../actor/record.ts'
import { pause } from '../clock.ts'
import type { Fault } from './fault.ts'

/** Stops a primary in its tracks (SIGSTOP), too briefly for a failover. */
export const stopServer: Fault = {
  name: 'stop-server',
  async inflict({ topology, random }) {
    const server = await topology.primary(random)
    const ms = random.whole(100, topology.handOver === undefined && topology.name !== 'sentinel' ? 1500 : 500)
    server.pause()
    try {
      await pause(ms)
    } finally {
      server.resume()
    }
  },
}

/** Stops the server for longer than the bound within which every verb must settle. */
export const silence: Fault = {
  name: 'silence',
  needsMs: 180_000,
  possible: ({ address }) => address.kind === 'server',
  async inflict({ topology, random }) {
    const server = await topology.primary(random)
    server.pause()
    try {
      await pause(BOUND_MS + 2000)
    } finally {
      server.resume()
    }
  },
}
