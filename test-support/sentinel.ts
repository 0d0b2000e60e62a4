import { eventually, startRedis, type TemporaryRedis } from '../packages/keyspec/src/testing/index.ts'
import { startAll, stopAll } from './start-all.ts'

const sentinelCount = 3
const quorum = 2

/** A master, a replica and three Sentinels that watch them, on loopback ports. */
export interface Sentinels extends AsyncDisposable {
  /** What the Sentinels call the master. */
  readonly name: string
  /** Where clients ask for the master. */
  readonly sentinels: readonly TemporaryRedis[]
  /** The two servers that are watched, the first master first. */
  readonly servers: readonly TemporaryRedis[]
  /** The server that all Sentinels name as the master; an error while they disagree. */
  master(): Promise<TemporaryRedis>
  /** Kills the master (SIGKILL) and waits until all Sentinels name the other, which accepts writes; gives that one. */
  failover(): Promise<TemporaryRedis>
  /** Starts servers that were killed and waits until all but the master are replicas in sync, ready for the next failover. */
  recover(): Promise<void>
  /** Ends all servers. */
  stop(): Promise<void>
}

/** Starts a master, its replica and three Sentinels, ready for a failover. */
export async function startSentinels(name = 'mymaster'): Promise<Sentinels> {
  const config = { 'repl-diskless-sync-delay': '0' }
  const servers = await startAll([startRedis({ port: 'any', config }), startRedis({ port: 'any', config })])
  const [first, second] = servers
  if (first === undefined || second === undefined) throw new Error('unreachable: two were started')
  let sentinels: TemporaryRedis[] = []
  const all = () => [...servers, ...sentinels]
  try {
    // The replica before the Sentinels: they ask a master for its replicas at once, and then only every ten seconds.
    await second.command('REPLICAOF', '127.0.0.1', `${first.port}`)
    await eventually(() => inSync(second), { within: '20s' })
    sentinels = await startAll(Array.from({ length: sentinelCount }, () => startSentinel(name, first)))
    await eventually(() => Promise.all(sentinels.map((sentinel) => acquainted(sentinel, name))), {
      within: '30s',
    })
  } catch (error) {
    await stopAll(all())
    throw error
  }

  async function master(): Promise<TemporaryRedis> {
    const ports = await Promise.all(sentinels.map((sentinel) => masterPort(sentinel, name)))
    const server = servers.find(({ port }) => port === ports[0])
    if (server === undefined || ports.some((port) => port !== ports[0])) {
      throw new Error(`The Sentinels name different masters: ports ${ports.join(', ')}.`)
    }
    return server
  }

  return {
    name,
    sentinels,
    servers,
    master,
    async failover() {
      const old = await master()
      await old.kill()
      return eventually(
        async () => {
          const now = await master()
          const role = await now.command('ROLE')
          if (now === old) throw new Error('The Sentinels still name the old master.')
          if (!Array.isArray(role) || role[0] !== 'master')
            throw new Error('The new master does not know it yet.')
          return now
        },
        { within: '60s' },
      )
    },
    async recover() {
      await Promise.all(servers.filter(({ pid }) => pid === undefined).map((server) => server.restart()))
      // On a busy machine the Sentinels may take the master for down meanwhile, and name the other.
      await eventually(
        async () => {
          const current = await master()
          await Promise.all(sentinels.map((sentinel) => acquainted(sentinel, name)))
          await Promise.all(servers.filter((server) => server !== current).map(inSync))
        },
        { within: '60s' },
      )
    },
    stop: () => stopAll(all()),
    [Symbol.asyncDispose]: () => stopAll(all()),
  }
}

async function startSentinel(name: string, master: TemporaryRedis): Promise<TemporaryRedis> {
  const sentinel = await startRedis({
    port: 'any',
    arguments: ['--sentinel'],
    config: {
      'sentinel monitor': `${name} 127.0.0.1 ${master.port} ${quorum}`,
      'sentinel down-after-milliseconds': `${name} 1000`,
      'sentinel failover-timeout': `${name} 5000`,
    },
  })
  // Sentinel looks around every ten seconds, and does nothing for thirty when its clock jumped, as on a busy machine.
  // Redis 7 lets a test make it quicker; an older one is merely slow.
  const quick = { 'INFO-PERIOD': 200, 'PUBLISH-PERIOD': 200, 'ASK-PERIOD': 200, 'TILT-PERIOD': 1000 }
  await sentinel.command('SENTINEL', 'DEBUG', ...Object.entries(quick).flat()).catch(() => {})
  return sentinel
}

/** Fails until a Sentinel knows the replica, finds it well, and knows the other Sentinels. */
async function acquainted(sentinel: TemporaryRedis, name: string): Promise<void> {
  const [replicas, others] = await Promise.all([
    sentinel.command('SENTINEL', 'REPLICAS', name),
    sentinel.command('SENTINEL', 'SENTINELS', name),
  ])
  const replicaStates = statesOf(replicas)
  if (replicaStates.length !== 1 || replicaStates[0]?.get('master-link-status') !== 'ok') {
    throw new Error('A Sentinel does not know the replica, or not as well.')
  }
  if (replicaStates[0].get('flags') !== 'slave') throw new Error('A Sentinel holds the replica for down.')
  if (statesOf(others).length !== sentinelCount - 1)
    throw new Error('A Sentinel does not know all the others.')
}

async function masterPort(sentinel: TemporaryRedis, name: string): Promise<number> {
  const address = await sentinel.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)
  return Array.isArray(address) ? Number(address[1]) : Number.NaN
}

/** Fails unless the server is a replica whose link to its master is up. */
async function inSync(server: TemporaryRedis): Promise<void> {
  const info = String(await server.command('INFO', 'replication'))
  if (!info.includes('role:slave') || !info.includes('master_link_status:up')) {
    throw new Error(`The server at port ${server.port} is not a replica in sync.`)
  }
}

/** Sentinel answers with a flat list of names and values for each that it knows. */
function statesOf(reply: Awaited<ReturnType<TemporaryRedis['command']>>): Map<string, string>[] {
  if (!Array.isArray(reply)) return []
  return reply.filter(Array.isArray).map((flat) => {
    const state = new Map<string, string>()
    for (let i = 0; i + 1 < flat.length; i += 2) state.set(String(flat[i]), String(flat[i + 1]))
    return state
  })
}
