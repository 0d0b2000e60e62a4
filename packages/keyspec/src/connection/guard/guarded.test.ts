import { createClient } from 'redis'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { UnavailableError } from '../../errors.ts'
import { eventually, startRedis, type TemporaryRedis, unique } from '../../testing/index.ts'
import { type Connection, NO_KEY, ONE_KEY, type Reply } from '../connection.ts'
import { fromNodeRedis } from '../client/node-redis.ts'
import { guarded, type StateChange } from './guarded.ts'

const started: TemporaryRedis[] = []

afterEach(async () => {
  await Promise.all(started.splice(0).map((redis) => redis.stop()))
})

async function server(): Promise<{ redis: TemporaryRedis; connection: Connection }> {
  const redis = await startRedis()
  started.push(redis)
  const client = createClient({
    socket: { path: redis.socket, reconnectStrategy: 10 },
    commandOptions: { timeout: 1_000 },
    disableOfflineQueue: true,
  })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.destroy())
  return { redis, connection: fromNodeRedis(client) }
}

/** A connection whose calls the test answers, in the order they were sent. */
function byHand() {
  const calls: { resolve: (reply: Reply) => void; reject: (error: unknown) => void }[] = []
  const connection: Connection = {
    client: 'by hand',
    cluster: false,
    send: () => new Promise((resolve, reject) => calls.push({ resolve, reject })),
    masters: async () => [connection],
  }
  return { connection, calls }
}

const lost = () => Promise.reject(new Error('connection lost'))

test('passes calls on, and counts and times their answers', async () => {
  const connection = guarded((await server()).connection)
  const key = unique()
  expect(await connection.send(['SET', key, '1'], ONE_KEY)).toBe('OK')
  expect(await connection.send(['GET', key], ONE_KEY)).toBe('1')
  const { responseMs, peakHour, since, ...rest } = connection.health()
  expect(rest).toEqual({
    healthy: true,
    state: 'closed',
    attempts: 2,
    failures: 0,
    consecutiveFailures: 0,
    successRate: 1,
    errorReplies: 0,
    unsent: 0,
  })
  expect(responseMs.count).toBe(2)
  expect(responseMs.p50).toBeGreaterThan(0)
  expect(responseMs.p99).toBeGreaterThanOrEqual(responseMs.p50)
  expect(responseMs.max).toBeGreaterThanOrEqual(responseMs.mean)
  expect(peakHour).toMatchObject({ calls: 2 })
  expect(peakHour!.start.getTime() % 3_600_000).toBe(0)
  expect(since).toBeInstanceOf(Date)
})

test('an error reply is an answer, however many there are', async () => {
  const connection = guarded((await server()).connection)
  const key = unique()
  await connection.send(['RPUSH', key, 'a'], ONE_KEY)
  for (let i = 0; i < 5; i += 1) {
    await expect(connection.send(['GET', key], ONE_KEY)).rejects.toMatchObject({ code: 'E_WRONG_TYPE' })
  }
  expect(connection.health()).toMatchObject({ state: 'closed', failures: 0, errorReplies: 5, healthy: true })
})

test('a server that says it cannot serve, such as a replica that is written to, has failed', async () => {
  const { redis, connection: plain } = await server()
  const connection = guarded(plain, { openFor: '1h' })
  await redis.command('REPLICAOF', '127.0.0.1', '1')
  for (let i = 0; i < 3; i += 1) {
    await expect(connection.send(['SET', 'a', '1'], ONE_KEY)).rejects.toMatchObject({ code: 'E_READ_ONLY' })
  }
  expect(connection.health()).toMatchObject({ state: 'open', failures: 3, healthy: false, successRate: 0 })
})

