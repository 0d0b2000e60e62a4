import { Cluster, Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SchemaError } from '../../errors.ts'
import { eventually, startRedis, type TemporaryRedis, unique } from '../../testing/index.ts'
import { ONE_KEY } from '../connection.ts'
import { fromIoredis, fromIoredisCluster, subscriberFromIoredis } from './ioredis.ts'

let redis: TemporaryRedis
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

test('clients whose settings change keys or replies are refused, with what to do', () => {
  const lazyConnect = true
  expect(() => fromIoredis(new Redis({ lazyConnect, keyPrefix: 'app:' }))).toThrow(SchemaError)
  expect(() => fromIoredis(new Redis({ lazyConnect, keyPrefix: 'app:' }))).toThrow('keyPrefix "app:"')
  expect(() => fromIoredis(new Redis({ lazyConnect, stringNumbers: true }))).toThrow('stringNumbers')
  expect(() => fromIoredis(new Redis({ lazyConnect, replyMapping: 'resp3' }))).toThrow("replyMapping 'resp3'")
  const nodes = [{ host: '127.0.0.1', port: 1 }]
  expect(() => fromIoredisCluster(new Cluster(nodes, { lazyConnect, keyPrefix: 'app:' }))).toThrow(
    SchemaError,
  )
  const redisOptions = { stringNumbers: true }
  expect(() => fromIoredisCluster(new Cluster(nodes, { lazyConnect, redisOptions }))).toThrow(SchemaError)
})

test('a client that pipelines by itself answers as any other', async () => {
  const client = new Redis({ path: redis.socket, enableAutoPipelining: true })
  const connection = fromIoredis(client)
  const key = unique()
  const replies = await Promise.allSettled([
    connection.send(['SET', key, Uint8Array.of(97)], ONE_KEY),
    connection.send(['LPOP', key], ONE_KEY),
    connection.send(['GET', key], ONE_KEY),
  ])
  expect(replies).toMatchObject([{ value: 'OK' }, { reason: { code: 'E_WRONG_TYPE', key } }, { value: 'a' }])
  client.disconnect()
})

test('a subscriber hears its channel until it stops, and others go on', async () => {
  const client = new Redis({ path: redis.socket })
  const subscriber = subscriberFromIoredis(client)
  const channel = unique()
  const first: string[] = []
  const second: string[] = []
  const stop = await subscriber.subscribe(channel, (message) => first.push(message))
  const stopSecond = await subscriber.subscribe(channel, (message) => second.push(message))
  await redis.command('PUBLISH', channel, 'a')
  await eventually(() => expect([first, second]).toEqual([['a'], ['a']]))
  await stop()
  await stop()
  await redis.command('PUBLISH', channel, 'b')
  await eventually(() => expect(second).toEqual(['a', 'b']))
  expect(first).toEqual(['a'])
  await stopSecond()
  expect(await redis.command('PUBSUB', 'NUMSUB', channel)).toEqual([channel, 0])
  client.disconnect()
})

test('a subscriber of many channels is one listener of its client', async () => {
  const client = new Redis({ path: redis.socket })
  const before = client.listenerCount('message')
  const subscriber = subscriberFromIoredis(client)
  const channels = Array.from({ length: 12 }, () => unique())
  const heard: string[] = []
  const stops = await Promise.all(
    channels.map((channel) => subscriber.subscribe(channel, (message) => heard.push(message))),
  )
  expect(client.listenerCount('message')).toBe(before + 1)
  for (const channel of channels) await redis.command('PUBLISH', channel, channel)
  await eventually(() => expect(heard).toEqual(channels))
  await Promise.all(stops.map((stop) => stop()))
  expect(client.listenerCount('message')).toBe(before)
  client.disconnect()
})
