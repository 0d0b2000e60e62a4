import { expect, test } from 'vitest'
import { filesIn, textOf } from './tracked.ts'

// Stand-ins for other people's services misbehave on purpose, on sockets that no shell would give them.
const STAND_IN = /\/stand-in(?:\/|\.ts$)/
const SHELL = 'systems/program/src/http/'
const SERVES = /\bcreateServer\(|from 'express'|createAdaptorServer/

test('the systems serve HTTP through one shell alone', () => {
  const sources = filesIn('systems').filter(
    (path) =>
      path.endsWith('.ts') && !path.endsWith('.test.ts') && !STAND_IN.test(path) && !path.startsWith(SHELL),
  )
  expect(sources.length).toBeGreaterThan(150)
  expect(sources.filter((path) => SERVES.test(textOf(path)))).toEqual([])
  expect(filesIn(SHELL).some((path) => SERVES.test(textOf(path)))).toBe(true)
})
