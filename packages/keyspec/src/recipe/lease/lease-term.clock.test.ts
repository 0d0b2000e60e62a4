import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LeaseTerm } from './lease-term.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const lease = (ttlMs = 10_000) => new LeaseTerm(performance.now(), ttlMs)

test('a lease counts from the question', () => {
  const asked = performance.now()
  vi.advanceTimersByTime(4000) // the answer took its time
  const it = new LeaseTerm(asked, 10_000)
  expect(it.leftMs).toBe(6000)
  vi.advanceTimersByTime(6000)
  expect(it.leftMs).toBe(0)
  vi.advanceTimersByTime(6000)
  expect(it.leftMs).toBe(0)
})

test('an extension counts from its question too, and only once it is confirmed', () => {
  const it = lease()
  const answered = it.ask(3_600_000)
  vi.advanceTimersByTime(4000)
  expect(it.leftMs).toBe(6000)
  answered(true)
  expect(it.leftMs).toBe(3_596_000)
})

test('an extension without an answer leaves the old end, or the new one where that is earlier', () => {
  const longer = lease()
  longer.ask(3_600_000)
  expect(longer.leftMs).toBe(10_000)
  const shorter = lease()
  shorter.ask(1000)
  expect(shorter.leftMs).toBe(1000)
})

test('an extension that was confirmed counts no more while a later one is open', () => {
  const it = lease()
  const first = it.ask(3_600_000)
  const second = it.ask(1000)
  first(true)
  expect(it.leftMs).toBe(1000)
  second(true)
  expect(it.leftMs).toBe(1000)
  it.ask(60_000)(true)
  expect(it.leftMs).toBe(60_000)
})

test('a lease that was lost or released stays so, whatever is answered later', () => {
  const released = lease()
  const answered = released.ask(3_600_000)
  released.end()
  answered(true)
  expect(released.leftMs).toBe(0)
  const lost = lease()
  const late = lost.ask(3_600_000)
  lost.ask(1000)(false)
  late(true)
  expect(lost.leftMs).toBe(0)
})
