import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Subscriber } from '../../connection/connection.ts'
import { Waiting } from './waiting.ts'

// With the clock stopped, a pause ends by what is heard or not at all.
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function listening() {
  const heard = new Map<string, () => void>()
  const stopped: string[] = []
  const subscriber: Subscriber = {
    subscribe: async (channel, hear) => {
      heard.set(channel, () => hear(''))
      return async () => void stopped.push(channel)
    },
  }
  return { subscriber, stopped, say: (channel: string) => heard.get(channel)?.() }
}

test('a message ends the pause at once', async () => {
  const { subscriber, say, stopped } = listening()
  const waiting = new Waiting(subscriber, new AbortController().signal)
  const pause = waiting.pause(['a', 'b'])
  say('b')
  expect(await pause).toBe(true)
  waiting.end()
  await vi.waitFor(() => expect(stopped).toEqual(['a', 'b']))
})

test('a message heard between two pauses ends the next one, and only that', async () => {
  const { subscriber, say } = listening()
  const waiting = new Waiting(subscriber, new AbortController().signal)
  const first = waiting.pause(['a'])
  say('a')
  await first
  say('a')
  expect(await waiting.pause(['a'])).toBe(true)
  let heard: boolean | undefined
  const third = waiting.pause(['a']).then((answer) => (heard = answer))
  await Promise.resolve()
  expect(heard).toBeUndefined()
  await vi.advanceTimersByTimeAsync(5)
  expect(await third).toBe(false)
})

test('pauses grow with the time waited, from 5 ms to 50 ms, and are up to half shorter', async () => {
  const waiting = new Waiting(undefined, new AbortController().signal)
  const pauses: number[] = []
  for (let waited = 0; waited < 2000; waited += pauses.at(-1)!) {
    const before = performance.now()
    let ended = false
    const pause = waiting.pause([]).then(() => (ended = true))
    // The next timer may be somebody else's: the files of one worker share the clock.
    while (!ended) await vi.advanceTimersToNextTimerAsync()
    await pause
    pauses.push(performance.now() - before)
  }
  expect(pauses[0]).toBeLessThanOrEqual(5)
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(2)
  expect(Math.max(...pauses)).toBeLessThanOrEqual(50)
  expect(Math.max(...pauses)).toBeGreaterThan(25)
})

test('an aborted signal ends every pause', async () => {
  const controller = new AbortController()
  const waiting = new Waiting(undefined, controller.signal)
  const pause = waiting.pause([])
  controller.abort()
  expect(await pause).toBe(false)
  expect(await waiting.pause([])).toBe(false)
})

test('a subscription that fails costs nothing but the message', async () => {
  const subscriber = { subscribe: () => Promise.reject(new Error('not allowed')) }
  const waiting = new Waiting(subscriber, new AbortController().signal)
  const pause = waiting.pause(['a'])
  await vi.advanceTimersByTimeAsync(5)
  await expect(pause).resolves.toBe(false)
  expect(() => waiting.end()).not.toThrow()
})
