import fc from 'fast-check'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Connection } from '../../connection/connection.ts'
import { fromNodeRedis } from '../../connection/client/node-redis.ts'
import { KeyError, SchemaError } from '../../errors.ts'
import { open } from '../../keyspace.ts'
import { startRedis, type TemporaryRedis, unique } from '../../testing/index.ts'
import type { LimitResult } from '../limiter/limit-result.ts'
import { slidingWindow } from './sliding-window.ts'

const NOON = Date.UTC(2024, 0, 1, 12)
const MINUTE = 60_000
const FORMS = ['exact', 'compact'] as const

let redis: TemporaryRedis
let connection: Connection
const clients: { close(): Promise<void> }[] = []

async function connect() {
  const client = createClient({ socket: { path: redis.socket, tls: false } })
  await client.connect()
  clients.push(client)
  return fromNodeRedis(client)
}

beforeAll(async () => {
  redis = await startRedis()
  connection = await connect()
})

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()))
  await redis.stop()
})

/** A limiter whose clock stands where the test puts it. */
function limiterAt(limit: number, form: 'exact' | 'compact', per: '1m' | '1d' = '1m') {
  const clock = { now: NOON }
  const schema = { hits: slidingWindow('rate:<user>', { per, limit, form }) }
  const keys = open(schema, connection, { prefix: `${unique()}:`, now: () => clock.now })
  return { hits: keys.hits({ user: 1 }), clock }
}

