import { pause } from '../clock.ts'
import type { Fault } from './fault.ts'

/** The server answers nobody for a while (CLIENT PAUSE). */
export const clientPause: Fault = {
  name: 'client-pause',
  async inflict({ topology, random }) {
    const server = await topology.primary(random)
    const ms = random.whole(100, 700)
    await server.command('CLIENT', 'PAUSE', ms, random.pick(['ALL', 'WRITE']))
    await pause(ms)
  },
}

/** The server forgets all scripts. */
export const scriptFlush: Fault = {
  name: 'script-flush',
  async inflict({ topology, random }) {
    await (await topology.primary(random)).command('SCRIPT', 'FLUSH')
  },
}

/** The server has no memory left, and evicts nothing. */
export const outOfMemory: Fault = {
  name: 'out-of-memory',
  async inflict({ topology, random }) {
    const server = await topology.primary(random)
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
    await server.command('CONFIG', 'SET', 'maxmemory', 1)
    try {
      await pause(random.whole(100, 700))
    } finally {
      await server.command('CONFIG', 'SET', 'maxmemory', 0)
    }
  },
}

/** The server is made a replica of nothing, and a primary again. */
export const readOnly: Fault = {
  name: 'read-only',
  possible: ({ address }) => address.kind === 'server',
  async inflict({ topology, random }) {
    const server = await topology.primary(random)
    await server.command('REPLICAOF', '127.0.0.1', 1)
    try {
      await pause(random.whole(100, 700))
    } finally {
      await server.command('REPLICAOF', 'NO', 'ONE')
    }
  },
}

/** A script runs for so long that the server answers BUSY. */
export const busy: Fault = {
  name: 'busy',
  async inflict({ topology, random }) {
    const server = await topology.primary(random)
    await server.command('EVAL', `for i = 1, ${random.whole(10, 40)}000000 do end`, 0)
  },
}

/** The server can write and cannot, many times in the window of a limiter. */
export const flap: Fault = {
  name: 'flap',
  possible: ({ address }) => address.kind === 'server',
  async inflict({ topology, random }) {
    const server = await topology.primary(random)
    for (let times = random.whole(3, 8); times > 0; times -= 1) {
      await server.command('REPLICAOF', '127.0.0.1', 1)
      await pause(random.whole(50, 200))
      await server.command('REPLICAOF', 'NO', 'ONE')
      await pause(random.whole(20, 100))
    }
  },
}
