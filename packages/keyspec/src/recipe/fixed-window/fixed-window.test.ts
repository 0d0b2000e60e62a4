import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromNodeRedis } from '../../connection/client/node-redis.ts'
import { KeyError, SchemaError } from '../../errors.ts'
import { open } from '../../keyspace.ts'
import { startRedis, type TemporaryRedis, unique } from '../../testing/index.ts'
import type { LimitResult } from '../limiter/limit-result.ts'
import { fixedWindow } from './fixed-window.ts'

let redis: TemporaryRedis
const clients: { close(): Promise<void> }[] = []

async function connect() {
  const client = createClient({ socket: { path: redis.socket, tls: false } })
  await client.connect()
  clients.push(client)
  return fromNodeRedis(client)
}

beforeAll(async () => {
  redis = await startRedis()
})

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()))
  await redis.stop()
})

async function limiterOf(limit: number, options: object = {}) {
  const schema = { hits: fixedWindow('rate:<ip>', { per: '1m', limit, ...options }) }
  return open(schema, await connect(), { prefix: `${unique()}:` }).hits({ ip: '10.0.0.1' })
}

test('admits up to the limit, and says what remains and when to come back', async () => {
  const hits = await limiterOf(2)
  const first = await hits.take()
  expect(first).toEqual({
    allowed: true,
    limit: 2,
    perMs: 60_000,
    remaining: 1,
    resetMs: 60_000,
    from: 'redis',
  })
  expect(await hits.take()).toMatchObject({ allowed: true, remaining: 0 })
  const refused = await hits.take()
  expect(refused).toMatchObject({ allowed: false, remaining: 0, from: 'redis' })
  const ttl = (await hits.ttlMs()) as number
  expect((refused as LimitResult & { allowed: false }).retryAfterMs).toBeGreaterThanOrEqual(ttl)
  expect(refused.resetMs).toBeLessThanOrEqual(60_000)
})

test('counts in a plain decimal string that expires with the window, set in the first take and never renewed', async () => {
  const hits = await limiterOf(10)
  await hits.take(3)
  expect(await redis.command('GET', hits.name)).toBe('3')
  expect(await redis.command('PTTL', hits.name)).toBeGreaterThan(50_000)
  await redis.command('PEXPIRE', hits.name, '30000')
  expect(await hits.take(2)).toMatchObject({ remaining: 5 })
  expect(await redis.command('GET', hits.name)).toBe('5')
  expect(await redis.command('PTTL', hits.name)).toBeLessThanOrEqual(30_000)
})

test('what is refused does not count, and a cost is taken whole or not at all', async () => {
  const hits = await limiterOf(10)
  await hits.take(8)
  expect(await hits.take(3)).toMatchObject({ allowed: false, remaining: 2 })
  expect(await hits.take(3)).toMatchObject({ allowed: false, remaining: 2 })
  expect(await redis.command('GET', hits.name)).toBe('8')
  expect(await hits.take(2)).toMatchObject({ allowed: true, remaining: 0 })
})

test('a window that has ended leaves the whole limit', async () => {
  const hits = await limiterOf(1)
  await hits.take()
  await redis.command('PEXPIRE', hits.name, '0')
  expect(await hits.take()).toMatchObject({ allowed: true, resetMs: 60_000 })
})

test.each([11, 0, -1, 1.5, Number.NaN])(
  'a cost of %d of a limit of 10 is a RangeError that names the key',
  async (cost) => {
    const hits = await limiterOf(10)
    await expect(hits.take(cost)).rejects.toThrow(RangeError)
    await expect(hits.take(cost)).rejects.toThrow(`${hits.name}: cannot take ${cost} of a limit of 10`)
    expect(await hits.exists()).toBe(false)
  },
)

test('a take that is refused leaves the count as it was, and those that follow it write nothing', async () => {
  const hits = await limiterOf(10)
  await hits.take(9)
  const changes = async () =>
    /rdb_changes_since_last_save:(\d+)/.exec(String(await redis.command('INFO', 'persistence')))![1]
  expect(await hits.take(2)).toMatchObject({ allowed: false, remaining: 1 })
  expect(await redis.command('GET', hits.name)).toBe('9')
  const before = await changes()
  for (let turn = 0; turn < 3; turn += 1)
    expect(await hits.take(2)).toMatchObject({ allowed: false, remaining: 1 })
  expect(await changes()).toBe(before)
  expect(await hits.take()).toMatchObject({ allowed: true, remaining: 0 })
  expect(await redis.command('GET', hits.name)).toBe('10')
})

test('a count without a time to live, left by a program that died, is given one, even by a take that is refused', async () => {
  const hits = await limiterOf(5)
  await redis.command('SET', hits.name, '4')
  expect(await hits.take()).toMatchObject({ allowed: true, remaining: 0, resetMs: 60_000 })
  expect(await redis.command('PTTL', hits.name)).toBeGreaterThan(0)
  await redis.command('SET', hits.name, '9')
  expect(await hits.take()).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 60_001 })
  expect(await redis.command('PTTL', hits.name)).toBeGreaterThan(0)
})

test('a time to live beyond the window, as after a clock that was set back, is cut to the window', async () => {
  const hits = await limiterOf(5)
  await redis.command('SET', hits.name, '5', 'PX', '7200000')
  expect(await hits.take()).toMatchObject({ allowed: false, resetMs: 60_000 })
  expect(await redis.command('PTTL', hits.name)).toBeLessThanOrEqual(60_000)
})