describe.each(FORMS)('the %s form', (form) => {
  test('of a limit that was lowered nothing remains until enough hits have gone, and never less than nothing', async () => {
    const prefix = `${unique()}:`
    const clock = { now: NOON }
    const limitedTo = (limit: number) => {
      const schema = { hits: slidingWindow('rate', { per: '1m', limit, form }) }
      return open(schema, connection, { prefix, now: () => clock.now }).hits()
    }
    await limitedTo(10).take(6)
    clock.now += 10_000
    await limitedTo(10).take(4)
    const lowered = limitedTo(5)
    expect(await lowered.take()).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 50_000 })
    expect(await lowered.peek()).toMatchObject({ remaining: 0 })
    clock.now += 50_000
    expect(await lowered.take()).toMatchObject({ allowed: true, remaining: 0 })
    expect(await lowered.take()).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 10_000 })
  })

  test('admits the limit in any minute, and says what remains and when to come back', async () => {
    const { hits, clock } = limiterAt(3, form)
    expect(await hits.take(2)).toEqual({
      allowed: true,
      limit: 3,
      perMs: MINUTE,
      remaining: 1,
      resetMs: MINUTE,
      from: 'redis',
    })
    clock.now += 20_000
    expect(await hits.take()).toMatchObject({ allowed: true, remaining: 0, resetMs: MINUTE })
    clock.now += 10_000
    expect(await hits.take()).toEqual({
      allowed: false,
      limit: 3,
      perMs: MINUTE,
      remaining: 0,
      retryAfterMs: 30_000,
      resetMs: 50_000,
      from: 'redis',
    })
    expect(await hits.take(3)).toMatchObject({ allowed: false, retryAfterMs: 50_000 })
    clock.now += 29_999
    expect(await hits.take()).toMatchObject({ allowed: false, retryAfterMs: 1 })
    clock.now += 1
    expect(await hits.take()).toMatchObject({ allowed: true, remaining: 1 })
  })

  test('hits of one instant count each', async () => {
    const { hits } = limiterAt(5, form)
    const taken = await Promise.all(Array.from({ length: 20 }, () => hits.take()))
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(5)
    expect(taken.slice(0, 5).map(({ remaining }) => remaining)).toEqual([4, 3, 2, 1, 0])
  })

  test('what is refused does not occupy the window', async () => {
    const { hits, clock } = limiterAt(2, form)
    await hits.take(2)
    for (let i = 0; i < 10; i += 1) {
      clock.now += 5000
      expect(await hits.take()).toMatchObject({ allowed: false })
    }
    clock.now += 10_000
    expect(await hits.take(2)).toMatchObject({ allowed: true })
  })

  test('the key lives one window after its last hit, on the real clock', async () => {
    const { hits } = limiterAt(5, form)
    await hits.take()
    const ttl = (await redis.command('PTTL', hits.name)) as number
    expect(ttl).toBeGreaterThan(MINUTE - 5000)
    expect(ttl).toBeLessThanOrEqual(MINUTE)
    await redis.command('PEXPIRE', hits.name, '100')
    await hits.take()
    expect(await redis.command('PTTL', hits.name)).toBeGreaterThan(MINUTE - 5000)
  })

  test('peek takes nothing and writes nothing', async () => {
    const { hits, clock } = limiterAt(5, form)
    expect(await hits.peek()).toEqual({ limit: 5, perMs: MINUTE, remaining: 5, resetMs: 0, from: 'redis' })
    expect(await hits.exists()).toBe(false)
    await hits.take(2)
    clock.now += 1000
    const before = await redis.commandBuffer('DUMP', hits.name)
    expect(await hits.peek()).toMatchObject({ remaining: 3, resetMs: 59_000 })
    clock.now += MINUTE
    expect(await hits.peek()).toMatchObject({ remaining: 5, resetMs: 0 })
    expect(await redis.commandBuffer('DUMP', hits.name)).toEqual(before)
  })

  test('takes of one tick that are merged answer as they would one by one', async () => {
    const costs = [3, 4, 5, 2, 9, 1, 1, 1]
    const [{ hits: together }, { hits: apart }] = [limiterAt(12, form), limiterAt(12, form)]
    const merged = await Promise.all(costs.map((cost) => together.take(cost)))
    const single: LimitResult[] = []
    for (const cost of costs) single.push(await apart.take(cost))
    expect(merged).toEqual(single)
    expect(await redis.commandBuffer('DUMP', together.name)).toEqual(
      await redis.commandBuffer('DUMP', apart.name),
    )
  })

  test('admits exactly the limit of many takes at once over several connections', async () => {
    const prefix = `${unique()}:`
    const schema = { hits: slidingWindow('rate:<user>', { per: '1m', limit: 50, form }) }
    const keyspaces = await Promise.all(
      Array.from({ length: 4 }, async () => open(schema, await connect(), { prefix })),
    )
    const takes = keyspaces.flatMap(({ hits }) => Array.from({ length: 50 }, () => hits({ user: 1 }).take()))
    const taken = await Promise.all(takes)
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(50)
  })

  test('a clock that goes back an hour locks nobody out for longer than a window, nor admits more', async () => {
    const { hits, clock } = limiterAt(2, form)
    await hits.take()
    clock.now += 10_000
    await hits.take()
    clock.now -= 3_600_000
    const refused = await hits.take()
    expect(refused).toMatchObject({ allowed: false, remaining: 0 })
    expect(refused.resetMs).toBeLessThanOrEqual(MINUTE)
    clock.now += MINUTE - 10_001
    expect(await hits.take()).toMatchObject({ allowed: false })
    clock.now += 10_001
    expect(await hits.take(2)).toMatchObject({ allowed: true })
  })

  test('no span of a window holds more than the limit, whatever comes when, clocks that go back included', async () => {
    const event = fc.record({
      wait: fc.oneof(fc.nat(50), fc.nat(9000), fc.nat(70_000)),
      back: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.nat(200_000)),
      cost: fc.integer({ min: 1, max: 6 }),
      obeys: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 6, max: 40 }),
        fc.array(event, { maxLength: 60 }),
        async (limit, events) => {
          const { hits, clock } = limiterAt(limit, form)
          let truth = 0
          const admitted: { at: number; cost: number }[] = []
          for (const { wait, back, cost, obeys } of events) {
            truth += wait
            clock.now += wait - back
            const taken = await hits.take(cost)
            if (taken.allowed) admitted.push({ at: truth, cost })
            else {
              expect(taken.retryAfterMs).toBeGreaterThan(0)
              expect(taken.retryAfterMs).toBeLessThanOrEqual(MINUTE)
              if (obeys) {
                truth += taken.retryAfterMs
                clock.now += taken.retryAfterMs
                expect(await hits.take(cost)).toMatchObject({ allowed: true })
                admitted.push({ at: truth, cost })
              }
            }
            const inWindow = admitted.filter(({ at }) => at > truth - MINUTE)
            expect(inWindow.reduce((sum, hit) => sum + hit.cost, 0)).toBeLessThanOrEqual(limit)
          }
        },
      ),
      { numRuns: 20 },
    )
  })

  test('whoever comes back after retryAfterMs is admitted, and not a millisecond before', async () => {
    const event = fc.record({ wait: fc.nat(15_000), cost: fc.integer({ min: 1, max: 5 }) })
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 5, max: 20 }),
        fc.array(event, { maxLength: 40 }),
        async (limit, events) => {
          const { hits, clock } = limiterAt(limit, form)
          for (const { wait, cost } of events) {
            clock.now += wait
            const taken = await hits.take(cost)
            if (taken.allowed) continue
            clock.now += taken.retryAfterMs - 1
            expect(await hits.take(cost)).toMatchObject({ allowed: false, retryAfterMs: 1 })
            clock.now += 1
            expect(await hits.take(cost)).toMatchObject({ allowed: true })
          }
        },
      ),
      { numRuns: 20 },
    )
  })

  test('a limiter that is switched off admits all, counts nothing, and says so', async () => {
    const schema = { hits: slidingWindow('rate:<user>', { per: '1m', limit: 1, form, enabled: false }) }
    const hits = open(schema, connection, { prefix: `${unique()}:` }).hits({ user: 1 })
    await hits.take()
    expect(await hits.take()).toMatchObject({ allowed: true, from: 'disabled' })
    expect(await hits.exists()).toBe(false)
  })

  test('a key of another type is an error that names it', async () => {
    const { hits } = limiterAt(2, form)
    await redis.command('RPUSH', hits.name, 'a')
    await expect(hits.take()).rejects.toMatchObject({ code: 'E_WRONG_TYPE', key: hits.name })
  })
})

