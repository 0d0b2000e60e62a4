import { expect, test } from 'vitest'
import { eventually } from '../../testing/index.ts'
import { Outage, type Unreachable } from './outage.ts'
import type { LimitResult } from './limit-result.ts'

const PER = 60_000

/** An outage with a clock that stands where the test puts it, and a Redis that is away until it is back. */
function outage(unreachable: Unreachable) {
  const world = {
    now: 1000,
    away: true,
    added: [] as [string, number][],
    /** How long an addition is under way. */
    slow: async () => {},
  }
  const it = new Outage({
    unreachable,
    perMs: PER,
    clock: () => world.now,
    ask: () => (world.away ? Promise.reject(new Error('away')) : Promise.resolve()),
    add: async (key, count) => {
      await world.slow()
      if (world.away) throw new Error('away')
      world.added.push([key, count])
      return { remaining: 20 - count, resetMs: PER }
    },
  })
  const take = (cost = 1, key = 'a') => it.take(key, cost, 20)
  return { it, world, take }
}

function fromRedis(remaining: number, resetMs: number): LimitResult {
  return { allowed: true, limit: 20, perMs: PER, remaining, resetMs, from: 'redis' }
}

const allowed = (all: LimitResult[]) => all.filter((taken) => taken.allowed).length
const times = <T>(count: number, make: () => T) => Array.from({ length: count }, () => make())

test('refuses everything, and says to come back soon', () => {
  const { take } = outage('refuse')
  expect(take()).toEqual({
    allowed: false,
    limit: 20,
    perMs: PER,
    remaining: 0,
    retryAfterMs: 1000,
    resetMs: 1000,
    from: 'unreachable',
  })
})

test('admits everything, even above the limit', () => {
  const { take } = outage('admit')
  expect(allowed(times(50, take))).toBe(50)
  expect(take()).toMatchObject({ remaining: 0, from: 'unreachable' })
})

test('a share is rounded down, is taken whole or not at all, and is each key’s own', () => {
  const { take } = outage({ share: 1 / 8 })
  expect(take(3)).toMatchObject({ allowed: false, remaining: 2 })
  expect(take(2)).toMatchObject({ allowed: true, remaining: 0 })
  expect(take()).toMatchObject({ allowed: false })
  expect(take(1, 'b')).toMatchObject({ allowed: true, remaining: 1 })
})

test('a share is of what was left when Redis was last heard, as long as that window lasts', () => {
  const { it, world, take } = outage({ share: 0.5 })
  it.reached('a', fromRedis(8, 30_000))
  expect(allowed(times(20, take))).toBe(4)
  world.now += 30_000
  expect(allowed(times(20, take))).toBe(6) // of ten: four are still in the window
})

test('a share comes back when what was admitted has left the window', () => {
  const { world, take } = outage({ share: 0.5 })
  expect(allowed(times(20, take))).toBe(10)
  world.now += PER - 1
  expect(allowed(times(20, take))).toBe(0)
  world.now += 1
  expect(allowed(times(20, take))).toBe(10)
})

test('shares are not lost to the way fractions are written', () => {
  const { it } = outage({ share: 0.29 })
  expect(allowed(times(100, () => it.take('a', 1, 100)))).toBe(29)
})

test('what was admitted is added to each key once Redis answers', async () => {
  const { it, world, take } = outage({ share: 0.5 })
  times(3, take)
  take(2, 'b')
  world.away = false
  it.reached('c', fromRedis(10, 30_000))
  await eventually(() =>
    expect(world.added.toSorted()).toEqual([
      ['a', 3],
      ['b', 2],
    ]),
  )
  it.reached('c', fromRedis(10, 30_000))
  expect(world.added).toHaveLength(2)
})

test('it is added even if nothing is taken any more', async () => {
  const { world, take } = outage('admit')
  times(3, take)
  world.away = false
  await eventually(() => expect(world.added).toEqual([['a', 3]]), { within: '20s' })
})

