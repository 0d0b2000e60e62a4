import { createClient, createCluster, createSentinel } from 'redis'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startProxy } from '../../../../test-support/index.ts'
import { SchemaError } from '../errors.ts'
import { eventually, startRedis, type TemporaryRedis, unique } from '../testing/index.ts'
import { NO_KEY, ONE_KEY } from './connection.ts'
import {
  fromNodeRedis,
  fromNodeRedisCluster,
  fromNodeRedisSentinel,
  subscriberFromNodeRedis,
} from './node-redis.ts'
import { isUnavailable } from './server-error.ts'

let redis: TemporaryRedis
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

async function connected(options: object = {}, socket = redis.socket) {
  const client = createClient({ socket: { path: socket, tls: false, reconnectStrategy: 5 }, ...options })
  client.on('error', () => {})
  await client.connect()
  return client
}

test('a client with a keyPrefix is refused, whatever the topology', () => {
  const keyPrefix = 'app:'
  expect(() => fromNodeRedis(createClient({ keyPrefix }))).toThrow(SchemaError)
  expect(() => fromNodeRedis(createClient({ keyPrefix }))).toThrow('has the keyPrefix "app:"')
  expect(() => fromNodeRedisCluster(createCluster({ keyPrefix, rootNodes: [] }))).toThrow(SchemaError)
  const sentinel = createSentinel({ keyPrefix, name: 'm', sentinelRootNodes: [{ host: 'x', port: 1 }] })
  expect(() => fromNodeRedisSentinel(sentinel)).toThrow(SchemaError)
})

test('a server that stops answering meets the deadline of the client, and the connection works again', async () => {
  const client = await connected({ commandOptions: { timeout: 80 } })
  const connection = fromNodeRedis(client)
  const key = unique()
  await connection.send(['SET', key, '1'], ONE_KEY)
  redis.pause()
  const late = await Promise.allSettled([
    connection.send(['INCR', key], ONE_KEY),
    connection.send(['GET', key], ONE_KEY),
  ]).finally(() => redis.resume())
  for (const outcome of late) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'TimeoutError' } })
    expect(isUnavailable((outcome as PromiseRejectedResult).reason)).toBe(true)
  }
  expect((late[0] as PromiseRejectedResult).reason.message).toBe(
    'INCR was not answered within 80 ms; it may have been done, or may yet be',
  )
  // The answers that came too late went to nobody: the next call has its own.
  expect(await connection.send(['GET', key], ONE_KEY)).toBe('2')
  client.destroy()
})

test('a command that waits on the server has no deadline', async () => {
  const client = await connected({ commandOptions: { timeout: 20 } })
  const connection = fromNodeRedis(client)
  expect(await connection.send(['BLPOP', unique(), '0.2'], { ...ONE_KEY, blocks: true })).toBeNull()
  await expect(connection.send(['BLPOP', unique(), '0.2'], ONE_KEY)).rejects.toThrow('BLPOP was not answered')
  client.destroy()
})

test('a client without a timeout waits for as long as it takes', async () => {
  const client = await connected({ commandOptions: { timeout: 0 } })
  const connection = fromNodeRedis(client)
  expect(await connection.send(['BLPOP', unique(), '0.2'], ONE_KEY)).toBeNull()
  client.destroy()
})

test('the deadline is one timer, whatever is sent, and none when nothing is', async () => {
  const client = await connected({ commandOptions: { timeout: 40 } })
  const signals = vi.spyOn(AbortSignal, 'timeout')
  const timers = vi.spyOn(globalThis, 'setInterval')
  const connection = fromNodeRedis(client)
  await Promise.all(Array.from({ length: 1000 }, () => connection.send(['PING'], NO_KEY)))
  expect([signals.mock.calls.length, timers.mock.calls.length]).toEqual([0, 1])
  const stopped = vi.spyOn(globalThis, 'clearInterval')
  await eventually(() => expect(stopped).toHaveBeenCalledTimes(1))
  await connection.send(['PING'], NO_KEY)
  expect(timers).toHaveBeenCalledTimes(2)
  vi.restoreAllMocks()
  client.destroy()
})

test('commands that were queued while there was no connection leave the queue at the deadline', async () => {
  const proxy = await startProxy({ url: `unix://${redis.socket}` })
  const client = await connected({ commandOptions: { timeout: 60 } }, proxy.socket)
  const connection = fromNodeRedis(client)
  const key = unique()
  proxy.refuse()
  proxy.cut()
  await eventually(() => expect(client.isReady).toBe(false))
  await expect(connection.send(['SET', key, '1'], ONE_KEY)).rejects.toThrow()
  await proxy.restore()
  await eventually(() => expect(client.isReady).toBe(true))
  expect(await connection.send(['EXISTS', key], ONE_KEY)).toBe(0)
  expect(await redis.command('EXISTS', key)).toBe(0)
  client.destroy()
  await proxy.stop()
})

test('a closed client rejects with its own error', async () => {
  const client = await connected()
  const connection = fromNodeRedis(client)
  client.destroy()
  await expect(connection.send(['PING'], NO_KEY)).rejects.toThrow('The client is closed')
})

test('a subscriber hears its channel until it stops, and others go on', async () => {
  const client = await connected()
  const subscriber = subscriberFromNodeRedis(client)
  const channel = unique()
  const first: string[] = []
  const second: string[] = []
  const stop = await subscriber.subscribe(channel, (message) => first.push(message))
  const stopSecond = await subscriber.subscribe(channel, (message) => second.push(message))
  await redis.command('PUBLISH', channel, 'a')
  await eventually(() => expect([first, second]).toEqual([['a'], ['a']]))
  await stop()
  await redis.command('PUBLISH', channel, 'b')
  await eventually(() => expect(second).toEqual(['a', 'b']))
  expect(first).toEqual(['a'])
  await stopSecond()
  expect(await redis.command('PUBSUB', 'NUMSUB', channel)).toEqual([channel, 0])
  client.destroy()
})
