import fc from 'fast-check'
import { mount, param, type Schema, SchemaError, string, text } from 'keyspec'
import { patternsOf } from 'keyspec/extend'
import { expect, test } from 'vitest'
import { matcher, unprovenMatcher } from './matcher.ts'

const entry = (pattern: string, options: object = {}) =>
  string(pattern, text, { ttl: '1h', ...options } as never)

const schema: Schema = {
  session: entry('session:<id>', { renamedFrom: { pattern: 'sess:<id>', phase: 2 } }),
  plain: entry('last_id'),
  job: entry('queue:{<name>}:job:<id>'),
  waiting: entry('queue:{<name>}:waiting'),
  version: entry('qu:v<n>:<hash>'),
  other: entry('qu:w<n>:<hash>'),
  start: entry('start:<run*>:<task>'),
  path: entry('file-<path*>'),
  daily: entry('daily:<day>', { params: { day: param.day } }),
  tutor: mount('tutor:', { session: entry('session:<id>') }),
}

test.each([
  ['session:7', 'session'],
  ['sess:7', 'session'],
  ['last_id', 'plain'],
  ['queue:{a}:job:1', 'job'],
  ['queue:{a}:waiting', 'waiting'],
  ['qu:v2:abc', 'version'],
  ['qu:w2:abc', 'other'],
  ['start:manual_2024T14:30:00+00:00:load', 'start'],
  ['file-a:b:c', 'path'],
  ['daily:2024-09-17', 'daily'],
  ['tutor:session:7', 'tutor.session'],
  ['daily:tomorrow', undefined],
  ['session:', undefined],
  ['session:7:8', undefined],
  ['last_id2', undefined],
  ['qu:x2:abc', undefined],
  ['start:load', undefined],
  ['', undefined],
  [':', undefined],
])('%j belongs to %s', (key, name) => {
  expect(matcher(schema).match(key)?.entry).toBe(name)
})

test('with a prefix only keys behind it belong to the schema', () => {
  const { match } = matcher(schema, 'prod:')
  expect(match('prod:session:7')?.entry).toBe('session')
  expect(match('session:7')).toBeUndefined()
})

test('finds what parsing by every pattern in turn would find', () => {
  const pieces = ['<a>', '<b>', 'x', 'y', 'x<c>', '<d>y', '{<e>}', 'x<f*>', '<g*>']
  const patterns = fc
    .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 4 })
    .filter((list) => new Set(list).size === list.length || !list.some((piece) => piece.includes('<')))
    .filter((list) => list.filter((piece) => piece.includes('*')).length < 2)
    .filter((list) => list.every((piece, index) => !piece.includes('<') || list.indexOf(piece) === index))
    .map((list) => list.join(':'))
  const keys = fc.array(fc.constantFrom('x', 'y', 'xy', '{x}', 'xx', '', 'z'), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(fc.uniqueArray(patterns, { maxLength: 8 }), keys, (texts, parts) => {
      const random: Schema = Object.fromEntries(texts.map((pattern) => [pattern, entry(pattern)]))
      const key = parts.join(':')
      const all = [...patternsOf(random)].filter(({ pattern }) => pattern.parse(key) !== undefined)
      const found = unprovenMatcher(random).match(key)
      if (all.length === 0) expect(found).toBeUndefined()
      else expect(all.map(({ entry: name }) => name)).toContain(found?.entry)
    }),
    { numRuns: 500 },
  )
})

test('a schema in which a key could belong to two entries is refused, as open refuses it', () => {
  const both = { user: entry('user:<id>'), path: entry('user:<path*>') }
  expect(() => matcher(both)).toThrow(SchemaError)
  expect(() => matcher(both, 'prod:')).toThrow('could both own the key "prod:user:')
})
