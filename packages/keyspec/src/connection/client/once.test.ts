import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { GlideClient, Logger } from '@valkey/valkey-glide'
import * as ioredis6 from 'ioredis'
import * as ioredis5 from 'ioredis-5'
import * as redis6 from 'redis'
import * as redis5 from 'redis-5'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Proxy, startProxy } from '../../../../../test-support/index.ts'
import { KeyspecError, NotSentError, UnknownOutcomeError } from '../../errors.ts'
import { eventually, startRedis, type TemporaryRedis, unique } from '../../testing/index.ts'
import { type Command, type Connection, NO_KEY, ONE_KEY, type Shape } from '../connection.ts'
import type { TimeoutOptions } from './deadline.ts'
import { fromGlide } from './glide.ts'
import { fromIoredis } from './ioredis.ts'
import { fromNodeRedis } from './node-redis.ts'
import { isUnavailable } from '../server-error.ts'

Logger.setLoggerConfig('off')

interface Over {
  readonly connection: Connection
  /** Sends INCR with the client itself. */
  incr(key: string): Promise<unknown>
}

type Open = (port: number, options?: TimeoutOptions) => Promise<Over>

const overIoredis =
  (module: object, settings: object = {}): Open =>
  async (port, options) => {
    const { Redis } = module as typeof ioredis6
    const client = new Redis({ port, ...settings })
    client.on('error', () => {})
    onTestFinished(() => client.disconnect())
    return { connection: fromIoredis(client, options), incr: (key) => client.incr(key) }
  }

const overNodeRedis =
  (module: object): Open =>
  async (port, options) => {
    const { createClient } = module as typeof redis6
    const client = createClient({ url: `redis://127.0.0.1:${port}` })
    client.on('error', () => {})
    await client.connect()
    onTestFinished(() => client.destroy())
    return { connection: fromNodeRedis(client, options), incr: (key) => client.incr(key) }
  }

const overGlide: Open = async (port, options) => {
  const client = await GlideClient.createClient({ addresses: [{ host: '127.0.0.1', port }] })
  onTestFinished(() => client.close())
  return { connection: fromGlide(client, options), incr: (key) => client.incr(key) }
}

// As its documentation has it: reconnect, and send the refused command again.
const reconnectOnError = (error: Error) => (error.message.startsWith('READONLY') ? 2 : false)

// Each client as its own documentation creates it, then the settings of ioredis that change what it repeats.
const clients: readonly (readonly [string, Open])[] = [
  ['ioredis 6', overIoredis(ioredis6)],
  ['ioredis 5', overIoredis(ioredis5)],
  ['ioredis 6, pipelining by itself', overIoredis(ioredis6, { enableAutoPipelining: true })],
  ['ioredis 5, pipelining by itself', overIoredis(ioredis5, { enableAutoPipelining: true })],
  ['ioredis 6, reconnecting on errors', overIoredis(ioredis6, { reconnectOnError })],
  ['ioredis 5, reconnecting on errors', overIoredis(ioredis5, { reconnectOnError })],
  ['ioredis 6, without a ready check', overIoredis(ioredis6, { enableReadyCheck: false })],
  ['node-redis 6', overNodeRedis(redis6)],
  ['node-redis 5', overNodeRedis(redis5)],
  ['glide', overGlide],
]

const SCRIPT: Shape = { firstKey: 3, keyCount: 1 }

async function behindProxy(): Promise<{ redis: TemporaryRedis; proxy: Proxy; port: number }> {
  const redis = await startRedis({ port: 'any' })
  onTestFinished(() => redis.stop())
  const proxy = await startProxy(redis)
  onTestFinished(() => proxy.stop())
  return { redis, proxy, port: proxy.port! }
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error as KeyspecError,
  )

