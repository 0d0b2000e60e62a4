import { GlideClient, GlideClusterClient } from '@valkey/valkey-glide'
import * as ioredis6 from 'ioredis'
import * as ioredis5 from 'ioredis-5'
import * as redis6 from 'redis'
import * as redis5 from 'redis-5'
import { expect, test } from 'vitest'
import { SchemaError } from '../../errors.ts'
import { fromGlide, fromGlideCluster } from './glide.ts'
import { fromIoredis, fromIoredisCluster } from './ioredis.ts'
import { fromNodeRedis, fromNodeRedisCluster, fromNodeRedisSentinel } from './node-redis.ts'

const lazyConnect = true
const sentinels = { name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] }
// GLIDE gives no client before it is connected, but its methods are there.
const glide = Object.create(GlideClient.prototype) as unknown
const glideCluster = Object.create(GlideClusterClient.prototype) as unknown

type Given = readonly [what: string, adapter: (client: never) => unknown, client: unknown, words: string]

// Only the newer ones have the types that tell their methods.
const ioredis = [ioredis5 as unknown as typeof ioredis6, ioredis6]
const nodeRedis = [redis5 as unknown as typeof redis6, redis6]

const given: readonly Given[] = [
  ...ioredis.flatMap(({ Redis, Cluster }, at): Given[] => {
    const client = new Redis({ lazyConnect })
    const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect }) as unknown
    const version = `ioredis ${at + 5}`
    return [
      [`a cluster of ${version} as a client`, fromIoredis, cluster, 'give it to fromIoredisCluster()'],
      [`a pipeline of ${version}`, fromIoredis, client.pipeline(), 'this client is a pipeline'],
      [`a client of ${version} as a cluster`, fromIoredisCluster, client, 'this client has no nodes'],
      [`a client of ${version} as one of node-redis`, fromNodeRedis, client, 'give it to fromIoredis()'],
    ]
  }),
  ...nodeRedis.flatMap((redis, at): Given[] => {
    const client = redis.createClient()
    const cluster = redis.createCluster({ rootNodes: [] })
    const sentinel = redis.createSentinel(sentinels)
    const version = `node-redis ${at + 5}`
    return [
      [`a cluster of ${version} as a client`, fromNodeRedis, cluster, 'give it to fromNodeRedisCluster()'],
      [`a sentinel of ${version} as a client`, fromNodeRedis, sentinel, 'to fromNodeRedisSentinel()'],
      [`a pool of ${version}`, fromNodeRedis, redis.createClientPool(), 'this client is a pool'],
      [`a client of ${version} as a cluster`, fromNodeRedisCluster, client, 'has no nodeClient'],
      [`a cluster of ${version} as a sentinel`, fromNodeRedisSentinel, cluster, 'fromNodeRedisCluster()'],
      [`a client of ${version} as one of ioredis`, fromIoredis, client, 'this client has no call'],
    ]
  }),
  ['a cluster of GLIDE as a client', fromGlide, glideCluster, 'give it to fromGlideCluster()'],
  ['a client of GLIDE as a cluster', fromGlideCluster, glide, 'this client has no fcallWithRoute'],
  ['a promise for node-redis', fromNodeRedis, Promise.resolve(), 'this is a promise of a client: await it'],
  ['a promise for GLIDE', fromGlide, Promise.resolve(), 'this is a promise of a client: await it'],
  ['nothing for ioredis', fromIoredis, undefined, 'Keyspec needs a client of ioredis 5 or 6'],
  ['nothing for a cluster', fromIoredisCluster, null, 'Keyspec needs a cluster client of ioredis 5 or 6'],
]

test.each(given)('%s is refused when it is given', (_, adapter, client, words) => {
  const give = () => adapter(client as never)
  expect(give).toThrow(SchemaError)
  expect(give).toThrow(words)
})

test('the clients that belong to an adapter are accepted', () => {
  const connections = [
    ...ioredis.flatMap(({ Redis, Cluster }) => [
      fromIoredis(new Redis({ lazyConnect })),
      fromIoredisCluster(new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect })),
    ]),
    ...nodeRedis.flatMap((redis) => [
      fromNodeRedis(redis.createClient()),
      fromNodeRedis(redis.createClient().withTypeMapping({ 36: Buffer })),
      fromNodeRedisCluster(redis.createCluster({ rootNodes: [] })),
      fromNodeRedisSentinel(redis.createSentinel(sentinels)),
    ]),
    fromGlide(glide as never),
    fromGlideCluster(glideCluster as never),
  ]
  const areClusters = [
    false,
    true,
    false,
    true,
    false,
    false,
    true,
    false,
    false,
    false,
    true,
    false,
    false,
    true,
  ]
  expect(connections.map(({ cluster }) => cluster)).toEqual(areClusters)
})
