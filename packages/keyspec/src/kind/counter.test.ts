import fc from 'fast-check'
import { expect, test } from 'vitest'
import { connected } from '../../../../test-support/connected.ts'
import { open } from '../keyspace.ts'
import { unique } from '../testing/index.ts'
import { counter } from './counter.ts'

const { redis, connection } = await connected()
const schema = {
  calls: counter('calls:<hour>', { ttl: '2h', renew: 'creation' }),
  total: counter('total', { ttl: 'forever', reason: 'a test' }),
}
const fresh = () => {
  const prefix = `${unique()}:`
  return { prefix, keys: open(schema, connection, { prefix }) }
}
const MOST = Number.MAX_SAFE_INTEGER

test('counts up and down from 0, which is also what an absent counter reads as', async () => {
  const { prefix, keys } = fresh()
  const calls = keys.calls({ hour: 1 })
  expect(await calls.get()).toBe(0)
  expect(await calls.exists()).toBe(false)
  expect(await calls.increment()).toBe(1)
  expect(await calls.increment(10)).toBe(11)
  expect(await calls.decrement()).toBe(10)
  expect(await calls.decrement(15)).toBe(-5)
  expect(await calls.get()).toBe(-5)
  expect(await redis.command('GET', `${prefix}calls:1`)).toBe('-5')
})

test('is set as a whole, or only where it is absent', async () => {
  const { keys } = fresh()
  await keys.total().set(40)
  expect(await keys.total().setIfAbsent(1)).toBe(false)
  expect(await keys.total().getAndSet(41)).toBe(40)
  expect(await keys.total().increment()).toBe(42)
})

test('no count is lost or seen twice between increments and resets', async () => {
  const { keys } = fresh()
  const resets: Promise<number>[] = []
  const counts: Promise<number>[] = []
  for (let i = 0; i < 500; i++) {
    counts.push(keys.total().increment())
    if (i % 7 === 0) resets.push(keys.total().getAndReset())
  }
  await Promise.all(counts)
  resets.push(keys.total().getAndReset())
  expect((await Promise.all(resets)).reduce((sum, count) => sum + count, 0)).toBe(500)
  expect(await keys.total().exists()).toBe(false)
  expect(await keys.total().getAndReset()).toBe(0)
})

test('the increments of one tick each get their own count, in the order asked', async () => {
  const { keys } = fresh()
  const counts = await Promise.all(Array.from({ length: 200 }, () => keys.calls({ hour: 1 }).increment()))
  expect(counts).toEqual(Array.from({ length: 200 }, (_, i) => i + 1))
})

test('a count that could not be told exactly is refused, and the counter left as it was', async () => {
  const { prefix, keys } = fresh()
  const total = keys.total()
  const name = `${prefix}total`
  const error = { code: 'E_ENCODE', key: name, message: expect.stringContaining('beyond ±(2^53 − 1)') }
  await total.set(MOST)
  await expect(total.increment()).rejects.toMatchObject(error)
  expect(await redis.command('GET', name)).toBe('9007199254740991')
  expect(await total.increment(0)).toBe(MOST)
  expect(await total.decrement(MOST)).toBe(0)
  expect(await total.decrement(MOST)).toBe(-MOST)
  await expect(total.decrement(MOST)).rejects.toMatchObject(error)
  expect(await redis.command('GET', name)).toBe('-9007199254740991')

  for (const by of [0.5, Number.NaN, MOST + 1]) {
    await expect(total.increment(by)).rejects.toMatchObject({ code: 'E_ENCODE', key: name })
  }
  await expect(total.set(MOST + 1)).rejects.toMatchObject({ code: 'E_ENCODE' })
  expect(await redis.command('GET', name)).toBe('-9007199254740991')
})

test('a refusal is the answer to its own call alone, also where the calls go out together', async () => {
  const { keys } = fresh()
  const total = keys.total()
  await total.set(MOST - 1)
  const outcomes = await Promise.allSettled([total.increment(), total.increment(), total.decrement(5)])
  expect(outcomes).toMatchObject([{ value: MOST }, { reason: { code: 'E_ENCODE' } }, { value: MOST - 5 }])
})

test('counts as a whole number would, whatever the steps', async () => {
  const { keys } = fresh()
  await fc.assert(
    fc.asyncProperty(fc.array(fc.maxSafeInteger(), { maxLength: 12 }), async (steps) => {
      await keys.total().delete()
      let expected = 0n
      for (const by of steps) {
        const next = expected + BigInt(by)
        const fits = next >= -BigInt(MOST) && next <= BigInt(MOST)
        const [outcome] = await Promise.allSettled([keys.total().increment(by)])
        expect(outcome.status).toBe(fits ? 'fulfilled' : 'rejected')
        if (fits) expected = next
      }
      expect(await keys.total().get()).toBe(Number(expected))
    }),
    { numRuns: 40 },
  )
})

test('a value that is no number, or too great, is left as it is and the key named', async () => {
  const { prefix, keys } = fresh()
  const name = `${prefix}total`
  for (const stored of ['many', '1.5', '', '9007199254740992', '99999999999999999999']) {
    await redis.command('SET', name, stored)
    await expect(keys.total().get()).rejects.toMatchObject({ code: 'E_DECODE', key: name })
    await expect(keys.total().increment()).rejects.toMatchObject({ key: name })
    await expect(keys.total().getAndReset()).rejects.toMatchObject({ code: 'E_DECODE', key: name })
    expect(await redis.command('GET', name)).toBe(stored)
  }
  await redis.command('SET', name, '9223372036854775807')
  const refused = await keys
    .total()
    .increment()
    .catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'E_DECODE', key: name })
  // The key is named once, and no script or line: what the server said is enough.
  expect((refused as Error).message).toBe(
    `${name}: holds a value that is not integer: increment or decrement would overflow`,
  )
  await redis.command('DEL', name)
  await redis.command('RPUSH', name, 'x')
  await expect(keys.total().increment()).rejects.toMatchObject({ code: 'E_WRONG_TYPE', key: name })
})

test('many are read at once', async () => {
  const { keys } = fresh()
  await keys.calls({ hour: 2 }).increment(2)
  expect(await keys.calls.many([{ hour: 1 }, { hour: 2 }]).get()).toEqual([0, 2])
})