describe.each(clients)('%s', (name, open) => {
  // GLIDE keeps its queue to itself.
  const seesQueue = name !== 'glide'

  test('a command whose reply was lost is applied once, and its error says that nobody knows', async () => {
    const { redis, proxy, port } = await behindProxy()
    const { connection } = await open(port)
    const key = unique()
    await connection.send(['SET', key, '0'], ONE_KEY)
    proxy.stall('replies')
    const body = 'return redis.call("INCR", KEYS[1])'
    const commands: [Command, Shape][] = Array.from({ length: 30 }, (_, at) =>
      at % 3 === 0 ? [['EVAL', body, '1', key], SCRIPT] : [['INCR', key], ONE_KEY],
    )
    const lost = commands.map(([command, shape]) => failure(connection.send(command, shape)))
    await eventually(async () => expect(await redis.command('GET', key)).toBe('30'))
    proxy.cut()
    await proxy.restore()
    const errors = await Promise.all(lost)
    for (const [at, error] of errors.entries()) {
      expect(error).toBeInstanceOf(UnknownOutcomeError)
      expect(error).toMatchObject({ code: 'E_UNKNOWN_OUTCOME', key })
      expect(error!.message).toContain(`${key}: the outcome of ${String(commands[at]![0][0])} is unknown (`)
      expect(error!.cause).toBeInstanceOf(Error)
      expect(error!.cause).not.toBeInstanceOf(KeyspecError)
      expect(isUnavailable(error)).toBe(true)
    }
    const back = await eventually(() => connection.send(['INCR', key], ONE_KEY), { within: '20s' })
    expect(back).toBe(Number(await redis.command('GET', key)))
    expect(back).toBe(31)
  })

  // The sockets of GLIDE are not those of Node.
  test.skipIf(name === 'glide')(
    'each reply stays with its command if the connection breaks in the tick in which a command was asked for (needs sockets of Node)',
    async () => {
      const { redis, port } = await behindProxy()
      const sockets: Socket[] = []
      const note = (message: unknown) => void sockets.push((message as { socket: Socket }).socket)
      subscribe('net.client.socket', note)
      onTestFinished(() => void unsubscribe('net.client.socket', note))
      const { connection, incr } = await open(port)
      const key = unique()
      await connection.send(['SET', key, '0'], ONE_KEY)
      const calls = [failure(connection.send(['INCR', key], ONE_KEY)), failure(incr(`${key}:own`))]
      for (const socket of sockets) if (socket.remotePort === port) socket.destroy(new Error('reset'))
      const [error] = await Promise.all(calls)
      const texts = Array.from({ length: 5 }, (_, at) => `${key} ${at}`)
      for (const text of texts) {
        const reply = await eventually(() => connection.send(['ECHO', text], NO_KEY), { within: '20s' })
        expect(reply).toBe(text)
      }
      const times = Number(await redis.command('GET', key))
      if (error === undefined) expect(times).toBe(1)
      else expect(isUnavailable(error)).toBe(true)
      if (error instanceof NotSentError) expect(times).toBe(0)
    },
  )

  test('an error has no arguments of the command', async () => {
    const { redis, proxy, port } = await behindProxy()
    const { connection } = await open(port)
    const key = unique()
    await connection.send(['SET', key, 'x'], ONE_KEY)
    const refused = await failure(connection.send(['LPUSH', key, 'secret'], ONE_KEY))
    proxy.stall('replies')
    const lost = failure(connection.send(['SET', key, 'secret'], ONE_KEY))
    await eventually(async () => expect(await redis.command('GET', key)).toBe('secret'))
    proxy.cut()
    for (const error of [refused, await lost]) {
      const { command, message, stack } = error!.cause as { command?: unknown } & Error
      expect(JSON.stringify([error, command, message, stack, error!.message])).not.toContain('secret')
    }
  })

  test('a command that waits for a connection in vain is not sent, later either', async () => {
    const { redis, proxy, port } = await behindProxy()
    const { connection } = await open(port, { timeout: '400ms' })
    const key = unique()
    await connection.send(['SET', key, '0'], ONE_KEY)
    proxy.refuse()
    proxy.cut()
    // The client notices after a moment; until then nobody can say whether a command was sent.
    const error = await eventually(async () => {
      const refused = await failure(connection.send(['INCR', key], ONE_KEY))
      expect(refused).toBeInstanceOf(KeyspecError)
      if (seesQueue) expect(refused).toBeInstanceOf(NotSentError)
      return refused
    })
    if (seesQueue) {
      expect(error).toMatchObject({ code: 'E_NOT_SENT', key })
      expect(error!.message).toContain(`${key}: INCR was not sent (`)
    }
    expect(error!.cause).not.toBeInstanceOf(KeyspecError)
    expect(isUnavailable(error)).toBe(true)
    const before = await redis.command('GET', key)
    await proxy.restore()
    await eventually(() => connection.send(['SET', `${key}:back`, '1'], ONE_KEY), { within: '20s' })
    expect(await redis.command('GET', key)).toBe(before)
    expect(before).toBe('0')
  })

  test('a server that is stopped, and a connection that is half open, meet the bound', async () => {
    const { redis, proxy, port } = await behindProxy()
    const { connection } = await open(port, { timeout: '400ms' })
    const key = unique()
    await connection.send(['SET', key, '0'], ONE_KEY)
    redis.pause()
    const start = performance.now()
    const stopped = await Promise.all([
      failure(connection.send(['INCR', key], ONE_KEY)),
      failure(connection.send(['GET', key], ONE_KEY)),
    ]).finally(() => redis.resume())
    expect(performance.now() - start).toBeLessThan(3_000)
    for (const error of stopped) expect(error).toMatchObject({ code: 'E_UNKNOWN_OUTCOME', key })
    await eventually(async () => expect(Number(await redis.command('GET', key))).toBeLessThanOrEqual(1))
    await eventually(() => connection.send(['SET', key, '0'], ONE_KEY), { within: '20s' })
    proxy.stall('requests')
    proxy.stall('replies')
    const halfOpen = await failure(connection.send(['INCR', key], ONE_KEY))
    expect(halfOpen).toMatchObject({ code: 'E_UNKNOWN_OUTCOME', key })
    await proxy.restore()
    await eventually(() => connection.send(['GET', key], ONE_KEY), { within: '20s' })
    expect(Number(await redis.command('GET', key))).toBeLessThanOrEqual(1)
  })
})

