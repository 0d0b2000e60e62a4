import fc from 'fast-check'
import { expect, test } from 'vitest'
import { connected } from '../../../../../test-support/connected.ts'
import type { Connection } from '../../connection/connection.ts'
import type { Duration } from '../../duration.ts'
import { NotSentError } from '../../errors.ts'
import { open } from '../../keyspace.ts'
import { unique } from '../../testing/eventually.ts'
import { slidingWindow } from './sliding-window.ts'

const { redis, connection } = await connected()

/** A window whose clock stands where the test puts it, and its unit in ms, of which 65,535 span it. */
function windowOf(per: Duration, perMs: number, limit: number) {
  const clock = { now: Date.UTC(2026, 0, 1, 12) }
  const schema = { hits: slidingWindow('rate', { per, limit, form: 'compact' }) }
  const { hits } = open(schema, connection, { prefix: `${unique()}:`, now: () => clock.now })
  return { clock, hits: hits(), unit: Math.ceil(perMs / 65_535) }
}

const DAY = 86_400_000
// About the lengths at which the unit grows by a ms, so that ages come to the end of two bytes; and long ones.
const lengths: readonly (readonly [Duration, number])[] = [
  ['65534ms', 65_534],
  ['65535ms', 65_535],
  ['65536ms', 65_536],
  ['65537ms', 65_537],
  ['131070ms', 131_070],
  ['131072ms', 131_072],
  ['1d', DAY],
  ['7d', 7 * DAY],
  ['30d', 30 * DAY],
]

test.each(lengths)(
  'of %s: each hit counts for so long, and for less than a unit more',
  async (per, perMs) => {
    const { hits, clock, unit } = windowOf(per, perMs, 2)
    const began = clock.now
    const takeAt = async (ms: number) => {
      clock.now = began + ms
      return (await hits.take()).allowed
    }
    expect(await takeAt(0)).toBe(true)
    // The first hit is written anew when it is as old as can be.
    expect(await takeAt(perMs - 1)).toBe(true)
    expect(await takeAt(perMs - 1)).toBe(false)
    expect(await takeAt(perMs + unit)).toBe(true)
    expect(await takeAt(perMs + unit)).toBe(false)
    expect(await takeAt(2 * perMs - 2)).toBe(false)
    expect(await takeAt(2 * perMs - 1 + unit)).toBe(true)
  },
)

test.each(lengths)(
  'of %s: whatever comes when, hits are admitted as the definition says',
  async (per, perMs) => {
    const waits = fc.array(
      fc.oneof(
        fc.nat(5),
        fc.nat(perMs),
        fc.nat(Math.floor(perMs / 4)),
        fc.integer({ min: perMs - 3, max: perMs + 3 }),
      ),
      { minLength: 1, maxLength: 30 },
    )
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 5 }), waits, async (limit, all) => {
        const { hits, clock, unit } = windowOf(per, perMs, limit)
        const admitted: number[] = []
        const within = (ms: number) => admitted.filter((at) => at > clock.now - ms).length
        for (const wait of all) {
          clock.now += wait
          const taken = await hits.take()
          // Times are so many units before one of them, and that is rounded up by less than a unit.
          if (taken.allowed) expect(within(perMs)).toBeLessThan(limit)
          else expect(within(perMs + unit - 1)).toBeGreaterThanOrEqual(limit)
          if (taken.allowed) admitted.push(clock.now)
        }
      }),
      { numRuns: 15 },
    )
  },
)

test('a window that is full to the end of two bytes stays full', async () => {
  const { hits, clock } = windowOf('1d', DAY, 65_535)
  expect(await hits.take(65_534)).toMatchObject({ allowed: true, remaining: 1 })
  expect(await hits.take(2)).toMatchObject({ allowed: false, remaining: 1 })
  expect(await hits.take()).toMatchObject({ allowed: true, remaining: 0 })
  clock.now += DAY - 1
  expect(await hits.take()).toMatchObject({ allowed: false, remaining: 0 })
  clock.now += 2000
  expect(await hits.take(65_535)).toMatchObject({ allowed: true, remaining: 0 })
})

test('what was admitted without Redis and is more than two bytes hold leaves the window full', async () => {
  let isDown = false
  const breaking: Connection = {
    ...connection,
    send: (command, shape) =>
      isDown ? Promise.reject(new NotSentError('down')) : connection.send(command, shape),
  }
  const schema = {
    hits: slidingWindow('rate', { per: '1d', limit: 65_535, form: 'compact', unreachable: 'admit' }),
  }
  const hits = open(schema, breaking, { prefix: `${unique()}:` }).hits()
  await hits.take(65_000)
  isDown = true
  expect(await hits.take(1000)).toMatchObject({ allowed: true, from: 'unreachable' })
  isDown = false
  expect(await hits.settle()).toBe(0)
  expect(await hits.peek()).toMatchObject({ remaining: 0, from: 'redis' })
  // Two bytes for each number, of one group.
  expect(await redis.command('STRLEN', hits.name)).toBe(12)
  expect(await hits.take()).toMatchObject({ allowed: false, from: 'redis' })
})
