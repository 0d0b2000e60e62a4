import { eventually, type TemporaryRedis } from 'keyspec/testing'
import { startSentinels } from '../../../test-support/sentinel.ts'
import type { Address } from '../actor/order.ts'
import { now, pause } from '../clock.ts'
import type { Loss } from '../model/losses.ts'
import { caughtUp, caughtUpAt } from './caught-up.ts'
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
  // What was acknowledged before is held by both servers.
  let safeAt = now()
  const lagging = lag()

  /** Stops the replica and lets it go on, again and again. */
  async function lag(): Promise<void> {
    while (!stopped) {
      const replica = crashing ? undefined : await look().catch(() => undefined)
      if (replica?.pid !== undefined && !crashing) {
        replica.pause()
        await pause(LAG_MS)
        if (!crashing && replica.pid !== undefined) replica.resume()
      }
      await pause(1000 - LAG_MS)
    }
  }

  /** Looks whether the replica has become the primary though no fault asked for it; returns the replica of now. */
  async function look(): Promise<TemporaryRedis> {
    const replica = await replicaOf()
    if (replica === known) {
      known = set.servers.find((server) => server !== replica)!
      const from = safeAt
      // Until the old primary has learned that it is none, it acknowledges writes that it will lose.
      await caughtUp(known, replica).finally(() => {
        unasked.push({ cause: 'crash-failover', from, to: now() })
      })
    }
    safeAt = (await caughtUpAt(known, replica)) ?? safeAt
    return replica
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
        for (const server of set.servers) server.resume()
        const replica = await look()
        const primary = known
        const from = await caughtUp(primary, replica)
        // The link breaks while the replica stands still: what is written from now on never reaches it.
        replica.pause()
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
        safeAt = await caughtUp(known, primary)
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
