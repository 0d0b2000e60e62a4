import { GlideClient, GlideClusterClient } from '@valkey/valkey-glide'
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster, createSentinel } from 'redis'
import { expectTypeOf, test } from 'vitest'
import type { Connection, Subscriber } from './connection.ts'
import { fromGlide, fromGlideCluster } from './glide.ts'
import { fromIoredis, fromIoredisCluster, subscriberFromIoredis } from './ioredis.ts'
import {
  fromNodeRedis,
  fromNodeRedisCluster,
  fromNodeRedisSentinel,
  subscriberFromNodeRedis,
} from './node-redis.ts'

// What the real packages export is accepted as it is, however the client was set up. Nothing here runs.
test('the clients of node-redis are accepted', () => {
  expectTypeOf(fromNodeRedis(createClient())).toEqualTypeOf<Connection>()
  fromNodeRedis(createClient({ RESP: 2, commandOptions: { timeout: 100 } }))
  fromNodeRedis(createClient({ RESP: 3 }).withTypeMapping({ 36: Buffer }))
  fromNodeRedis(createClient().duplicate())
  fromNodeRedisCluster(createCluster({ rootNodes: [] }))
  fromNodeRedisCluster(createCluster({ rootNodes: [], RESP: 2 }))
  fromNodeRedisSentinel(createSentinel({ name: 'm', sentinelRootNodes: [] }))
  expectTypeOf(subscriberFromNodeRedis(createClient())).toEqualTypeOf<Subscriber>()
})

test('the clients of ioredis are accepted', () => {
  expectTypeOf(fromIoredis(new Redis())).toEqualTypeOf<Connection>()
  fromIoredis(new Redis({ sentinels: [], name: 'm' }))
  fromIoredisCluster(new Cluster([]))
  expectTypeOf(subscriberFromIoredis(new Redis())).toEqualTypeOf<Subscriber>()
})

test('the clients of GLIDE are accepted', async () => {
  expectTypeOf(fromGlide(await GlideClient.createClient({ addresses: [] }))).toEqualTypeOf<Connection>()
  fromGlideCluster(await GlideClusterClient.createClient({ addresses: [] }))
})

test('a client given to the wrong function is an error', async () => {
  // @ts-expect-error a cluster routes by key
  fromNodeRedis(createCluster({ rootNodes: [] }))
  // @ts-expect-error a single client has no masters
  fromNodeRedisCluster(createClient())
  // @ts-expect-error a single client has no nodes
  fromIoredisCluster(new Redis())
  // @ts-expect-error another client's
  fromNodeRedis(new Redis())
})