test('commands of the program over the same client are repeated as before', async () => {
  const { redis, proxy, port } = await behindProxy()
  const { connection, incr } = await overIoredis(ioredis6)(port)
  const [ours, theirs] = [unique(), unique()]
  await connection.send(['SET', ours, '0'], ONE_KEY)
  proxy.stall('replies')
  const lost = [failure(connection.send(['INCR', ours], ONE_KEY)), incr(theirs)] as const
  await eventually(async () => expect(await redis.command('GET', theirs)).toBe('1'))
  proxy.cut()
  await proxy.restore()
  expect(await lost[0]).toMatchObject({ code: 'E_UNKNOWN_OUTCOME', key: ours })
  expect(await lost[1]).toBe(2)
  expect(await redis.command('GET', ours)).toBe('1')
})

test.each([
  ['ioredis 6', ioredis6],
  ['ioredis 5', ioredis5],
])(
  '%s: a whole pipeline of the program between our commands is repeated as before',
  async (_name, module) => {
    const { redis, proxy, port } = await behindProxy()
    const { Redis } = module as unknown as typeof ioredis6
    const client = new Redis({ port })
    client.on('error', () => {})
    onTestFinished(() => client.disconnect())
    const connection = fromIoredis(client)
    const [ours, theirs] = [unique(), unique()]
    await connection.send(['SET', ours, '0'], ONE_KEY)
    proxy.stall('replies')
    const first = failure(connection.send(['INCR', ours], ONE_KEY))
    const pipeline = client.pipeline().incr(theirs).incr(theirs).exec()
    const second = failure(connection.send(['INCR', ours], ONE_KEY))
    await eventually(async () => expect(await redis.command('GET', ours)).toBe('2'))
    proxy.cut()
    await proxy.restore()
    expect([await first, await second]).toMatchObject([
      { code: 'E_UNKNOWN_OUTCOME' },
      { code: 'E_UNKNOWN_OUTCOME' },
    ])
    expect(await pipeline).toEqual([
      [null, 3],
      [null, 4],
    ])
    expect(await redis.command('GET', ours)).toBe('2')
  },
)