/** What the sliding window means, in four lines. */
function model(limit: number) {
  const hits: number[] = []
  return (now: number, cost: number) => {
    while (hits.length > 0 && hits[0]! <= now - MINUTE) hits.shift()
    const allowed = hits.length + cost <= limit
    const waitFor = hits[hits.length + cost - limit - 1]
    const newest = hits.at(-1)
    if (allowed) for (let i = 0; i < cost; i += 1) hits.push(now)
    return {
      allowed,
      remaining: limit - hits.length,
      resetMs: (allowed ? now : newest!) + MINUTE - now,
      ...(allowed ? {} : { retryAfterMs: waitFor! + MINUTE - now }),
    }
  }
}

test.each([
  ['exact', 1, 40],
  ['compact', 1, 9],
] as const)(
  'the %s form answers as the definition does, for limits from %d to %d',
  async (form, min, max) => {
    const events = fc.array(
      fc.record({ wait: fc.oneof(fc.nat(3), fc.nat(20_000)), cost: fc.integer({ min: 1, max: 8 }) }),
      {
        maxLength: 50,
      },
    )
    await fc.assert(
      fc.asyncProperty(fc.integer({ min, max }), events, async (limit, all) => {
        const { hits, clock } = limiterAt(limit, form)
        const ask = model(limit)
        for (const { wait, cost } of all) {
          clock.now += wait
          const bounded = Math.min(cost, limit)
          const told = { limit, perMs: MINUTE, from: 'redis' }
          expect(await hits.take(bounded)).toEqual({ ...told, ...ask(clock.now, bounded) })
        }
      }),
      { numRuns: 20 },
    )
  },
)

