import type { Proxy } from '../../../test-support/proxy.ts'
import { pause } from '../clock.ts'
import type { Fault, Scene } from './fault.ts'

/** Returns the proxies of some actors, at least one. */
function some({ crew, random }: Scene): Proxy[] {
  const proxies = crew.actors.flatMap(({ way }) => way.proxy ?? [])
  const first = random.pick(proxies)
  return proxies.filter((proxy) => proxy === first || random.chance(0.5))
}

/** Breaks the connections of some actors for a while, and cuts them. */
function network(
  name: string,
  harm: (proxy: Proxy) => void,
  [shortestMs, longestMs]: readonly [number, number],
): Fault {
  return {
    name,
    possible: ({ address }) => address.kind === 'server',
    async inflict(scene) {
      const proxies = some(scene)
      for (const proxy of proxies) harm(proxy)
      await pause(scene.random.whole(shortestMs, longestMs))
      for (const proxy of proxies) proxy.cut()
      await Promise.all(proxies.map((proxy) => proxy.restore()))
    },
  }
}

/** Ends all connections. */
export const cut = network('cut', () => {}, [0, 0])

/** Delays everything, in both directions. */
export const slow = network('slow', (proxy) => proxy.slow(100), [300, 1000])

/** The server's side is gone, and the client does not know. */
export const halfOpen = network('half-open', (proxy) => proxy.halfOpen(), [300, 2000])

/** Requests get lost on their way, and then the connection. */
export const loseRequest = network('lose-request', (proxy) => proxy.stall('requests'), [20, 200])

/** Requests arrive, their replies get lost, and then the connection. */
export const loseReply = network('lose-reply', (proxy) => proxy.stall('replies'), [20, 200])

/** The server ends the connections of its clients. */
export const killConnections: Fault = {
  name: 'kill-connections',
  async inflict({ topology, random }) {
    const server = await topology.primary(random)
    await server.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  },
}
