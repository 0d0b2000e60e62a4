import { GlideClient, GlideClusterClient, Logger, ProtocolVersion } from '@valkey/valkey-glide'
import { Cluster as IoredisClusterClient, Redis } from 'ioredis'
import { createClient, createCluster, createSentinel } from 'redis'
import type { Connection } from '../packages/keyspec/src/connection/connection.ts'
import { fromGlide, fromGlideCluster } from '../packages/keyspec/src/connection/glide.ts'
import { fromIoredis, fromIoredisCluster } from '../packages/keyspec/src/connection/ioredis.ts'
import {
  fromNodeRedis,
  fromNodeRedisCluster,
  fromNodeRedisSentinel,
} from '../packages/keyspec/src/connection/node-redis.ts'
import type { TemporaryRedis } from '../packages/keyspec/src/testing/index.ts'
import type { Cluster } from './cluster.ts'
import type { Sentinels } from './sentinel.ts'

/** A connection with the client behind it, which `close` ends. */
export interface Opened {
  readonly connection: Connection
  close(): Promise<unknown> | void
}

/** One way to connect to a `Server`: `[what it is called, how it is opened]`, as `describe.each` likes it. */
export type Way<Server> = readonly [name: string, open: (server: Server) => Promise<Opened>]

// GLIDE logs every error reply that it passes on.
Logger.setLoggerConfig('off')

/** Every client over a single server, which needs a port (`startRedis({ port: 'any' })`), as GLIDE has no sockets. */
export const connections: readonly Way<Pick<TemporaryRedis, 'port'>>[] = [
  ['node-redis', ({ port }) => overNodeRedis(port, 3)],
  ['node-redis in RESP2', ({ port }) => overNodeRedis(port, 2)],
  ['ioredis', ({ port }) => overIoredis(port, 3)],
  ['ioredis in RESP2', ({ port }) => overIoredis(port, 2)],
  ['glide', ({ port }) => overGlide(port, ProtocolVersion.RESP3)],
  ['glide in RESP2', ({ port }) => overGlide(port, ProtocolVersion.RESP2)],
]

/** Every client over a cluster. */
export const clusterConnections: readonly Way<Cluster>[] = [
  ['node-redis', (cluster) => overNodeRedisCluster(cluster, 3)],
  ['node-redis in RESP2', (cluster) => overNodeRedisCluster(cluster, 2)],
  ['ioredis', overIoredisCluster],
  ['glide', overGlideCluster],
]

/** Every client that knows Sentinel. */
export const sentinelConnections: readonly Way<Sentinels>[] = [
  ['node-redis', overNodeRedisSentinel],
  ['ioredis', overIoredisSentinel],
]

async function overNodeRedis(port: number | undefined, RESP: 2 | 3): Promise<Opened> {
  const client = createClient({ socket: { host: '127.0.0.1', port: port! }, RESP })
  client.on('error', () => {})
  await client.connect()
  return { connection: fromNodeRedis(client), close: () => client.destroy() }
}

async function overIoredis(port: number | undefined, protocol: 2 | 3): Promise<Opened> {
  const client = new Redis({ host: '127.0.0.1', port: port!, protocol })
  client.on('error', () => {})
  return { connection: fromIoredis(client), close: () => client.disconnect() }
}

async function overGlide(port: number | undefined, protocol: ProtocolVersion): Promise<Opened> {
  const addresses = [{ host: '127.0.0.1', port: port! }]
  const client = await GlideClient.createClient({ addresses, protocol, requestTimeout: 5000 })
  return { connection: fromGlide(client), close: () => client.close() }
}

async function overNodeRedisCluster({ urls }: Cluster, RESP: 2 | 3): Promise<Opened> {
  const client = createCluster({ rootNodes: urls.map((url) => ({ url })), RESP })
  client.on('error', () => {})
  await client.connect()
  return { connection: fromNodeRedisCluster(client), close: () => client.destroy() }
}

async function overIoredisCluster({ urls }: Cluster): Promise<Opened> {
  const client = new IoredisClusterClient([...urls])
  client.on('error', () => {})
  return { connection: fromIoredisCluster(client), close: () => client.disconnect() }
}

async function overGlideCluster({ nodes }: Cluster): Promise<Opened> {
  const addresses = nodes.map(({ port }) => ({ host: '127.0.0.1', port: port! }))
  const client = await GlideClusterClient.createClient({ addresses, requestTimeout: 5000 })
  return { connection: fromGlideCluster(client), close: () => client.close() }
}

async function overNodeRedisSentinel({ name, sentinels }: Sentinels): Promise<Opened> {
  const client = createSentinel({
    name,
    sentinelRootNodes: sentinels.map(({ port }) => ({ host: '127.0.0.1', port: port! })),
    reserveClient: true,
  })
  client.on('error', () => {})
  await client.connect()
  return { connection: fromNodeRedisSentinel(client), close: () => client.destroy() }
}

async function overIoredisSentinel({ name, sentinels }: Sentinels): Promise<Opened> {
  const client = new Redis({
    name,
    sentinels: sentinels.map(({ port }) => ({ host: '127.0.0.1', port: port! })),
  })
  client.on('error', () => {})
  return { connection: fromIoredis(client), close: () => client.disconnect() }
}
