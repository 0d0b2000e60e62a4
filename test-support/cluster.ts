import { eventually, startRedis, type TemporaryRedis } from '../packages/keyspec/src/testing/index.ts'
import { startAll, stopAll } from './start-all.ts'

const slotCount = 16_384
const masterCount = 3

/** A real Redis Cluster of three masters on loopback ports. */
export interface Cluster extends AsyncDisposable {
  /** All servers, those that were masters at the start first. */
  readonly nodes: readonly TemporaryRedis[]
  /** `redis://127.0.0.1:<port>` of each. */
  readonly urls: readonly string[]
  /** The hash slot of a key, as the server computes it. */
  slotOf(key: string): Promise<number>
  /** The server that owns a slot at present. */
  ownerOf(slot: number): Promise<TemporaryRedis>
  /** The masters that own slots at present. */
  masters(): Promise<TemporaryRedis[]>
  /** The replica of a master; an error if it has none. */
  replicaOf(master: TemporaryRedis): Promise<TemporaryRedis>
  /** Begins to move a slot and leaves it between its two owners, which answer ASK and TRYAGAIN until it is finished. */
  beginMove(slot: number, to: TemporaryRedis): Promise<SlotMove>
  /** Moves a slot with all its keys. */
  moveSlot(slot: number, to: TemporaryRedis): Promise<void>
  /** Has the replica of a slot's owner take over, losing nothing (CLUSTER FAILOVER); gives the new owner. */
  failover(slot: number): Promise<TemporaryRedis>
  /** Kills a slot's owner (SIGKILL) and waits until its replica has taken over; gives the new owner. */
  crash(slot: number): Promise<TemporaryRedis>
  /** Waits until every server that runs says that the cluster is well and all name the same owners. */
  settled(): Promise<void>
  /** Ends all servers. */
  stop(): Promise<void>
}

/** A slot between its two owners. */
export interface SlotMove {
  readonly from: TemporaryRedis
  readonly to: TemporaryRedis
  /** Moves keys, all of them unless some are named. */
  moveKeys(keys?: readonly string[]): Promise<void>
  /** Moves what is left and gives the slot to its new owner. */
  finish(): Promise<void>
}

/**
 * Starts a cluster, with one replica for each master when asked. It takes a good two seconds: for so long a Redis master
 * that has just started refuses to find its cluster well.
 */
export async function startCluster(options: { readonly replicas?: 0 | 1 } = {}): Promise<Cluster> {
  const replicas = options.replicas ?? 0
  const config = {
    'cluster-enabled': 'yes',
    // Without replicas a slow machine must not make the servers give each other up; with them a crash must be noticed.
    'cluster-node-timeout': replicas === 0 ? '15000' : '2000',
    'cluster-replica-validity-factor': '0',
    'repl-diskless-sync-delay': '0',
    'repl-ping-replica-period': '1', // CLUSTER SLOTS leaves out a replica to which nothing has been sent yet
  }
  const nodes = await startAll(
    Array.from({ length: masterCount * (1 + replicas) }, () => startRedis({ config, port: 'any' })),
  )
  try {
    await form(nodes)
    await settled(nodes)
  } catch (error) {
    await stopAll(nodes)
    throw error
  }
  return clusterOf(nodes)
}

/** Introduces the servers to each other and shares the slots out among the masters. */
async function form(nodes: readonly TemporaryRedis[]): Promise<void> {
  const masters = nodes.slice(0, masterCount)
  await Promise.all(
    masters.map(async (node, index) => {
      const from = Math.round((slotCount * index) / masterCount)
      const to = Math.round((slotCount * (index + 1)) / masterCount)
      await node.command('CLUSTER', 'SET-CONFIG-EPOCH', index + 1) // or the masters would have to sort out who is who
      await node.command(
        'CLUSTER',
        'ADDSLOTS',
        ...Array.from({ length: to - from }, (_, slot) => from + slot),
      )
    }),
  )
  await Promise.all(
    nodes.flatMap((node, index) =>
      nodes.slice(index + 1).map((other) => node.command('CLUSTER', 'MEET', '127.0.0.1', `${other.port}`)),
    ),
  )
  await Promise.all(
    nodes.slice(masterCount).map(async (replica, index) => {
      const master = await idOf(masters[index % masterCount]!)
      await eventually(() => replica.command('CLUSTER', 'REPLICATE', master), { within: '20s' }) // once it has met it
    }),
  )
}