describe('when the server is killed', () => {
  test('opens, refuses at once in words, and closes when the server is back', async () => {
    const { redis, connection: plain } = await server()
    const changes: StateChange[] = []
    const connection = guarded(plain, { openFor: '50ms', onStateChange: (change) => changes.push(change) })
    await redis.kill()
    const refusal = await eventually(async () => {
      const error: unknown = await connection.send(['GET', 'session:1'], ONE_KEY).catch((reason) => reason)
      expect(error).toBeInstanceOf(UnavailableError)
      return error as UnavailableError
    })
    expect(refusal).toMatchObject({ code: 'E_UNAVAILABLE', key: 'session:1', cause: expect.any(Error) })
    expect(refusal.message).toMatch(
      /^session:1: not sent: Redis has been down since \d{4}-.*Z \(.+\); it is tried again in \d+ms$/,
    )
    expect(connection.health()).toMatchObject({ healthy: false })
    expect(connection.health().unsent).toBeGreaterThan(0)
    expect(changes[0]).toMatchObject({ from: 'closed', to: 'open', cause: expect.any(Error) })

    await redis.restart()
    await eventually(async () => expect(await connection.send(['PING'], NO_KEY)).toBe('PONG'))
    expect(connection.health()).toMatchObject({ healthy: true, state: 'closed', consecutiveFailures: 0 })
    expect(changes.at(-1)).toMatchObject({ from: 'half-open', to: 'closed', cause: undefined })
  })
})

describe('when the server hangs', () => {
  test('the client’s time-outs open it, and it closes when the server goes on', async () => {
    const { redis, connection: plain } = await server()
    const connection = guarded(plain, { openFor: '50ms' })
    redis.pause()
    onTestFinished(() => {
      if (redis.pid !== undefined) redis.resume()
    })
    const results = await Promise.allSettled([1, 2, 3].map(() => connection.send(['PING'], NO_KEY)))
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(connection.health()).toMatchObject({ state: 'open', failures: 3 })
    await expect(connection.send(['PING'], NO_KEY)).rejects.toThrow(UnavailableError)
    redis.resume()
    await eventually(async () => expect(await connection.send(['PING'], NO_KEY)).toBe('PONG'))
    expect(connection.health().state).toBe('closed')
  })
})

test('half-open, it lets a single call through, and all once that is answered', async () => {
  const { connection: plain, calls } = byHand()
  const connection = guarded(plain, { failureThreshold: 1, openFor: '1ms' })
  const first = connection.send(['PING'], NO_KEY)
  calls[0]!.reject(new Error('connection lost'))
  await expect(first).rejects.toThrow('connection lost')
  const probe = await eventually(async () => {
    const sent = connection.send(['PING'], NO_KEY)
    if (calls.length < 2) await sent
    return { sent }
  })
  expect(connection.health().state).toBe('half-open')
  calls[1]!.resolve('PONG')
  expect(await probe.sent).toBe('PONG')
  expect(connection.health().state).toBe('closed')
  const all = [1, 2, 3].map(() => connection.send(['PING'], NO_KEY))
  expect(calls).toHaveLength(5)
  for (const call of calls) call.resolve('PONG')
  expect(await Promise.all(all)).toEqual(['PONG', 'PONG', 'PONG'])
})

test('a mistake in the arguments says nothing about the server', async () => {
  const { connection: plain } = byHand()
  const connection = guarded(
    { ...plain, send: () => Promise.reject(new TypeError('not a string')) },
    { failureThreshold: 1 },
  )
  await expect(connection.send(['GET', 'a'], ONE_KEY)).rejects.toThrow(TypeError)
  expect(connection.health()).toMatchObject({ state: 'closed', failures: 0, errorReplies: 0 })
})

test('how long a blocking command waited is no response time', async () => {
  const { connection: plain } = byHand()
  const connection = guarded({ ...plain, send: async () => null })
  await connection.send(['BLPOP', 'a', '1'], { firstKey: 1, keyCount: 1, blocks: true })
  expect(connection.health()).toMatchObject({ attempts: 1, responseMs: { count: 0 } })
})

test('the masters share the guard: the connection itself where it is the only one', async () => {
  const { connection: plain } = byHand()
  const alone = guarded(plain)
  expect(await alone.masters()).toEqual([alone])
  const node: Connection = { ...plain, send: lost }
  const several = guarded({ ...plain, masters: async () => [node, node] }, { failureThreshold: 2 })
  const [one, two] = await several.masters()
  await expect(one!.send(['PING'], NO_KEY)).rejects.toThrow('connection lost')
  await expect(two!.send(['PING'], NO_KEY)).rejects.toThrow('connection lost')
  expect(several.health()).toMatchObject({ state: 'open', failures: 2 })
})

test('a threshold that is no whole number is refused', () => {
  expect(() => guarded(byHand().connection, { failureThreshold: 0 })).toThrow(RangeError)
})
