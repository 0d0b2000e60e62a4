import { mount, type Schema, string, text } from 'keyspec'
import { external, workQueue } from 'keyspec/recipes'
import { expect, test } from 'vitest'
import { lint, type LintOptions } from './lint.ts'

const one = (pattern: string, options: object = {}) =>
  string(pattern, text, { ttl: '1h', about: 'Something', ...options } as never)
const issues = (schema: Schema, options?: LintOptions) => [...lint(schema, options)]
const alike = (one_: string, other: string, options?: LintOptions) =>
  issues({ one: one(one_), other: one(other) }, options).map(({ code }) => code)

test('a schema that is in order has no issues', () => {
  expect(
    issues({
      a: one('a:<id>'),
      b: mount('b:', { c: one('c:<id>', { renamedFrom: { pattern: 'cc:<id>', phase: 2 } }) }),
    }),
  ).toEqual([])
})

test('two entries that could own one key are an error that names both and the key', () => {
  expect(issues({ a: one('x:<id>'), b: mount('x:', { c: one('<y>') }) }, { prefix: 'p:' })).toMatchObject([
    { code: 'overlap', severity: 'error', entry: 'a', other: 'b.c', example: 'p:x:x', advice: /\w/ },
  ])
})

test('a prefix with a placeholder is an error', () => {
  expect(issues({ a: one('a') }, { prefix: '<p>:' })).toMatchObject([{ code: 'prefix', severity: 'error' }])
})

test('on a cluster, keys of one step must share a slot', () => {
  const schema = { mail: workQueue('mail', text, { lease: '1s', about: 'Mail' }) }
  expect(issues(schema)).toEqual([])
  expect(issues(schema, { cluster: true })).toMatchObject([
    { code: 'slots', severity: 'error', entry: 'mail' },
  ])
  const tagged = { mail: workQueue('{mail}', text, { lease: '1s', about: 'Mail' }) }
  expect(issues(tagged, { cluster: true })).toEqual([])
})

test('an entry that does not say what it is for is a warning, once', () => {
  expect(issues({ mail: workQueue('mail', text, { lease: '1s' }) })).toEqual([])
  expect(issues({ a: one('a', { about: undefined }) })).toMatchObject([
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
  expect(
    issues({
      a: one('dockets:<id>', { renamedFrom: { pattern: 'docket:<id>', phase: 2 } }),
      b: one('c:<id>'),
    }),
  ).toEqual([])
  const others = { by: 'cron', keys: 'string', about: 'x' } as const
  expect(issues({ a: external('message', others), b: external('messages', others) })).toEqual([])
  expect(alike('session:<id>', 'sessions', { alike: ['sessions'] })).toEqual([])
})
