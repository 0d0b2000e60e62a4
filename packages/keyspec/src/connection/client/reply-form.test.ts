import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { float32 } from '../../codec/float32.ts'
import { SchemaError, UnsupportedClientError } from '../../errors.ts'
import { cache } from '../../recipe/cache/cache.ts'
import { open } from '../../keyspace.ts'
import { startRedis, type TemporaryRedis, unique } from '../../testing/index.ts'
import { NO_KEY, ONE_KEY, ONE_KEY_BYTES } from '../connection.ts'
import { fromIoredis, fromIoredisCluster, type IoredisClient } from './ioredis.ts'
import { fromNodeRedis, fromNodeRedisSentinel, type NodeRedisClient } from './node-redis.ts'
import { replyOf } from './reply-form.ts'
import { isUnavailable } from '../server-error.ts'

let redis: TemporaryRedis
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

test('a client that answers text where bytes belong is refused, and its reply is no value', async () => {
  const client = createClient({ socket: { path: redis.socket, tls: false } })
  await client.connect()
  // As node-redis 4 does: it knows no type mapping.
  const old: NodeRedisClient = { sendCommand: (args) => client.sendCommand([...args]) }
  const connection = fromNodeRedis(old)
  const key = unique()
  await redis.command('SET', key, Buffer.of(0, 255))
  const error = await connection.send(['GET', key], ONE_KEY_BYTES).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(UnsupportedClientError)
  expect(error).toMatchObject({ code: 'E_UNSUPPORTED_CLIENT', key })
  expect((error as Error).message).toBe(
    `${key}: this client answers GET with text where bytes belong: Keyspec needs a client of node-redis 5 or 6`,
  )
  expect(isUnavailable(error)).toBe(false)
  // Nothing of it passes for a miss, either.
  const keys = open({ page: cache('page', float32(2), { ttl: '1h' }) }, connection, {
    prefix: `${unique()}:`,
  })
  await redis.command('SET', keys.page().name, Buffer.from(new Float32Array([1, 2]).buffer))
  await expect(keys.page().getOrLoad(() => new Float32Array([3, 4]))).rejects.toBeInstanceOf(
    UnsupportedClientError,
  )
  client.destroy()
})

test('a client that answers maps as objects, or bytes where text belongs, is refused', async () => {
  const client = createClient({ RESP: 3, socket: { path: redis.socket, tls: false } })
  await client.connect()
  const connection = fromNodeRedis({ sendCommand: (args) => client.sendCommand([...args]) })
  const key = unique()
  await redis.command('HSET', key, 'f', 'v')
  await expect(connection.send(['HGETALL', key], ONE_KEY)).rejects.toThrow(
    'answers HGETALL with an object where',
  )
  client.destroy()
  const raw = new Redis({ path: redis.socket })
  const swapped = Object.create(raw, { call: { value: raw.callBuffer } }) as IoredisClient
  await expect(fromIoredis(swapped).send(['PING'], NO_KEY)).rejects.toThrow(
    'this client answers PING with bytes where text, integers, nil and arrays belong: Keyspec needs a client of ioredis 5 or 6',
  )
  raw.disconnect()
})

test.each<[unknown, boolean, string | undefined]>([
  ['a', false, undefined],
  ['a', true, 'text'],
  [Buffer.of(1), true, undefined],
  [Buffer.of(1), false, 'bytes'],
  [null, true, undefined],
  [7, true, undefined],
  [7n, false, 'a value of type bigint'],
  [undefined, false, 'a value of type undefined'],
  [new Map(), false, 'an object'],
  [['a', ['b', null, 7]], false, undefined],
  [['a', [Buffer.of(1)]], false, 'bytes'],
  [[Buffer.of(1), ['b']], true, 'text'],
])('a reply %o, in bytes: %s', (reply, bytes, other) => {
  const read = () => replyOf('ioredis', reply, ['LRANGE', 'k', '0', '-1'], bytes ? ONE_KEY_BYTES : ONE_KEY)
  if (other === undefined) expect(read()).toEqual(reply)
  else expect(read).toThrow(`k: this client answers LRANGE with ${other} where `)
})

test('a client without what the adapter relies on is refused when it is given', () => {
  const call = async () => null
  expect(() => fromIoredis({ call, callBuffer: call } as never)).toThrow(SchemaError)
  expect(() => fromIoredis({ call, callBuffer: call } as never)).toThrow('this client has no sendCommand')
  expect(() => fromIoredisCluster({ call, callBuffer: call, nodes: () => [] } as never)).toThrow(SchemaError)
  expect(() => fromNodeRedisSentinel({ sendCommand: call } as never)).toThrow('this client has no _execute')
})
