import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { daily } from './daily.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 1, 27, 22, 30) })
})

afterEach(() => {
  vi.useRealTimers()
})

function watched() {
  const stop = new AbortController()
  const done: string[] = []
  const ended = daily(async () => void done.push(new Date().toISOString()), stop.signal)
  return { stop, done, ended }
}

test('it is done at once and then at each midnight, UTC, month and year regardless', async () => {
  const { stop, done, ended } = watched()
  await vi.advanceTimersByTimeAsync(2 * 86_400_000)
  const midnights = ['2026-02-28T00:00:00.000Z', '2026-03-01T00:00:00.000Z']
  expect(done).toEqual(['2026-02-27T22:30:00.000Z', ...midnights])
  stop.abort()
  await ended
})

test('it ends when told, between two midnights, and leaves no timer', async () => {
  const { stop, done, ended } = watched()
  await vi.advanceTimersByTimeAsync(3_600_000)
  stop.abort()
  await ended
  expect(vi.getTimerCount()).toBe(0)
  expect(done).toHaveLength(1)
})

test('what is told to end before it begins does nothing, and what is told meanwhile does no more', async () => {
  const task = vi.fn<() => Promise<void>>(async () => {})
  await daily(task, AbortSignal.abort())
  expect(task).not.toHaveBeenCalled()

  const stop = new AbortController()
  await daily(async () => stop.abort(), stop.signal)
  expect(vi.getTimerCount()).toBe(0)
})