test('peek takes nothing and creates nothing', async () => {
  const hits = await limiterOf(5)
  expect(await hits.peek()).toEqual({ limit: 5, perMs: 60_000, remaining: 5, resetMs: 0, from: 'redis' })
  expect(await hits.exists()).toBe(false)
  await hits.take(2)
  expect(await hits.peek()).toMatchObject({ remaining: 3 })
  expect(await redis.command('GET', hits.name)).toBe('2')
})

test('reset forgets what was taken', async () => {
  const hits = await limiterOf(1)
  await hits.take()
  expect(await hits.reset()).toBe(true)
  expect(await hits.exists()).toBe(false)
  expect(await hits.reset()).toBe(false)
  expect(await hits.take()).toMatchObject({ allowed: true })
})

test('a key that holds no count is an error that names it, and is left as it is', async () => {
  const hits = await limiterOf(5)
  await redis.command('SET', hits.name, 'hello')
  await expect(hits.take()).rejects.toMatchObject({ code: 'E_NO_COUNT', key: hits.name })
  await expect(hits.take()).rejects.toThrow(/holds no count, but 5 bytes/)
  expect(await redis.command('GET', hits.name)).toBe('hello')
  await redis.command('DEL', hits.name)
  await redis.command('RPUSH', hits.name, 'a')
  await expect(hits.take()).rejects.toMatchObject({ code: 'E_WRONG_TYPE', key: hits.name })
})

test('admits exactly the limit of many takes at once over several connections', async () => {
  const prefix = `${unique()}:`
  const schema = { hits: fixedWindow('rate:<ip>', { per: '1m', limit: 50 }) }
  const keyspaces = await Promise.all(
    Array.from({ length: 4 }, async () => open(schema, await connect(), { prefix })),
  )
  const takes = keyspaces.flatMap(({ hits }) => Array.from({ length: 50 }, () => hits({ ip: 'a' }).take()))
  const taken = await Promise.all(takes)
  expect(taken.filter(({ allowed }) => allowed)).toHaveLength(50)
  expect(await redis.command('GET', `${prefix}rate:a`)).toBe('50')
})

test('takes of one tick that are merged answer as they would one by one', async () => {
  const costs = [3, 4, 5, 2, 9, 1, 1, 1]
  const [together, apart] = [await limiterOf(12), await limiterOf(12)]
  const merged = await Promise.all(costs.map((cost) => together.take(cost)))
  const single: LimitResult[] = []
  for (const cost of costs) single.push(await apart.take(cost))
  const answers = (all: LimitResult[]) => all.map(({ allowed, remaining }) => [allowed, remaining])
  expect(answers(merged)).toEqual(answers(single))
  expect(await redis.command('GET', together.name)).toBe(await redis.command('GET', apart.name))
})

test('a limiter that is switched off admits all, counts nothing, and says so', async () => {
  const hits = await limiterOf(1, { enabled: false })
  for (let i = 0; i < 3; i += 1) {
    expect(await hits.take()).toMatchObject({ allowed: true, remaining: 1, from: 'disabled' })
  }
  expect(await hits.peek()).toMatchObject({ from: 'disabled' })
  expect(await hits.exists()).toBe(false)
})

describe('limits by the last placeholder', () => {
  const schema = {
    calls: fixedWindow('calls:<user>:<tier>', { per: '1m', limits: { free: 1, paid: 3 } }),
  }

  test('each value has a limit of its own', async () => {
    const { calls } = open(schema, await connect(), { prefix: `${unique()}:` })
    expect(await calls({ user: 1, tier: 'free' }).take()).toMatchObject({ limit: 1, remaining: 0 })
    expect(await calls({ user: 1, tier: 'paid' }).take()).toMatchObject({ limit: 3, remaining: 2 })
    await expect(calls({ user: 1, tier: 'free' }).take(2)).rejects.toThrow(RangeError)
  })

  test('any other value is a KeyError, and no key of this entry', async () => {
    const { calls } = open(schema, await connect())
    await expect(calls({ user: 1, tier: 'gold' as 'free' }).take()).rejects.toThrow(KeyError)
    await expect(calls({ user: 1, tier: 'gold' as 'free' }).take()).rejects.toThrow('is not one of free')
    await expect(calls({ user: 1, tier: 'toString' as 'free' }).take()).rejects.toThrow(KeyError)
    expect(calls.parse('calls:1:gold')).toBeUndefined()
    expect(calls.parse('calls:1:paid')).toEqual({ user: '1', tier: 'paid' })
  })
})

test('a declaration that cannot work is refused', () => {
  expect(() => fixedWindow('rate:<ip>', { per: '1m', limit: 0 })).toThrow(SchemaError)
  expect(() => fixedWindow('rate:<ip>', { per: '1m', limit: 1.5 })).toThrow(
    '"rate:<ip>": a limit is a whole number',
  )
  expect(() => fixedWindow('rate', { per: '1m', limits: { a: 1 } })).toThrow('has no placeholder')
  expect(() => fixedWindow('rate:<ip>', { per: '1m', limit: 5, unreachable: { share: 1 / 8 } })).toThrow(
    'a share of 0.125 of a limit of 5 would admit nothing',
  )
  expect(() => fixedWindow('rate:<ip>', { per: '1m', limit: 5, unreachable: { share: 2 } })).toThrow(
    SchemaError,
  )
})