describe('the exact form in Redis', () => {
  test('is a sorted set whose scores are seconds of the server, and whose members are such numbers too', async () => {
    const { hits, clock } = limiterAt(5, 'exact')
    clock.now += 123
    await hits.take(2)
    const members = (await redis.command('ZRANGE', hits.name, '0', '-1')) as string[]
    expect(members).toEqual(['1704110400.1230000', '1704110400.1230001'])
    for (const member of members) {
      expect(Number(await redis.command('ZSCORE', hits.name, member))).toBe(1704110400.123)
    }
  })

  test('the real clock is the server’s: the score of a hit lies between two of its own times', async () => {
    const schema = { hits: slidingWindow('rate:<user>', { per: '1m', limit: 5 }) }
    const hits = open(schema, connection, { prefix: `${unique()}:` }).hits({ user: 1 })
    const before = Number(((await redis.command('TIME')) as string[])[0])
    await hits.take()
    const [, score] = (await redis.command('ZRANGE', hits.name, '0', '-1', 'WITHSCORES')) as [string, string]
    const after = Number(((await redis.command('TIME')) as string[])[0])
    expect(Number(score)).toBeGreaterThanOrEqual(before)
    expect(Number(score)).toBeLessThan(after + 1)
  })

  test('counts the hits of programs that add their timestamp as score and member', async () => {
    const { hits, clock } = limiterAt(3, 'exact')
    for (const at of ['1704110390.1234567', '1704110395.5']) await redis.command('ZADD', hits.name, at, at)
    expect(await hits.take()).toMatchObject({ allowed: true, remaining: 0 })
    expect(await hits.take()).toMatchObject({ allowed: false, retryAfterMs: 50_124 })
    clock.now += 50_124
    expect(await hits.take()).toMatchObject({ allowed: true, remaining: 0 })
  })

  test('those programs cut and count what we wrote', async () => {
    const { hits, clock } = limiterAt(5, 'exact')
    await hits.take(2)
    clock.now += 30_000
    await hits.take(1)
    const now = clock.now / 1000 + 40
    expect(await redis.command('ZREMRANGEBYSCORE', hits.name, '0', String(now - 60))).toBe(2)
    expect(await redis.command('ZCARD', hits.name)).toBe(1)
    for (const [member] of [(await redis.command('ZRANGE', hits.name, '0', '0')) as string[]]) {
      expect(Number(member)).toBeCloseTo(clock.now / 1000, 3)
    }
  })

  test('forgets hits that have left the window', async () => {
    const { hits, clock } = limiterAt(5, 'exact')
    for (let i = 0; i < 20; i += 1) {
      await hits.take()
      clock.now += 20_000
    }
    expect(await redis.command('ZCARD', hits.name)).toBe(3)
  })

  test('a limit that was lowered counts what was taken under the old one', async () => {
    const prefix = `${unique()}:`
    const at = (limit: number) =>
      open({ hits: slidingWindow('rate:<user>', { per: '1m', limit }) }, connection, { prefix }).hits({
        user: 1,
      })
    await at(10).take(8)
    expect(await at(4).take()).toMatchObject({ allowed: false, remaining: 0 })
  })
})

