import { createClient } from 'redis'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { startProxy } from '../../../../../test-support/index.ts'
import type { Connection } from '../../connection/connection.ts'
import { guarded } from '../../connection/guard/guarded.ts'
import { fromNodeRedis } from '../../connection/client/node-redis.ts'
import { open } from '../../keyspace.ts'
import { param } from '../../param.ts'
import { eventually, startRedis, type TemporaryRedis, unique } from '../../testing/index.ts'
import { quota } from './quota.ts'

let redis: TemporaryRedis

beforeAll(async () => {
  redis = await startRedis()
})

afterAll(() => redis.stop())

async function connect(path = redis.socket) {
  const client = createClient({
    socket: { path, reconnectStrategy: 10 },
    disableOfflineQueue: true,
    commandOptions: { timeout: 2_000 },
  })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.destroy())
  return fromNodeRedis(client)
}

const declared = {
  limit: 10,
  mirror: ['counter:<hour>'],
  ttl: '2h',
  params: { hour: param.hour },
} as const

const at = (time: string) => Date.parse(`2024-09-17T${time}Z`)

/** A quota whose clock stands where the test says. */
async function quotaAt(time: string) {
  const clock = { now: at(time) }
  const prefix = `${unique()}:`
  const schema = { calls: quota('limit:<hour>', declared) }
  const keys = open(schema, await connect(), { prefix, now: () => clock.now })
  return { clock, prefix, calls: keys.calls(), entry: keys.calls }
}

test('a take moves every counter together, and gives each its lifetime when it creates it', async () => {
  const { calls, prefix } = await quotaAt('14:30:00')
  expect(await calls.take(3)).toEqual({
    allowed: true,
    limit: 10,
    perMs: 3_600_000,
    remaining: 7,
    resetMs: 1_800_000,
    from: 'redis',
    window: new Date(at('14:00:00')),
    used: 3,
    previousUsed: 0,
  })
  const names = [`${prefix}limit:2024-09-17_14`, `${prefix}counter:2024-09-17_14`]
  expect(calls.namesAt(new Date(at('14:59:59.999')))).toEqual(names)
  for (const name of names) {
    expect(await redis.command('GET', name)).toBe('3')
    expect(await redis.command('PTTL', name)).toBeGreaterThan(7_190_000)
    await redis.command('PEXPIRE', name, 5_000_000)
  }
  expect(await calls.take()).not.toHaveProperty('previousUsed')
  for (const name of names) {
    expect(await redis.command('GET', name)).toBe('4')
    expect(await redis.command('PTTL', name)).toBeLessThanOrEqual(5_000_000)
  }
})

test('what does not fit is refused whole, takes nothing, and may come back with the next window', async () => {
  const { calls, prefix } = await quotaAt('14:59:00')
  await calls.take(8)
  expect(await calls.take(3)).toMatchObject({ allowed: false, remaining: 2, used: 8, retryAfterMs: 60_000 })
  expect(await redis.command('GET', `${prefix}counter:2024-09-17_14`)).toBe('8')
  expect(await calls.take(2)).toMatchObject({ allowed: true, remaining: 0 })
  await expect(calls.take(11)).rejects.toThrow(RangeError)
  await expect(calls.take(0)).rejects.toThrow(RangeError)
})

test('the next window has the whole limit, and its first take alone tells what was used in the last', async () => {
  const { calls, clock } = await quotaAt('14:59:59.999')
  await calls.take(10)
  clock.now += 1
  const taken = await Promise.all([1, 2, 3].map(() => calls.take()))
  expect(taken.map(({ previousUsed }) => previousUsed)).toEqual([10, undefined, undefined])
  expect(taken[0]).toMatchObject({ window: new Date(at('15:00:00')), remaining: 9 })
  expect(await calls.at(new Date(at('14:20:00')))).toBe(10)
  expect(await calls.at(new Date(at('15:20:00')))).toBe(3)
  expect(await calls.at(new Date(at('16:00:00')))).toBe(0)
})

