import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { delayOf, LONGEST_DELAY_MS } from './delay.ts'
import { pause } from './program.ts'
import { sleep } from './retry.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a delay that no timer keeps is the longest that one does', () => {
  expect([0, 5, LONGEST_DELAY_MS, 1e12].map(delayOf)).toEqual([0, 5, LONGEST_DELAY_MS, LONGEST_DELAY_MS])
})

test.each([
  ['pause', pause],
  ['sleep', sleep],
])('%s waits longer than one timer can, and ends when it is told to', async (_, wait) => {
  const asked = vi.spyOn(globalThis, 'setTimeout')
  const stop = new AbortController()
  let ended = 0
  const end = () => void (ended += 1)
  wait(3 * LONGEST_DELAY_MS, stop.signal).then(end, end)
  wait(3 * LONGEST_DELAY_MS, new AbortController().signal).then(end, end)
  await vi.advanceTimersByTimeAsync(2 * LONGEST_DELAY_MS + 10)
  expect(ended).toBe(0)
  stop.abort()
  await vi.advanceTimersByTimeAsync(0)
  expect(ended).toBe(1)
  await vi.advanceTimersByTimeAsync(LONGEST_DELAY_MS)
  expect(ended).toBe(2)
  expect(Math.max(...asked.mock.calls.map(([, ms]) => ms ?? 0))).toBe(LONGEST_DELAY_MS)
})