describe('the compact form in Redis', () => {
  test('takes at most 128 bytes on Redis 7.0, whatever the limit, the window and the hits', async () => {
    // Later servers count the entry of the key too, and other allocators round up further.
    const isRedis70 = String(await redis.command('INFO', 'server')).includes('redis_version:7.0.')
    const mostBytes = isRedis70 ? 128 : 160
    for (const [limit, per] of [
      [9, '1m'],
      [60_000, '1m'],
      [60_000, '1d'],
    ] as const) {
      const clock = { now: NOON }
      const schema = { hits: slidingWindow('rate:<user>:<endpoint>', { per, limit, form: 'compact' }) }
      const keys = open(schema, connection, { prefix: `${unique().slice(5, 10)}:`, now: () => clock.now })
      const hits = keys.hits({ user: 1234567, endpoint: 'web_search' })
      expect(hits.name).toHaveLength(29)
      const perMs = (await hits.take()).perMs
      let most = 0
      for (let i = 0; i < 60; i += 1) {
        clock.now += Math.floor(perMs / 27)
        await hits.take(i % 2 === 0 ? 1 : Math.floor(limit / 30) + 1)
        most = Math.max(most, (await redis.command('STRLEN', hits.name)) as number)
        expect(await redis.command('MEMORY', 'USAGE', hits.name)).toBeLessThanOrEqual(mostBytes)
      }
      expect(most).toBeGreaterThanOrEqual(limit === 9 ? 16 : 40)
      expect(most).toBeLessThanOrEqual(44)
    }
  })

  test('never has more than nine groups, so never more than 44 bytes', async () => {
    const waits = fc.array(fc.oneof(fc.nat(100), fc.nat(8000), fc.constant(7500), fc.constant(7499)), {
      maxLength: 80,
    })
    await fc.assert(
      fc.asyncProperty(waits, fc.constantFrom(9, 10, 500), async (all, limit) => {
        const { hits, clock } = limiterAt(limit, 'compact')
        for (const wait of all) {
          clock.now += wait
          await hits.take()
        }
        expect(await redis.command('STRLEN', hits.name)).toBeLessThanOrEqual(44)
      }),
      { numRuns: 20 },
    )
  })

  test('a hit counts at most an eighth of the window longer than it should', async () => {
    const { hits, clock } = limiterAt(100, 'compact')
    await hits.take(60)
    clock.now += 7000
    await hits.take(40)
    clock.now += 53_000
    expect(await hits.peek()).toMatchObject({ remaining: 0 })
    clock.now += 7000
    expect(await hits.peek()).toMatchObject({ remaining: 100 })
  })

  test('a window of a day, whose unit is more than a second, forgets no hit early', async () => {
    const { hits, clock } = limiterAt(1, 'compact', '1d')
    clock.now += 1
    await hits.take()
    clock.now += 86_400_000 - 1
    expect(await hits.take()).toMatchObject({ allowed: false })
    clock.now += 1400
    expect(await hits.take()).toMatchObject({ allowed: true })
  })

  test('a value that is not one of ours is an error, and left as it is', async () => {
    const { hits } = limiterAt(5, 'compact')
    await redis.command('SET', hits.name, 'hello')
    await expect(hits.take()).rejects.toThrow('holds no compact window, but 5 bytes')
    expect(await redis.command('GET', hits.name)).toBe('hello')
  })

  test('a limit beyond two bytes is refused', () => {
    const declare = () => slidingWindow('rate:<user>', { per: '1m', limit: 65_536, form: 'compact' })
    expect(declare).toThrow(SchemaError)
    expect(declare).toThrow('the compact form counts up to 65535')
  })
})

test('the last placeholder chooses the limit, and takes no other value', async () => {
  const schema = {
    requests: slidingWindow('rate:<userId>:<endpoint>', {
      per: '1m',
      limits: { tutor_query: 20, web_search: 10, file_upload: 5 },
    }),
  }
  const { requests } = open(schema, connection, { prefix: `${unique()}:` })
  const search = requests({ userId: 7, endpoint: 'web_search' })
  expect(search.name).toMatch(/:rate:7:web_search$/)
  const taken = await Promise.all(Array.from({ length: 30 }, () => search.take()))
  expect(taken.filter(({ allowed }) => allowed)).toHaveLength(10)
  expect(await requests({ userId: 7, endpoint: 'file_upload' }).take()).toMatchObject({ limit: 5 })
  await expect(requests({ userId: 7, endpoint: 'logout' as 'web_search' }).take()).rejects.toThrow(KeyError)
})