test('what could not be added is added later, with what was admitted since', async () => {
  const { it, world, take } = outage('admit')
  times(3, take)
  it.reached('c', fromRedis(10, 30_000)) // and is away again
  times(2, take)
  await Promise.resolve()
  expect(world.added).toEqual([])
  world.away = false
  await eventually(
    () => {
      it.reached('c', fromRedis(10, 30_000))
      expect(world.added.reduce((sum, [, count]) => sum + count, 0)).toBe(5)
    },
    { within: '20s' },
  )
})

test('what many keys owe is added to 64 of them at a time, and no more while Redis is away again', async () => {
  const { it, world, take } = outage('admit')
  const keys = Array.from({ length: 200 }, (_, n) => `k${n}`)
  for (const key of keys) take(1, key)
  let atOnce = 0
  let most = 0
  let asked = 0
  world.slow = async () => {
    asked += 1
    most = Math.max(most, (atOnce += 1))
    await Promise.resolve()
    atOnce -= 1
  }
  it.reached('other', fromRedis(10, 30_000)) // and is away again
  await eventually(() => expect(asked).toBe(64))
  await new Promise((resolve) => setImmediate(resolve))
  expect([asked, world.added.length]).toEqual([64, 0])
  world.away = false
  it.reached('other', fromRedis(10, 30_000))
  await eventually(() => expect(world.added).toHaveLength(200))
  expect(most).toBe(64)
  expect(new Set(world.added.map(([key]) => key))).toEqual(new Set(keys))
})

test('what has left the window is not added', async () => {
  const { it, world, take } = outage('admit')
  times(3, take)
  world.now += PER
  take(1, 'b')
  world.away = false
  it.reached('c', fromRedis(10, 30_000))
  await eventually(() => expect(world.added).toEqual([['b', 1]]))
})

test('a key whose count was reset owes nothing', async () => {
  const { it, world, take } = outage('admit')
  take()
  take(1, 'b')
  it.resetting('a')()
  world.away = false
  it.reached('c', fromRedis(10, 30_000))
  await eventually(() => expect(world.added).toEqual([['b', 1]]))
})

test('what is being added still counts against the share', async () => {
  const { it, world, take } = outage({ share: 0.5 })
  expect(allowed(times(20, take))).toBe(10)
  it.reached('c', fromRedis(10, 30_000)) // and is away again
  expect(allowed(times(20, take))).toBe(0)
  await eventually(() => expect(world.added).toEqual([]))
  expect(allowed(times(20, take))).toBe(0)
})

test('an addition that was confirmed leaves the share of what remains, and never more than the share of the limit', async () => {
  const { it, world, take } = outage({ share: 0.5 })
  times(6, take)
  world.away = false
  it.reached('c', fromRedis(20, PER))
  await eventually(() => expect(world.added).toEqual([['a', 6]]))
  world.away = true
  expect(allowed(times(20, take))).toBe(4) // 14 are left, of which 7 would be the share, but 6 of 10 were taken
})

test('a take that Redis allowed without knowing what is owed is refused where both exceed the limit', () => {
  const { it, take } = outage({ share: 0.5 })
  times(10, take)
  expect(it.reached('a', fromRedis(10, PER))).toMatchObject({ allowed: true, remaining: 0 })
  expect(it.reached('a', fromRedis(9, PER))).toMatchObject({
    allowed: false,
    remaining: 0,
    retryAfterMs: 1000,
  })
  expect(it.reached('b', fromRedis(3, PER))).toMatchObject({ allowed: true, remaining: 3 })
})

test('a reset forgets what was admitted before it was asked for, once Redis confirms it', () => {
  const { it, take } = outage({ share: 0.5 })
  times(6, take)
  const done = it.resetting('a')
  expect(allowed(times(20, take))).toBe(4)
  done()
  expect(allowed(times(20, take))).toBe(6)
})

test('what is owed is added when a process asks for it before it ends, and says how much is not', async () => {
  const { it, world, take } = outage('admit')
  times(3, take)
  take(1, 'b')
  expect(await it.settle()).toBe(4)
  world.away = false
  expect(await it.settle()).toBe(0)
  expect(world.added).toEqual([
    ['a', 3],
    ['b', 1],
  ])
  expect(await it.settle()).toBe(0)
  expect(world.added).toHaveLength(2)
})
