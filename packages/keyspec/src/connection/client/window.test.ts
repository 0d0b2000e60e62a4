import { expect, test } from 'vitest'
import { Window } from './window.ts'

test('starts in the order it was given, never more than its size at a time, thousands of them', async () => {
  const window = new Window(50)
  const started: number[] = []
  let running = 0
  let most = 0
  const outcomes = await Promise.all(
    Array.from({ length: 5_000 }, (_, at) =>
      window.run(async () => {
        started.push(at)
        most = Math.max(most, ++running)
        for (let turn = at % 7; turn >= 0; turn--) await Promise.resolve()
        running--
        return at
      }),
    ),
  )
  const expected = Array.from({ length: 5_000 }, (_, at) => at)
  expect(started).toEqual(expected)
  expect(outcomes).toEqual(expected)
  expect(most).toBe(50)
})

test('what fails, even before it starts, fails its own caller and makes room for the next', async () => {
  const window = new Window(1)
  const outcomes = await Promise.allSettled([
    window.run(() => {
      throw new Error('at once')
    }),
    window.run(() => Promise.reject(new Error('later'))),
    window.run(async () => 'fine'),
  ])
  expect(outcomes.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message))).toEqual([
    'at once',
    'later',
    'fine',
  ])
})