test('of counters that another program raised alone the largest counts, and the next take levels them', async () => {
  const { calls, prefix } = await quotaAt('14:00:00')
  await redis.command('SET', `${prefix}counter:2024-09-17_14`, 9)
  expect(await calls.peek()).toMatchObject({ used: 9, remaining: 1 })
  expect(await calls.take(2)).toMatchObject({ allowed: false })
  expect(await calls.take()).toMatchObject({ allowed: true, used: 10 })
  for (const name of [`${prefix}limit:2024-09-17_14`, `${prefix}counter:2024-09-17_14`]) {
    expect(await redis.command('GET', name)).toBe('10')
    expect(await redis.command('PTTL', name)).toBeGreaterThan(0)
  }
  await redis.command('SET', `${prefix}limit:2024-09-17_14`, 12)
  expect(await calls.peek()).toMatchObject({ used: 12, remaining: 0 })
})

test('a look takes nothing and creates no key', async () => {
  const { calls, prefix } = await quotaAt('14:00:00')
  expect(await calls.peek()).toMatchObject({ used: 0, remaining: 10, resetMs: 0, from: 'redis' })
  expect(
    await redis.command('EXISTS', `${prefix}limit:2024-09-17_14`, `${prefix}counter:2024-09-17_14`),
  ).toBe(0)
})

test('what is no count is left as it is, and named', async () => {
  const { calls, prefix } = await quotaAt('14:00:00')
  const name = `${prefix}counter:2024-09-17_14`
  await redis.command('SET', name, 'many')
  await expect(calls.take()).rejects.toThrow(/holds no count, but 4 bytes/)
  await expect(calls.take()).rejects.toMatchObject({ code: 'E_NO_COUNT' })
  await expect(calls.at(new Date(at('14:00:00')))).rejects.toMatchObject({ code: 'E_DECODE', key: name })
  expect(await redis.command('EXISTS', `${prefix}limit:2024-09-17_14`)).toBe(0)
  expect(await redis.command('GET', name)).toBe('many')
})

test('an error about one counter names that counter, and no counter has moved', async () => {
  const { calls, prefix } = await quotaAt('14:30:00')
  const [limit, mirror] = [`${prefix}limit:2024-09-17_14`, `${prefix}counter:2024-09-17_14`]
  await redis.command('RPUSH', mirror, 'x')
  await expect(calls.take()).rejects.toMatchObject({
    code: 'E_WRONG_TYPE',
    message: expect.stringContaining(`(${mirror})`),
  })
  await redis.command('DEL', mirror)
  await redis.command('SET', mirror, 'x')
  await expect(calls.take()).rejects.toThrow(`${mirror} holds no count`)
  expect(await redis.command('EXISTS', limit)).toBe(0)
})

test('the server decides the window: a process whose clock is hours off counts in the right one', async () => {
  const prefix = `${unique()}:`
  const schema = { calls: quota('limit:<hour>', declared) }
  const connection = await connect()
  const calls = [-7_200_000, 0, 86_400_000].map((aheadMs) => {
    const right = Date.now()
    const wall = vi.spyOn(Date, 'now').mockReturnValue(right + aheadMs)
    const { calls } = open(schema, connection, { prefix })
    wall.mockRestore()
    return calls()
  })
  const taken = []
  for (const each of calls) taken.push(await each.take())
  const windows = new Set(taken.map(({ window }) => window.getTime()))
  const [seconds] = (await redis.command('TIME')) as [string]
  expect(Math.max(...windows)).toBe(Math.floor(Number(seconds) / 3600) * 3_600_000)
  expect(windows.size).toBeLessThanOrEqual(2)
  if (windows.size === 1) expect(taken.map(({ used }) => used)).toEqual([1, 2, 3])
})

test('a day is a window too, and each value of another placeholder has its own', async () => {
  const prefix = `${unique()}:`
  const schema = { calls: quota('limit:<day>:<token>', { limit: 2, ttl: '2d', params: { day: param.day } }) }
  const keys = open(schema, await connect(), { prefix, now: () => at('23:00:00') })
  await keys.calls({ token: 'a' }).take(2)
  expect(await keys.calls({ token: 'b' }).take()).toMatchObject({ allowed: true, resetMs: 3_600_000 })
  expect(await redis.command('GET', `${prefix}limit:2024-09-17:a`)).toBe('2')
  expect(keys.calls.parse(`${prefix}limit:2024-09-17:a`)).toEqual({
    day: new Date('2024-09-17T00:00:00Z'),
    token: 'a',
  })
})

