import { readFileSync } from 'node:fs'
import type { EventEmitter } from 'node:events'
import { GlideClient, GlideClusterClient, Logger } from '@valkey/valkey-glide'
import { Cluster, Redis } from 'ioredis'
import type { Connection, Invalidations } from 'keyspec'
import { fromGlide, fromGlideCluster } from 'keyspec/glide'
import { fromIoredis, fromIoredisCluster, invalidationsFromIoredis } from 'keyspec/ioredis'
import {
  fromNodeRedis,
  fromNodeRedisCluster,
  fromNodeRedisSentinel,
  invalidationsFromNodeRedis,
} from 'keyspec/node-redis'
import { createClient, createCluster, createSentinel } from 'redis'
import type { Address, ClientName } from './order.ts'

/** An open client. */
export interface Opened {
  readonly connection: Connection
  /** The client itself, whose listeners must not grow in number; undefined for GLIDE, which has none. */
  readonly emitter: EventEmitter | undefined
  /** Opens the second connection, by which Redis tells of changes; undefined where the client knows none. */
  readonly tell?: () => Promise<Invalidations>
  close(): unknown
}

/** Opens a client as its own documentation creates it: no option that is not needed to find the server. */
export function openClient(client: ClientName, address: Address): Promise<Opened> {
  return { 'node-redis': overNodeRedis, ioredis: overIoredis, glide: overGlide }[client](address)
}

const at = (port: number) => ({ host: '127.0.0.1', port })

async function overNodeRedis(address: Address): Promise<Opened> {
  if (address.kind === 'cluster') {
    const client = createCluster({
      rootNodes: address.ports.map((port) => ({ url: `redis://127.0.0.1:${port}` })),
    })
    client.on('error', () => {})
    await client.connect()
    return { connection: fromNodeRedisCluster(client), emitter: client, close: () => client.destroy() }
  }
  if (address.kind === 'sentinel') {
    const client = createSentinel({
      name: address.name,
      sentinelRootNodes: address.ports.map(at),
      reserveClient: true,
    })
    client.on('error', () => {})
    await client.connect()
    return { connection: fromNodeRedisSentinel(client), emitter: client, close: () => client.destroy() }
  }
  const { port, secured } = address
  const client =
    secured === undefined
      ? createClient({ url: `redis://127.0.0.1:${port}` })
      : createClient({
          url: `rediss://${secured.user}:${secured.password}@127.0.0.1:${port}`,
          socket: { tls: true, ca: readFileSync(secured.ca) },
        })
  client.on('error', () => {})
  await client.connect()
  return {
    connection: fromNodeRedis(client),
    emitter: client,
    async tell() {
      const told = client.duplicate({ emitInvalidate: true })
      told.on('error', () => {})
      return invalidationsFromNodeRedis(await told.connect())
    },
    close: () => client.destroy(),
  }
}

async function overIoredis(address: Address): Promise<Opened> {
  if (address.kind === 'cluster') {
    const client = new Cluster(address.ports.map(at))
    client.on('error', () => {})
    return { connection: fromIoredisCluster(client), emitter: client, close: () => client.disconnect() }
  }
  const client =
    address.kind === 'sentinel'
      ? new Redis({ name: address.name, sentinels: address.ports.map(at) })
      : address.secured === undefined
        ? new Redis(address.port, '127.0.0.1')
        : new Redis({
            ...at(address.port),
            username: address.secured.user,
            password: address.secured.password,
            tls: { ca: readFileSync(address.secured.ca) },
          })
  client.on('error', () => {})
  return {
    connection: fromIoredis(client),
    emitter: client,
    tell: async () => invalidationsFromIoredis(client.duplicate({ protocol: 2 })),
    close: () => client.disconnect(),
  }
}

async function overGlide(address: Address): Promise<Opened> {
  Logger.setLoggerConfig('off')
  if (address.kind === 'sentinel') throw new Error('GLIDE does not know Sentinel.')
  if (address.kind === 'cluster') {
    const client = await GlideClusterClient.createClient({ addresses: address.ports.map(at) })
    return { connection: fromGlideCluster(client), emitter: undefined, close: () => client.close() }
  }
  const { port, secured } = address
  const client = await GlideClient.createClient({
    addresses: [at(port)],
    ...(secured === undefined
      ? {}
      : {
          useTLS: true,
          credentials: { username: secured.user, password: secured.password },
          advancedConfiguration: {
            tlsAdvancedConfiguration: { rootCertificates: readFileSync(secured.ca) },
          },
        }),
  })
  return { connection: fromGlide(client), emitter: undefined, close: () => client.close() }
}
