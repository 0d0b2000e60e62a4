import { eventually, type TemporaryRedis } from 'keyspec/testing'
import { startCluster } from '../../../test-support/cluster.ts'
import type { Address } from '../actor/order.ts'
import { now, pause } from '../clock.ts'
import type { Loss } from '../model/losses.ts'
import { caughtUp, caughtUpAt } from './caught-up.ts'
import type { Topology } from './topology.ts'

/** The keys whose slots move: one of each recipe with several keys, and of some with one. */
const MOVING = ['{queue}', '{swap}', '{a}', 'page:a', 'mark', 'ids', 'items', 'balance:a', 'hits:ioredis']

/** Starts a Cluster of three primaries, each with a replica. */
export async function startClusterTopology(): Promise<Topology> {
  const cluster = await startCluster({ replicas: 1 })
  const address: Address = { kind: 'cluster', ports: cluster.nodes.map(({ port }) => port!) }
  const unasked: Loss[] = []
  // How often a fault has begun or ended to change the primaries: odd while one does.
  let era = 0
  let stopped = false
  let known = portsOf(await cluster.masters())
  // What was acknowledged before is held by each primary and its replica.
  let safeAt = now()
  const watching = watch()

  async function watch(): Promise<void> {
    while (!stopped) {
      await look().catch(() => {}) // the servers may be down, or not agree: the next look sees more
      await pause(300)
    }
  }

  /** Looks whether other servers have become primaries though no fault asked for it. */
  async function look(): Promise<void> {
    const before = era
    const masters = await cluster.masters()
    if (before % 2 === 1 || era !== before) return
    if (portsOf(masters) !== known) {
      known = portsOf(masters)
      const from = safeAt
      // A primary that has not learned yet that it is none acknowledges writes that it will lose.
      await cluster.settled().finally(() => {
        unasked.push({ cause: 'crash-failover', from, to: now() })
      })
    }
    safeAt = (await allCaughtUpAt(masters).catch(() => undefined)) ?? safeAt
  }

  /** Returns the time by which each replica held what its primary had acknowledged; undefined if one lags. */
  async function allCaughtUpAt(masters: readonly TemporaryRedis[]): Promise<number | undefined> {
    const times = await Promise.all(
      masters.map(async (master) => caughtUpAt(master, await cluster.replicaOf(master))),
    )
    return times.every((time) => time !== undefined) ? Math.min(...times) : undefined
  }

  async function asking<T>(work: () => Promise<T>): Promise<T> {
    await look().catch(() => {})
    era += 1
    try {
      return await work()
    } finally {
      known = portsOf(await cluster.masters())
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
        const old = await cluster.ownerOf(slot)
        const from = await caughtUp(old, await cluster.replicaOf(old))
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

function portsOf(masters: readonly TemporaryRedis[]): string {
  return `${masters.map(({ port }) => port).toSorted()}`
}
