import { GlideClient, GlideClusterClient } from '@valkey/valkey-glide'
import * as ioredis6 from 'ioredis'
import * as ioredis5 from 'ioredis-5'
import * as redis6 from 'redis'
import * as redis5 from 'redis-5'
import { expectTypeOf, test } from 'vitest'
import type { Connection, Subscriber } from '../connection.ts'
import { fromGlide, fromGlideCluster } from './glide.ts'
import type { Invalidations } from '../tracking/invalidations.ts'
import {
  fromIoredis,
  fromIoredisCluster,
  invalidationsFromIoredis,
  subscriberFromIoredis,
} from './ioredis.ts'
import {
  fromNodeRedis,
  fromNodeRedisCluster,
  fromNodeRedisSentinel,
  invalidationsFromNodeRedis,
  subscriberFromNodeRedis,
} from './node-redis.ts'

// What the real packages export is accepted as it is, however the client was set up. Nothing here runs.
test('the clients of node-redis 6 are accepted', () => {
  const { createClient, createCluster, createSentinel } = redis6
  expectTypeOf(fromNodeRedis(createClient())).toEqualTypeOf<Connection>()
  fromNodeRedis(createClient(), { timeout: '5s' })
  fromNodeRedis(createClient({ RESP: 2, commandOptions: { timeout: 100 } }))
  fromNodeRedis(createClient({ RESP: 3 }).withTypeMapping({ 36: Buffer }))
  fromNodeRedis(createClient().duplicate())
  fromNodeRedisCluster(createCluster({ rootNodes: [] }))
  fromNodeRedisCluster(createCluster({ rootNodes: [], RESP: 2 }))
  fromNodeRedisSentinel(createSentinel({ name: 'm', sentinelRootNodes: [] }))
  expectTypeOf(subscriberFromNodeRedis(createClient())).toEqualTypeOf<Subscriber>()
  const told = createClient({ emitInvalidate: true })
  expectTypeOf(invalidationsFromNodeRedis(told)).toEqualTypeOf<Invalidations>()
})

test('the clients of node-redis 5 are accepted', () => {
  const { createClient, createCluster, createSentinel } = redis5
  expectTypeOf(fromNodeRedis(createClient())).toEqualTypeOf<Connection>()
  fromNodeRedis(createClient(), { timeout: '5s' })
  fromNodeRedis(createClient({ RESP: 2, commandOptions: { timeout: 100 } }))
  fromNodeRedis(createClient({ RESP: 3 }).withTypeMapping({ 36: Buffer }))
  fromNodeRedis(createClient().duplicate())
  fromNodeRedisCluster(createCluster({ rootNodes: [] }))
  fromNodeRedisCluster(createCluster({ rootNodes: [], RESP: 3 }))
  fromNodeRedisSentinel(createSentinel({ name: 'm', sentinelRootNodes: [] }))
  expectTypeOf(subscriberFromNodeRedis(createClient())).toEqualTypeOf<Subscriber>()
})

test('the clients of ioredis 6 are accepted', () => {
  const { Cluster, Redis } = ioredis6
  expectTypeOf(fromIoredis(new Redis())).toEqualTypeOf<Connection>()
  fromIoredis(new Redis(), { timeout: '5s' })
  fromIoredis(new Redis({ sentinels: [], name: 'm' }))
  fromIoredisCluster(new Cluster([]))
  expectTypeOf(subscriberFromIoredis(new Redis())).toEqualTypeOf<Subscriber>()
  expectTypeOf(invalidationsFromIoredis(new Redis({ protocol: 2 }))).toEqualTypeOf<Invalidations>()
})

test('the clients of ioredis 5 are accepted', () => {
  const { Cluster, Redis } = ioredis5
  expectTypeOf(fromIoredis(new Redis())).toEqualTypeOf<Connection>()
  fromIoredis(new Redis(), { timeout: '5s' })
  fromIoredis(new Redis({ sentinels: [], name: 'm' }))
  fromIoredisCluster(new Cluster([]))
  expectTypeOf(subscriberFromIoredis(new Redis())).toEqualTypeOf<Subscriber>()
  expectTypeOf(invalidationsFromIoredis(new Redis())).toEqualTypeOf<Invalidations>()
})

test('the clients of GLIDE are accepted', async () => {
  expectTypeOf(fromGlide(await GlideClient.createClient({ addresses: [] }))).toEqualTypeOf<Connection>()
  fromGlide(await GlideClient.createClient({ addresses: [] }), { timeout: '5s' })
  fromGlideCluster(await GlideClusterClient.createClient({ addresses: [] }))
})

test('a client given to the wrong function is an error', async () => {
  // @ts-expect-error a cluster routes by key
  fromNodeRedis(redis6.createCluster({ rootNodes: [] }))
  // @ts-expect-error a cluster routes by key
  fromNodeRedis(redis5.createCluster({ rootNodes: [] }))
  // @ts-expect-error a single client has no masters
  fromNodeRedisCluster(redis6.createClient())
  // @ts-expect-error a single client has no nodes
  fromIoredisCluster(new ioredis6.Redis())
  // @ts-expect-error a single client has no nodes
  fromIoredisCluster(new ioredis5.Redis())
  // @ts-expect-error another client's
  fromNodeRedis(new ioredis6.Redis())
  // @ts-expect-error another client's
  fromIoredis(redis5.createClient())
})
