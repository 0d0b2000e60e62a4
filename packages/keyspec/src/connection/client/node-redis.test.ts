import { createClient, createCluster, createSentinel } from 'redis'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startProxy } from '../../../../../test-support/index.ts'
import { SchemaError } from '../../errors.ts'
import { eventually, startRedis, type TemporaryRedis, unique } from '../../testing/index.ts'
import { NO_KEY, ONE_KEY } from '../connection.ts'
import { boundOf } from './deadline.ts'
import {
  fromNodeRedis,
  fromNodeRedisCluster,
  fromNodeRedisSentinel,
  subscriberFromNodeRedis,
} from './node-redis.ts'
import { isUnavailable } from '../server-error.ts'

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
    expect(outcome).toMatchObject({
      status: 'rejected',
      reason: { code: 'E_UNKNOWN_OUTCOME', cause: { name: 'TimeoutError' } },
    })
    expect(isUnavailable((outcome as PromiseRejectedResult).reason)).toBe(true)
  }
  expect((late[0] as PromiseRejectedResult).reason.message).toBe(
    `${key}: the outcome of INCR is unknown (no answer within 80 ms): the server may have applied it. ` +
      'A read can be repeated. Before you repeat a write, read what is stored',
  )
  // The answers that came too late went to nobody: the next call has its own.
  expect(await connection.send(['GET', key], ONE_KEY)).toBe('2')
  client.destroy()
})

test('a command that waits on the server has its own time beside the deadline', async () => {
  const client = await connected({ commandOptions: { timeout: 300 } })
  const connection = fromNodeRedis(client)
  const blocks = { ...ONE_KEY, blocks: true }
  expect(await connection.send(['BLPOP', unique(), '0.5'], blocks)).toBeNull()
  await expect(connection.send(['BLPOP', unique(), '0.5'], ONE_KEY)).rejects.toMatchObject({
    cause: { message: 'no answer within 300 ms' },
  })
  const start = performance.now()
  redis.pause()
  const late = connection.send(['BLPOP', unique(), '0.5'], blocks)
  await expect(late.finally(() => redis.resume())).rejects.toMatchObject({
    code: 'E_UNKNOWN_OUTCOME',
    cause: { message: 'no answer within 800 ms' },
  })
  expect(performance.now() - start).toBeGreaterThan(790)
  client.destroy()
})

test('the bound is the option of the adapter or the client’s own, whichever is shorter, and 5 s by default', () => {
  expect(boundOf({}, undefined)).toBe(5000)
  expect(boundOf({}, 0)).toBe(5000)
  expect(boundOf({}, 80)).toBe(80)
  expect(boundOf({}, 60_000)).toBe(60_000)
  expect(boundOf({ timeout: '2s' }, undefined)).toBe(2000)
  expect(boundOf({ timeout: '2s' }, 80)).toBe(80)
  expect(boundOf({ timeout: '2s' }, 60_000)).toBe(2000)
  expect(() => fromNodeRedis(createClient(), { timeout: '2x' as '2s' })).toThrow(SchemaError)
})

test('the deadline is one timer, whatever is sent, and none when nothing is', async () => {
  const client = await connected({ commandOptions: { timeout: 408 } })
  const signals = vi.spyOn(AbortSignal, 'timeout')
  const timers = vi.spyOn(globalThis, 'setInterval')
  // Connections of other tests of this worker may have timers too: these are of an eighth of the bound.
  const own = () => timers.mock.results.filter((_, at) => timers.mock.calls[at]![1] === 51)
  const connection = fromNodeRedis(client)
  await Promise.all(Array.from({ length: 1000 }, () => connection.send(['PING'], NO_KEY)))
  expect([signals.mock.calls.length, own().length]).toEqual([0, 1])
  const stopped = vi.spyOn(globalThis, 'clearInterval')
  await eventually(() => expect(stopped).toHaveBeenCalledWith(own()[0]!.value))
  await connection.send(['PING'], NO_KEY)
  expect(own()).toHaveLength(2)
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

test('a closed client has not sent a command', async () => {
  const client = await connected()
  const connection = fromNodeRedis(client)
  client.destroy()
  await expect(connection.send(['PING'], NO_KEY)).rejects.toMatchObject({
    code: 'E_NOT_SENT',
    cause: { message: 'The client is closed' },
  })
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
