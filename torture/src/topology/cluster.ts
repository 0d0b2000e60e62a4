import { eventually } from 'keyspec/testing'
import { startCluster } from '../../../test-support/cluster.ts'
import type { Address } from '../actor/order.ts'
import { now, pause } from '../clock.ts'
import type { Loss } from '../model/losses.ts'
import type { Topology } from './topology.ts'

/** The keys whose slots move: one of each recipe with several keys, and of some with one. */
const MOVING = ['{queue}', '{swap}', '{a}', 'page:a', 'mark', 'ids', 'items', 'balance:a', 'hits:ioredis']

/** Starts a Cluster of three primaries, each with a replica. */
export async function startClusterTopology(): Promise<Topology> {
  const cluster = await startCluster({ replicas: 1 })
  const address: Address = { kind: 'cluster', ports: cluster.nodes.map(({ port }) => port!) }
  const unasked: Loss[] = []
  // Odd while a fault changes the primaries.
  let era = 0
  let stopped = false
  const watching = watch()

  /** Looks whether other servers have become primaries though no fault asked for it. */
  async function watch(): Promise<void> {
    let known: string | undefined
    let seenAt = now()
    let lastEra = -1
    while (!stopped) {
      const [was, before] = [known, era]
      const masters = await cluster.masters().catch(() => undefined)
      if (masters !== undefined) {
        known = `${masters.map(({ port }) => port).toSorted()}`
        if (lastEra === era && before === era && was !== undefined && was !== known)
          unasked.push({ cause: 'crash-failover', from: seenAt - 3000, to: now() })
        seenAt = now()
      }
      lastEra = before === era && era % 2 === 0 ? era : -1
      await pause(300)
    }
  }

  async function asking<T>(work: () => Promise<T>): Promise<T> {
    era += 1
    try {
      return await work()
    } finally {
      era += 1
    }
  }

  return {
    name: 'cluster',
    clients: ['node-redis', 'ioredis', 'glide'],
    address,
    async connect() {
      return { address, proxy: undefined }
    },
    servers: cluster.nodes,
    primary: async (random) => random.pick(await cluster.masters()),
    ask: async (command, key, ...words) =>
      (await cluster.ownerOf(await cluster.slotOf(key))).command(command, key, ...words),
    unasked,
    crash: (random) =>
      asking(async () => {
        const slot = await cluster.slotOf(random.pick(MOVING))
        // The writes of the last moment may not have left for the replica yet.
        const from = now() - 100
        const old = await cluster.ownerOf(slot)
        await cluster.crash(slot)
        const to = now()
        await old.restart()
        await cluster.settled()
        return { cause: 'crash-failover', from, to }
      }),
    handOver: (random) =>
      asking(async () => {
        await cluster.failover(await cluster.slotOf(random.pick(MOVING)))
      }),
    moveSlots: (random) =>
      asking(async () => {
        const slot = await cluster.slotOf(random.pick(MOVING))
        const owner = await cluster.ownerOf(slot)
        const others = (await cluster.masters()).filter((master) => master !== owner)
        const move = await cluster.beginMove(slot, random.pick(others))
        // A server that has just changed its part refuses keys for a moment.
        await eventually(() => move.finish(), { within: '60s' })
      }),
    async stop() {
      stopped = true
      await watching
      await cluster.stop()
    },
  }
}
