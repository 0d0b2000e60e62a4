import { manifest, renderDocs } from '@keyspec/inspect'
import { hash, integer, list, type Schema, set, sortedSet, stream, string, text } from 'keyspec'
import { expect, test } from 'vitest'
import { docsCommands } from './docs-commands.ts'

const page = (schema: Schema, prefix = '') =>
  renderDocs(manifest(schema, { prefix }), { commands: docsCommands })

test.each<[string, Schema, string[]]>([
  ['hash', { a: hash('a', { n: integer, '*': text }, { ttl: '1m' }) }, ['HLEN a', 'HSCAN a 0 COUNT 20']],
  ['list', { a: list('a', text, { ttl: '1m' }) }, ['LLEN a', 'LRANGE a 0 9']],
  ['set', { a: set('a', text, { ttl: '1m' }) }, ['SCARD a', 'SSCAN a 0 COUNT 20']],
  ['zset', { a: sortedSet('a', text, { ttl: '1m' }) }, ['ZCARD a', 'ZRANGE a 0 9 WITHSCORES']],
  ['stream', { a: stream('a', { n: text }, { ttl: '1m' }) }, ['XLEN a', 'XREVRANGE a + - COUNT 10']],
])('a %s is shown with commands that read no more than a little', (_type, schema, commands) => {
  const lines = page(schema).split('\n')
  expect(lines).toEqual(expect.arrayContaining(commands.map((command) => `redis-cli ${command}`)))
})

test('a key is found by its pattern, and its time to live is shown', () => {
  const made = page({ session: string('session:<userId>', text, { ttl: '1h' }) }, 'prod:')
  expect(made).toContain(
    'redis-cli GET prod:session:42\nredis-cli PTTL prod:session:42\nkeyspec explain prod:session:42',
  )
  expect(made).toContain("| session | `redis-cli --scan --pattern 'prod:session:*'` |")
})

test('names that a shell would read otherwise are quoted', () => {
  const made = page({ a: string("it's a\u0006|`<id>", text, { ttl: '1h' }) })
  expect(made).toContain(`redis-cli GET 'it'\\''s a`)
})
