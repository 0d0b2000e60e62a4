import { expect, test } from 'vitest'
import { text } from '../../codec/text.ts'
import { string } from '../../kind/string.ts'
import { foreign, workQueue } from '../../recipe/index.ts'
import { mount, type Schema } from '../../schema.ts'
import { lint, type LintOptions } from './lint.ts'

const one = (pattern: string, options: object = {}) =>
  string(pattern, text, { ttl: '1h', about: 'Something', ...options } as never)
const flaws = (schema: Schema, options?: LintOptions) => [...lint(schema, options)]
const alike = (one_: string, other: string, options?: LintOptions) =>
  flaws({ one: one(one_), other: one(other) }, options).map(({ code }) => code)

test('a schema that is in order has no flaws', () => {
  expect(flaws({ a: one('a:<id>'), b: mount('b:', { c: one('c:<id>', { was: ['cc:<id>'] }) }) })).toEqual([])
})

test('two entries that could own one key are an error that names both and the key', () => {
  expect(flaws({ a: one('x:<id>'), b: mount('x:', { c: one('<y>') }) }, { prefix: 'p:' })).toMatchObject([
    { code: 'overlap', severity: 'error', entry: 'a', other: 'b.c', example: 'p:x:x', advice: /\w/ },
  ])
})

test('a prefix with a placeholder is an error', () => {
  expect(flaws({ a: one('a') }, { prefix: '<p>:' })).toMatchObject([{ code: 'prefix', severity: 'error' }])
})

test('on a cluster, keys of one step must share a slot', () => {
  const schema = { mail: workQueue('mail', text, { lease: '1s', about: 'Mail' }) }
  expect(flaws(schema)).toEqual([])
  expect(flaws(schema, { cluster: true })).toMatchObject([
    { code: 'slots', severity: 'error', entry: 'mail' },
  ])
  const tagged = { mail: workQueue('{mail}', text, { lease: '1s', about: 'Mail' }) }
  expect(flaws(tagged, { cluster: true })).toEqual([])
})

test('an entry that does not say what it is for is a warning, once', () => {
  expect(flaws({ mail: workQueue('mail', text, { lease: '1s' }) })).toEqual([])
  expect(flaws({ a: one('a', { about: undefined }) })).toMatchObject([
    { code: 'no-about', severity: 'warning', entry: 'a' },
  ])
})

test.each([
  ['docket_last_timestamp', 'dockets_last_timestamp'],
  ['session:<id>', 'sessions:<userId>'],
  ['session:<id>', 'sesion:<id>:cart'],
  ['userName:<id>', 'username:<id>'],
  ['user_name:<id>', 'user-name:<id>'],
  ['cache:category:<id>', 'cache:categories'],
  ['job:<id>', 'jobs'],
])('%s and %s look alike', (a, b) => {
  expect(alike(a, b)).toEqual(['look-alike'])
})

test.each([
  ['web:<id>', 'wen:<id>'],
  ['cache:doc:state:<id>', 'batch:stats:<id>'],
  ['dockets_total', 'documents_total'],
  ['shard1:<id>', 'shard2:<id>'],
  ['rate:<id>', 'cache:rate:<id>'],
])('%s and %s do not', (a, b) => {
  expect(alike(a, b)).toEqual([])
})

test('old names may look like new ones, other programs like themselves, and what is said to be meant is', () => {
  expect(flaws({ a: one('dockets:<id>', { was: ['docket:<id>'] }), b: one('c:<id>') })).toEqual([])
  const others = { by: 'cron', keys: 'string', about: 'x' } as const
  expect(flaws({ a: foreign('message', others), b: foreign('messages', others) })).toEqual([])
  expect(alike('session:<id>', 'sessions', { alike: ['sessions'] })).toEqual([])
})
