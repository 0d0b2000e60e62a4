import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { OptionError } from './option-error.ts'
import { throttle } from './throttle.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const batch = async (ms: number) => {
  await new Promise((resolve) => setTimeout(resolve, ms))
  return 'answer'
}

/** How long batches take at a pace, with its rests. */
async function timeOf(maxLoad: number | undefined, batches: readonly number[]): Promise<number> {
  const rest = throttle(maxLoad)
  const from = performance.now()
  let took = 0
  const all = (async () => {
    for (const ms of batches) expect(await rest(() => batch(ms))).toBe('answer')
    took = performance.now() - from
  })()
  await vi.runAllTimersAsync()
  await all
  return took
}

test.each([
  [1, [10, 20], 30],
  [0.5, [10, 20], 60],
  [0.1, [10, 20], 300],
  [0.01, [5], 500],
  [undefined, [10, 20], 300],
])('at a load of %d, batches of %j ms take %d ms with their rests', async (maxLoad, batches, ms) => {
  expect(await timeOf(maxLoad, batches)).toBeCloseTo(ms, -0.5)
})

test('short rests are saved up, and none is forgotten', async () => {
  expect(await timeOf(0.5, [1])).toBe(1)
  expect(await timeOf(0.5, [1, 1])).toBe(4)
  expect(
    await timeOf(
      0.5,
      Array.from({ length: 100 }, () => 1),
    ),
  ).toBe(200)
})

test('no rest is longer than a second', async () => {
  expect(await timeOf(0.1, [5000])).toBe(6000)
  expect(await timeOf(0.1, [5000, 10])).toBe(6000 + 100)
})

test('what a batch throws is thrown, and the next one goes on', async () => {
  const rest = throttle(0.5)
  await expect(rest(() => Promise.reject(new Error('lost')))).rejects.toThrow('lost')
  expect(await rest(async () => 'next')).toBe('next')
})

test('a signal ends a rest at once, and begins no batch', async () => {
  const stop = new AbortController()
  const rest = throttle(0.1, stop.signal)
  const resting = rest(() => batch(10)).catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(50)
  stop.abort(new Error('stopped'))
  expect(await resting).toEqual(new Error('stopped'))
  expect(vi.getTimerCount()).toBe(0)
  const begun = vi.fn<() => Promise<void>>()
  await expect(rest(begun)).rejects.toThrow('stopped')
  expect(begun).not.toHaveBeenCalled()
})

test.each([0, -0.1, 1.01, Number.NaN])('a load of %d is refused', (maxLoad) => {
  expect(() => throttle(maxLoad)).toThrow('a load is above 0 and at most 1')
  expect(() => throttle(maxLoad)).toThrow(OptionError)
})
