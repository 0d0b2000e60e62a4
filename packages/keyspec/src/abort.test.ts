import { getEventListeners } from 'node:events'
import { expect, test, vi } from 'vitest'
import { onAbort } from './abort.ts'

test('a signal has one listener, however many wait for it, and none when nobody does', () => {
  const stop = new AbortController()
  const heard = vi.fn<() => void>()
  const ends = Array.from({ length: 200 }, () => onAbort(stop.signal, heard))
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1)
  for (const end of ends) end()
  ends[0]!()
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0)
  const last = onAbort(stop.signal, heard)
  ends[1]!()
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1)
  stop.abort()
  expect(heard).toHaveBeenCalledTimes(1)
  last()
})

test('all that wait are called once, but those that stopped, and nothing after that', () => {
  const stop = new AbortController()
  const [first, second, third] = [vi.fn<() => void>(), vi.fn<() => void>(), vi.fn<() => void>()]
  onAbort(stop.signal, first)
  const end = onAbort(stop.signal, second)
  onAbort(stop.signal, third)
  onAbort(stop.signal, third)
  end()
  stop.abort()
  onAbort(stop.signal, first)
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0)
  expect([first, second, third].map((each) => each.mock.calls.length)).toEqual([1, 0, 2])
})
