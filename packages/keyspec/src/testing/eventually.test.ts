import { expect, test } from 'vitest'
import { eventually, unique } from './eventually.ts'

test('tries again until the assertion holds, and gives what it returned', async () => {
  let tries = 0
  const attempt = () => {
    tries += 1
    if (tries < 4) throw new Error('not yet')
    return tries
  }
  expect(await eventually(attempt)).toBe(4)
  expect(tries).toBe(4)
})

test('waits for a promise and tries again when it rejects', async () => {
  let tries = 0
  expect(await eventually(async () => ((tries += 1) < 3 ? Promise.reject(new Error('no')) : 'yes'))).toBe(
    'yes',
  )
})

test('rethrows the last error when the time is over', async () => {
  let tries = 0
  const failing = eventually(
    () => {
      tries += 1
      throw new Error(`try ${tries}`)
    },
    { within: '20ms' },
  )
  const error: unknown = await failing.catch((reason: unknown) => reason)
  expect(tries).toBeGreaterThan(1)
  expect(error).toEqual(new Error(`try ${tries}`))
})

test('tries at least once, however short the time', async () => {
  expect(await eventually(() => 'done', { within: '1ms' })).toBe('done')
})

test('says so when the assertion never settles', async () => {
  await expect(eventually(() => new Promise(() => {}), { within: '10ms' })).rejects.toThrow(
    'The assertion had not settled after 10ms.',
  )
})

test('keeps the last error when a later try never settles', async () => {
  let tries = 0
  const attempt = () =>
    (tries += 1) === 1 ? Promise.reject(new Error('wrong value')) : new Promise(() => {})
  await expect(eventually(attempt, { within: '30ms' })).rejects.toThrow('wrong value')
})

test('makes prefixes that differ and mean nothing to a pattern', () => {
  const prefixes = new Set(Array.from({ length: 1000 }, unique))
  expect(prefixes.size).toBe(1000)
  expect([...prefixes].filter((prefix) => !/^[a-z0-9-]+$/.test(prefix))).toEqual([])
})
