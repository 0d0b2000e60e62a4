import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { after, every, LONGEST_DELAY_MS, sleep } from './timer.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const DAY_MS = 86_400_000

// The fake clock keeps any delay; the timers of Node do not, so no call may ask them for more than they keep.
function longestAsked(): number {
  return Math.max(...vi.mocked(setTimeout).mock.calls.map(([, ms]) => ms ?? 0))
}

test.each([1, 1000, LONGEST_DELAY_MS, LONGEST_DELAY_MS + 1, 30 * DAY_MS, 365 * DAY_MS])(
  'a timer fires once, after %i ms and not before',
  async (ms) => {
    using asked = vi.spyOn(globalThis, 'setTimeout')
    const fired = vi.fn<() => void>()
    after(ms, fired)
    await vi.advanceTimersByTimeAsync(ms - 1)
    expect(fired).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(fired).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(ms)
    expect(fired).toHaveBeenCalledTimes(1)
    expect(asked).toHaveBeenCalled()
    expect(longestAsked()).toBeLessThanOrEqual(LONGEST_DELAY_MS)
  },
)

test('a timer that is never to fire never fires', async () => {
  const fired = vi.fn<() => void>()
  const timer = after(Infinity, fired)
  await vi.advanceTimersByTimeAsync(1000 * DAY_MS)
  expect(fired).not.toHaveBeenCalled()
  timer.cancel()
  expect(vi.getTimerCount()).toBe(0)
})

test('a timer that is cancelled never fires, in its first step or in a later one', async () => {
  const fired = vi.fn<() => void>()
  after(60 * DAY_MS, fired).cancel()
  const later = after(60 * DAY_MS, fired)
  await vi.advanceTimersByTimeAsync(59 * DAY_MS)
  later.cancel()
  await vi.advanceTimersByTimeAsync(60 * DAY_MS)
  expect(fired).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
})

test.each([1000, LONGEST_DELAY_MS, LONGEST_DELAY_MS + 1, 60 * DAY_MS])(
  'an interval of %i ms turns each time it is over, until it is cancelled',
  async (ms) => {
    const turned = vi.fn<() => void>()
    const timer = every(ms, turned)
    await vi.advanceTimersByTimeAsync(ms - 1)
    expect(turned).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(turned).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(3 * ms)
    expect(turned).toHaveBeenCalledTimes(4)
    timer.cancel()
    await vi.advanceTimersByTimeAsync(3 * ms)
    expect(turned).toHaveBeenCalledTimes(4)
    expect(vi.getTimerCount()).toBe(0)
  },
)

test('an interval may be cancelled from its own turn', async () => {
  for (const ms of [1000, 60 * DAY_MS]) {
    const turned = vi.fn<() => void>(() => timer.cancel())
    const timer = every(ms, turned)
    await vi.advanceTimersByTimeAsync(3 * ms)
    expect(turned).toHaveBeenCalledTimes(1)
  }
  expect(vi.getTimerCount()).toBe(0)
})

test('a sleep ends when its time is over, or with its signal, and leaves nothing behind', async () => {
  const ended = vi.fn<() => void>()
  void sleep(30 * DAY_MS).then(ended)
  await vi.advanceTimersByTimeAsync(30 * DAY_MS - 1)
  expect(ended).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(ended).toHaveBeenCalledTimes(1)

  const stop = new AbortController()
  const slept = sleep(30 * DAY_MS, stop.signal)
  stop.abort()
  await expect(slept).resolves.toBeUndefined()
  expect(getEventListeners(stop.signal, 'abort')).toEqual([])
  await expect(sleep(30 * DAY_MS, stop.signal)).resolves.toBeUndefined()
  expect(vi.getTimerCount()).toBe(0)
})

test('a timer keeps the process alive unless told otherwise, in each of its steps', async () => {
  vi.useRealTimers()
  using asked = vi.spyOn(globalThis, 'setTimeout')
  using repeated = vi.spyOn(globalThis, 'setInterval')
  for (const keepsAlive of [true, false]) {
    after(1000, () => {}, { keepsAlive }).cancel()
    every(1000, () => {}, { keepsAlive }).cancel()
    every(60 * DAY_MS, () => {}, { keepsAlive }).cancel()
  }
  const made = [...asked.mock.results, ...repeated.mock.results].map(({ value }) => value as NodeJS.Timeout)
  expect(made.map((timer) => timer.hasRef())).toEqual([true, true, false, false, true, false])
})
