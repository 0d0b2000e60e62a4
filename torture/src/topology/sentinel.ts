import { eventually, type TemporaryRedis } from 'keyspec/testing'
import { startSentinels } from '../../../test-support/sentinel.ts'
import type { Address } from '../actor/order.ts'
import { now, pause } from '../clock.ts'
import type { Loss } from '../model/losses.ts'
import type { Topology } from './topology.ts'

// For so long of each second the replica stands still. Sentinel would hold it for down after a whole one.
const LAG_MS = 600

/** Starts a primary and a replica that lags, under three Sentinels. */
export async function startSentinelTopology(): Promise<Topology> {
  const set = await startSentinels()
  let crashing = false
  let stopped = false
  const unasked: Loss[] = []
  let known = await set.master()
  let seenAt = now()
  const lagging = lag()

  /** Stops the replica and lets it go on, again and again, and looks whether it has become the primary. */
  async function lag(): Promise<void> {
    while (!stopped) {
      const replica = crashing ? undefined : await replicaOf().catch(() => undefined)
      if (replica !== undefined) {
        if (replica === known) {
          unasked.push({ cause: 'crash-failover', from: seenAt - 2000, to: now() })
          known = set.servers.find((server) => server !== replica)!
        }
        seenAt = now()
      }
      if (replica?.pid !== undefined && !crashing) {
        replica.pause()
        await pause(LAG_MS)
        if (!crashing && replica.pid !== undefined) replica.resume()
      }
      await pause(1000 - LAG_MS)
    }
  }

  async function replicaOf(): Promise<TemporaryRedis> {
    const primary = await set.master()
    return set.servers.find((server) => server !== primary)!
  }

  const address: Address = { kind: 'sentinel', name: set.name, ports: set.sentinels.map(({ port }) => port!) }
  return {
    name: 'sentinel',
    clients: ['node-redis', 'ioredis'],
    address,
    async connect() {
      return { address, proxy: undefined }
    },
    servers: set.servers,
    primary: () => eventually(() => set.master(), { within: '30s' }),
    ask: async (...words) => (await set.master()).command(...words),
    async crash() {
      crashing = true
      try {
        const [primary, replica] = [await set.master(), await replicaOf()]
        // The link breaks while the replica stands still: what is written from now on never reaches it.
        replica.pause()
        const from = now()
        await primary.command('CLIENT', 'KILL', 'TYPE', 'replica')
        await pause(300)
        const failover = set.failover()
        failover.catch(() => {}) // waited for below
        await eventually(() => {
          if (primary.pid !== undefined) throw new Error('The primary still runs.')
        })
        replica.resume()
        known = await failover
        const to = now()
        await set.recover()
        return { cause: 'crash-failover', from, to }
      } finally {
        crashing = false
      }
    },
    unasked,
    async stop() {
      stopped = true
      await lagging
      await set.stop()
    },
  }
}
