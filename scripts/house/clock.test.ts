import { expect, test } from 'vitest'
import { filesIn, textOf } from './tracked.ts'

const tests = ['packages', 'systems', 'torture', 'test-support'].flatMap((folder) =>
  filesIn(folder).filter((path) => path.endsWith('.test.ts')),
)

// The files of one worker share their process: a clock that one of them stops stands still for the others.
test('only a test of its own process turns the clock', () => {
  const turning = tests.filter((path) => textOf(path).includes('useFakeTimers'))
  expect(turning.length).toBeGreaterThan(0)
  expect(turning.filter((path) => !path.endsWith('.clock.test.ts'))).toEqual([])
})