test('a scan shows every counter, mirrors too', async () => {
  const { calls, entry, prefix } = await quotaAt('14:00:00')
  await calls.take()
  const found = []
  for await (const { key, params } of entry.scan()) found.push([key.name, params.hour.getUTCHours()])
  expect(found.toSorted()).toEqual([
    [`${prefix}counter:2024-09-17_14`, 14],
    [`${prefix}limit:2024-09-17_14`, 14],
  ])
  expect(entry.parse('other')).toBeUndefined()
})

test('a quota without a window, with a mirror of other placeholders or without a limit is refused when declared', () => {
  const shared = { limit: 10, ttl: '2h' } as const
  expect(() => quota('limit:<hour>', { ...shared, params: {} })).toThrow(
    /give it the param codec `param.hour` or `param.day`/,
  )
  expect(() => quota('limit:<hour>', { ...declared, mirror: ['counter:<hour>:<token>'] })).toThrow(
    /need the same placeholders/,
  )
  expect(() => quota('limit:<hour>', { ...declared, limit: 0 })).toThrow(/a whole number above 0/)
  expect(() => quota('limit:<hour>', { ...declared, unreachable: { share: 2 } })).toThrow(/a share is/)
})

test('on a cluster all counters of a window need one hash tag', async () => {
  const cluster = { ...(await connect()), cluster: true }
  expect(() => open({ calls: quota('limit:<hour>', declared) }, cluster)).toThrow(/the same \{hash tag\}/)
  open({ calls: quota('{calls}:limit:<hour>', { ...declared, mirror: ['{calls}:counter:<hour>'] }) }, cluster)
})

test('while Redis is away a share of what was left is admitted, and counted in every counter when it is back', async () => {
  const proxy = await startProxy(redis)
  onTestFinished(() => proxy.stop())
  const prefix = `${unique()}:`
  const schema = {
    calls: quota('limit:<day>', {
      ...declared,
      mirror: ['counter:<day>'],
      params: { day: param.day },
      unreachable: { share: 1 / 4 },
    }),
  }
  const connection = guarded(await connect(proxy.socket), { openFor: '50ms' })
  const calls = open(schema, connection, { prefix }).calls()
  await calls.take(2)
  proxy.refuse()
  proxy.cut()
  const taken = await Promise.all(Array.from({ length: 9 }, () => calls.take()))
  expect(taken.filter(({ allowed }) => allowed)).toHaveLength(2)
  expect(taken.every(({ from }) => from === 'unreachable')).toBe(true)
  const counters = () => redis.command('MGET', ...calls.namesAt(taken[0]!.window))
  expect(await counters()).toEqual(['2', '2'])
  await proxy.restore()
  await eventually(async () => expect(await counters()).toEqual(['4', '4']), { within: '20s' })
  expect(await calls.take()).toMatchObject({ from: 'redis', used: 5 })
})

test('without a declaration the error passes through while Redis is away', async () => {
  const proxy = await startProxy(redis)
  onTestFinished(() => proxy.stop())
  const calls = open({ calls: quota('limit:<hour>', declared) }, await connect(proxy.socket), {
    prefix: `${unique()}:`,
  }).calls()
  proxy.refuse()
  proxy.cut()
  await expect(calls.take()).rejects.toThrow()
})

test('a clock that is in another window at each call is an error, and nothing is taken', async () => {
  let asked = 0
  const stepping: Connection = {
    client: 'stepping',
    cluster: false,
    // Each answer names a window that the next question no longer meets.
    send: async () => [at('12:00:00') + (asked += 1) * 3_600_000],
    masters: async () => [stepping],
  }
  const calls = quota('calls:<hour>', { limit: 5, ttl: '2h', params: { hour: param.hour } })
  const error = await open({ calls }, stepping)
    .calls()
    .take()
    .catch((caught: unknown) => caught)
  expect(error).toMatchObject({ code: 'E_CLOCK', key: expect.stringMatching(/^calls:/) })
  expect(asked).toBe(5)
})