function clusterOf(nodes: readonly TemporaryRedis[]): Cluster {
  async function beginMove(slot: number, to: TemporaryRedis): Promise<SlotMove> {
    const from = await ownerOf(nodes, slot)
    await to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', await idOf(from))
    await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', await idOf(to))

    async function moveKeys(keys?: readonly string[]): Promise<void> {
      if (keys !== undefined) return migrate(keys)
      for (;;) {
        const some = await from.command('CLUSTER', 'GETKEYSINSLOT', slot, 1000)
        if (!Array.isArray(some) || some.length === 0) return
        await migrate(some.map(String))
      }
    }

    async function migrate(keys: readonly string[]): Promise<void> {
      await from.command('MIGRATE', '127.0.0.1', `${to.port}`, '', 0, 10_000, 'KEYS', ...keys)
    }

    async function finish(): Promise<void> {
      await moveKeys()
      const owner = await idOf(to)
      // The new owner first: when the old one lets go, somebody must be there to answer for the slot.
      await to.command('CLUSTER', 'SETSLOT', slot, 'NODE', owner)
      await from.command('CLUSTER', 'SETSLOT', slot, 'NODE', owner)
      await settled(nodes)
    }

    return { from, to, moveKeys, finish }
  }

  async function replaced(slot: number, old: TemporaryRedis): Promise<TemporaryRedis> {
    await eventually(async () => different(await ownerOf(nodes, slot), old), { within: '40s' })
    await settled(nodes)
    return ownerOf(nodes, slot)
  }

  return {
    nodes,
    urls: nodes.map((node) => node.url),
    slotOf: async (key) => Number(await running(nodes)[0]?.command('CLUSTER', 'KEYSLOT', key)),
    ownerOf: (slot) => ownerOf(nodes, slot),
    masters: async () => {
      const owners = (await slotsSeenBy(anyOf(nodes))).map(({ ports }) => nodeAt(nodes, ports[0]))
      return [...new Set(owners)]
    },
    replicaOf: (master) => replicaOf(nodes, master),
    beginMove,
    async moveSlot(slot, to) {
      if ((await ownerOf(nodes, slot)) === to) return
      await (await beginMove(slot, to)).finish()
    },
    async failover(slot) {
      const old = await ownerOf(nodes, slot)
      const replica = await replicaOf(nodes, old)
      // Refused until it is in sync; and what has not come about within 5 s the replica gives up without a word.
      let askAgainAt = 0
      await eventually(
        async () => {
          if ((await ownerOf(nodes, slot)) !== old) return
          if (Date.now() >= askAgainAt) {
            await replica.command('CLUSTER', 'FAILOVER')
            askAgainAt = Date.now() + 7_000
          }
          throw new Error(`The replica at port ${replica.port} has not taken over.`)
        },
        { within: '60s' },
      )
      return replaced(slot, old)
    },
    async crash(slot) {
      const old = await ownerOf(nodes, slot)
      await replicaOf(nodes, old)
      await old.kill()
      return replaced(slot, old)
    },
    settled: () => settled(nodes),
    stop: () => stopAll(nodes),
    [Symbol.asyncDispose]: () => stopAll(nodes),
  }
}

/** Every server that runs finds the cluster well, has its data, and all see all of them at the same slots. */
async function settled(nodes: readonly TemporaryRedis[]): Promise<void> {
  await eventually(
    async () => {
      const views = await Promise.all(running(nodes).map(viewOf))
      for (const view of views) {
        if (!view.ok) throw new Error('A server says that the cluster is not well.')
        if (view.slots !== views[0]?.slots)
          throw new Error('The servers do not agree on who has which slots.')
        // A replica that its master does not know yet could not take over.
        if (view.servers !== views.length) throw new Error('A server is not known to all the others.')
        if (!view.inSync) throw new Error('A replica is not in sync with its master.')
      }
    },
    { within: '60s' },
  )
}

async function viewOf(node: TemporaryRedis) {
  const [info, ranges, replication] = await Promise.all([
    node.command('CLUSTER', 'INFO'),
    slotsSeenBy(node),
    node.command('INFO', 'replication'),
  ])
  return {
    ok: String(info).includes('cluster_state:ok'),
    slots: JSON.stringify(ranges),
    servers: new Set(ranges.flatMap(({ ports }) => ports)).size,
    inSync: !String(replication).includes('master_link_status:down'),
  }
}

interface SlotRange {
  readonly first: number
  readonly last: number
  /** The owner's first, then those of its replicas. */
  readonly ports: readonly number[]
}

/** Who has which slots in the eyes of one server, in the order of the slots. */
async function slotsSeenBy(node: TemporaryRedis): Promise<SlotRange[]> {
  const ranges = await node.command('CLUSTER', 'SLOTS')
  if (!Array.isArray(ranges)) throw new Error('CLUSTER SLOTS did not answer with a list.')
  return ranges
    .map((range) => {
      if (!Array.isArray(range)) throw new Error('CLUSTER SLOTS answered with something else than ranges.')
      const [first, last, ...servers] = range
      const [owner = Number.NaN, ...replicas] = servers.map((server) =>
        Array.isArray(server) ? Number(server[1]) : Number.NaN,
      )
      return {
        first: Number(first),
        last: Number(last),
        ports: [owner, ...replicas.toSorted((a, b) => a - b)],
      }
    })
    .toSorted((a, b) => a.first - b.first)
}

async function ownerOf(nodes: readonly TemporaryRedis[], slot: number): Promise<TemporaryRedis> {
  const ranges = await slotsSeenBy(anyOf(nodes))
  const range = ranges.find(({ first, last }) => first <= slot && slot <= last)
  if (range === undefined) throw new Error(`Nobody owns slot ${slot}.`)
  return nodeAt(nodes, range.ports[0])
}

async function replicaOf(nodes: readonly TemporaryRedis[], master: TemporaryRedis): Promise<TemporaryRedis> {
  for (const node of running(nodes)) {
    const role = await node.command('ROLE')
    if (Array.isArray(role) && role[0] === 'slave' && role[2] === master.port) return node
  }
  throw new Error(
    `The master at port ${master.port} has no replica: startCluster({ replicas: 1 }) gives it one.`,
  )
}

async function idOf(node: TemporaryRedis): Promise<string> {
  return String(await node.command('CLUSTER', 'MYID'))
}

function running(nodes: readonly TemporaryRedis[]): TemporaryRedis[] {
  return nodes.filter((node) => node.pid !== undefined)
}

function anyOf(nodes: readonly TemporaryRedis[]): TemporaryRedis {
  const [node] = running(nodes)
  if (node === undefined) throw new Error('No server of this cluster runs.')
  return node
}

function nodeAt(nodes: readonly TemporaryRedis[], port: number | undefined): TemporaryRedis {
  const node = nodes.find((candidate) => candidate.port === port)
  if (node === undefined) throw new Error(`No server of this cluster has port ${port}.`)
  return node
}

function different(now: TemporaryRedis, before: TemporaryRedis): void {
  if (now === before) throw new Error(`The master at port ${before.port} has not been replaced.`)
}
