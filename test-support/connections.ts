import { GlideClient, GlideClusterClient, Logger, ProtocolVersion } from '@valkey/valkey-glide'
import * as ioredis6 from 'ioredis'
import * as ioredis5 from 'ioredis-5'
import * as redis6 from 'redis'
import * as redis5 from 'redis-5'
import type { Connection } from '../packages/keyspec/src/connection/connection.ts'
import { fromGlide, fromGlideCluster } from '../packages/keyspec/src/connection/client/glide.ts'
import { fromIoredis, fromIoredisCluster } from '../packages/keyspec/src/connection/client/ioredis.ts'
import {
  fromNodeRedis,
  fromNodeRedisCluster,
  fromNodeRedisSentinel,
} from '../packages/keyspec/src/connection/client/node-redis.ts'
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
  ['node-redis', ({ port }) => overNodeRedis(redis6, port, 3)],
  ['node-redis in RESP2', ({ port }) => overNodeRedis(redis6, port, 2)],
  ['node-redis 5', ({ port }) => overNodeRedis(redis5AsRedis6, port, 2)],
  ['node-redis 5 in RESP3', ({ port }) => overNodeRedis(redis5AsRedis6, port, 3)],
  ['ioredis', ({ port }) => overIoredis(ioredis6, port, { protocol: 3 })],
  ['ioredis in RESP2', ({ port }) => overIoredis(ioredis6, port, { protocol: 2 })],
  ['ioredis 5', ({ port }) => overIoredis(ioredis5AsIoredis6, port)],
  ['glide', ({ port }) => overGlide(port, ProtocolVersion.RESP3)],
  ['glide in RESP2', ({ port }) => overGlide(port, ProtocolVersion.RESP2)],
]

/** Every client over a cluster. */
export const clusterConnections: readonly Way<Cluster>[] = [
  ['node-redis', (cluster) => overNodeRedisCluster(redis6, cluster, 3)],
  ['node-redis in RESP2', (cluster) => overNodeRedisCluster(redis6, cluster, 2)],
  ['node-redis 5', (cluster) => overNodeRedisCluster(redis5AsRedis6, cluster, 2)],
  ['ioredis', (cluster) => overIoredisCluster(ioredis6, cluster)],
  ['ioredis 5', (cluster) => overIoredisCluster(ioredis5AsIoredis6, cluster)],
  ['glide', overGlideCluster],
]

/** Every client that knows Sentinel. */
export const sentinelConnections: readonly Way<Sentinels>[] = [
  ['node-redis', (sentinels) => overNodeRedisSentinel(redis6, sentinels)],
  ['node-redis 5', (sentinels) => overNodeRedisSentinel(redis5AsRedis6, sentinels)],
  ['ioredis', (sentinels) => overIoredisSentinel(ioredis6, sentinels)],
  ['ioredis 5', (sentinels) => overIoredisSentinel(ioredis5AsIoredis6, sentinels)],
]

// Both versions are used in the same way here, and the adapters' type tests hold each to its own types.
type NodeRedis = typeof redis6
const redis5AsRedis6 = redis5 as unknown as NodeRedis
type Ioredis = Pick<typeof ioredis6, 'Redis' | 'Cluster'>
const ioredis5AsIoredis6 = ioredis5 as unknown as Ioredis

async function overNodeRedis(
  { createClient }: NodeRedis,
  port: number | undefined,
  RESP: 2 | 3,
): Promise<Opened> {
  const client = createClient({ socket: { host: '127.0.0.1', port: port! }, RESP })
  client.on('error', () => {})
  await client.connect()
  return { connection: fromNodeRedis(client), close: () => client.destroy() }
}

async function overIoredis(
  { Redis }: Ioredis,
  port: number | undefined,
  options: { readonly protocol?: 2 | 3 } = {},
): Promise<Opened> {
  const client = new Redis({ host: '127.0.0.1', port: port!, ...options })
  client.on('error', () => {})
  return { connection: fromIoredis(client), close: () => client.disconnect() }
}

async function overGlide(port: number | undefined, protocol: ProtocolVersion): Promise<Opened> {
  const addresses = [{ host: '127.0.0.1', port: port! }]
  const client = await GlideClient.createClient({ addresses, protocol, requestTimeout: 5000 })
  return { connection: fromGlide(client), close: () => client.close() }
}

async function overNodeRedisCluster(
  { createCluster }: NodeRedis,
  { urls }: Cluster,
  RESP: 2 | 3,
): Promise<Opened> {
  const client = createCluster({ rootNodes: urls.map((url) => ({ url })), RESP })
  client.on('error', () => {})
  await client.connect()
  return { connection: fromNodeRedisCluster(client), close: () => client.destroy() }
}

async function overIoredisCluster({ Cluster }: Ioredis, { urls }: Cluster): Promise<Opened> {
  const client = new Cluster([...urls])
  client.on('error', () => {})
  return { connection: fromIoredisCluster(client), close: () => client.disconnect() }
}

async function overGlideCluster({ nodes }: Cluster): Promise<Opened> {
  const addresses = nodes.map(({ port }) => ({ host: '127.0.0.1', port: port! }))
  const client = await GlideClusterClient.createClient({ addresses, requestTimeout: 5000 })
  return { connection: fromGlideCluster(client), close: () => client.close() }
}

async function overNodeRedisSentinel(
  { createSentinel }: NodeRedis,
  { name, sentinels }: Sentinels,
): Promise<Opened> {
  const client = createSentinel({
    name,
    sentinelRootNodes: sentinels.map(({ port }) => ({ host: '127.0.0.1', port: port! })),
    reserveClient: true,
  })
  client.on('error', () => {})
  await client.connect()
  return { connection: fromNodeRedisSentinel(client), close: () => client.destroy() }
}

async function overIoredisSentinel({ Redis }: Ioredis, { name, sentinels }: Sentinels): Promise<Opened> {
  const client = new Redis({
    name,
    sentinels: sentinels.map(({ port }) => ({ host: '127.0.0.1', port: port! })),
  })
  client.on('error', () => {})
  return { connection: fromIoredis(client), close: () => client.disconnect() }
}
