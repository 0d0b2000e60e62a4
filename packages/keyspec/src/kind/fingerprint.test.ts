import { expect, test } from 'vitest'
import { text } from '../codec/text.ts'
import { fingerprintOf } from './fingerprint.ts'
import { string } from './string.ts'

test('is the same for the same things, in whatever order they were written', () => {
  const one = fingerprintOf({ version: 2, of: { model: 'a', sampling: { top: 1, heat: 0 } } })
  const other = fingerprintOf({ version: 2, of: { sampling: { heat: 0, top: 1 }, model: 'a' } })
  expect(one).toEqual(other)
  expect(one).toEqual({ version: '2', digest: expect.stringMatching(/^[0-9a-f]{64}$/) })
})

test.each([
  [{ model: 'a' }, { model: 'b' }],
  [
    ['a', 'b'],
    ['b', 'a'],
  ],
  [/a/, /b/],
  [undefined, null],
])('differs for %j and %j', (one, other) => {
  expect(fingerprintOf({ version: 1, of: one }).digest).not.toBe(
    fingerprintOf({ version: 1, of: other }).digest,
  )
})

test('what an entry says of itself is there for the tools', () => {
  const said = { owner: 'search', budget: '64kb', fingerprint: { version: 1, of: 'prompt' } } as const
  const [spec] = string('answer:<id>', text, { ttl: '1h', ...said }).keys
  expect(spec).toMatchObject({
    owner: 'search',
    budgetBytes: 65_536,
    evictable: true,
    fingerprint: { version: '1' },
  })
})

test('the server may evict what expires by itself, unless it is said', () => {
  const evictable = (options: object) => string('a:<id>', text, options as never).keys[0]!.evictable
  expect(evictable({ ttl: '1h' })).toBe(true)
  expect(evictable({ ttl: '1h', evictable: false })).toBe(false)
  expect(evictable({ ttl: 'forever', reason: 'state' })).toBe(false)
  expect(evictable({ ttl: 'forever', reason: 'made anew at will', evictable: true })).toBe(true)
})
