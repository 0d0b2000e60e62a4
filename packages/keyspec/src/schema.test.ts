import { describe, expect, test } from 'vitest'
import { integer } from './codec/integer.ts'
import { text } from './codec/text.ts'
import type { Connection } from './connection/connection.ts'
import { SchemaError } from './errors.ts'
import { open } from './keyspace.ts'
import type { Kind } from './kind/kind.ts'
import { string } from './kind/string.ts'
import { mount, patternsOf, validate } from './schema.ts'

const forever = { ttl: 'forever', reason: 'a test' } as const
const at = <const P extends string>(pattern: P, renamedFrom: string[] = []) =>
  string(
    pattern,
    text,
    renamedFrom.length === 0 ? forever : { ...forever, renamedFrom: { pattern: renamedFrom, phase: 2 } },
  )

describe('opening a schema', () => {
  test('proves before any I/O that no two entries could own one key', () => {
    const untouched: Connection = {
      client: 'none',
      cluster: false,
      send: () => expect.unreachable('nothing may be sent'),
      masters: () => expect.unreachable('nothing may be sent'),
    }
    const schema = { session: at('session:<id>'), current: at('session:current') }
    expect(() => open(schema, untouched)).toThrow(SchemaError)
    expect(() => open(schema, untouched)).toThrow(
      'session ("session:<id>") and current ("session:current") could both own the key "session:current"',
    )
  })

  test('names every conflict at once', () => {
    const schema = { a: at('a:<x>'), b: at('a:b'), c: at('c:<x>'), d: at('c:<y>') }
    expect(() => validate(schema)).toThrow(/a:b[\s\S]*c:x/)
  })

  test('takes an old name for one of the entry’s own', () => {
    expect(() => validate({ state: at('cache:doc:<id>', ['doc:<id>']), other: at('doc:<id>') })).toThrow(
      /"doc:x"/,
    )
    expect(() => validate({ state: at('doc:new:<id>', ['doc:<id*>']) })).toThrow(/could both own/)
    expect(() => validate({ state: at('cache:doc:<id>', ['doc:<id>']) })).not.toThrow()
  })

  test('proves across mounted schemas, with the prefixes they stand under', () => {
    const inner = { session: at('session:<id>') }
    expect(() => validate({ one: mount('a:', inner), two: mount('b:', inner) })).not.toThrow()
    expect(() => validate({ one: mount('', inner), two: mount('', inner) })).toThrow(
      /one\.session .* two\.session .*"session:x"/,
    )
  })

  test('takes the prefixes that are prefixes of each other for what they are', () => {
    expect(() =>
      validate({ a: mount('app:', { x: at('<id>') }), b: mount('app:b:', { x: at('<id>') }) }),
    ).not.toThrow()
    expect(() =>
      validate({ a: mount('app:', { x: at('<id*>') }), b: mount('app:b:', { x: at('<id>') }) }),
    ).toThrow(/"app:b:x"/)
  })

  test('refuses a prefix with a placeholder', () => {
    expect(() => validate({ a: at('a') }, { prefix: '<env>:' })).toThrow(/fixed text/)
  })
})

describe('on a cluster', () => {
  const pair = (...patterns: string[]): Kind => ({
    keys: patterns.flatMap((pattern) => string(pattern as 'x', integer, forever).keys),
    together: true,
    open: () => undefined,
  })

  test('what one verb touches must share a hash tag', () => {
    expect(() => validate({ jobs: pair('jobs:waiting', 'jobs:done') }, { cluster: true })).toThrow(
      'jobs touches "jobs:waiting", "jobs:done" in one step',
    )
    expect(() => validate({ jobs: pair('jobs:waiting', 'jobs:done') }, { cluster: false })).not.toThrow()
    expect(() => validate({ jobs: pair('{jobs}:waiting', '{jobs}:done') }, { cluster: true })).not.toThrow()
    expect(() =>
      validate({ jobs: pair('q:{<name>}:a', 'q:{<name>}:b:<id>') }, { cluster: true }),
    ).not.toThrow()
    expect(() => validate({ jobs: pair('q:{<name>}:a', 'q:{<id>}:b:<name>') }, { cluster: true })).toThrow(
      /hash tag/,
    )
  })

  test('a hash tag in the prefix serves all', () => {
    expect(() => validate({ jobs: pair('a', 'b') }, { cluster: true, prefix: '{app}:' })).not.toThrow()
  })
})

describe('a declaration', () => {
  test('without a ttl is refused, by name', () => {
    expect(() => string('a:<id>', text, {} as never)).toThrow('"a:<id>" declares no ttl')
    expect(() => string('a:<id>', text, undefined as never)).toThrow('"a:<id>" declares no ttl')
  })

  test('that is forever must say why', () => {
    expect(() => string('a', text, { ttl: 'forever', reason: ' ' })).toThrow(/say why, in `reason`/)
  })

  test.each([
    [{ ttl: '1h', jitter: 1 }, /jitter/],
    [{ ttl: 'soon' }, /not a duration/],
    [{ ttl: '1h', subject: 'user' }, /no placeholder <user>/],
    [{ ttl: '1h', params: { user: { name: 'x', encode: String, decode: String } } }, /no placeholder <user>/],
    [{ ttl: '1h', renamedFrom: { pattern: 'b:<other>', phase: 2 } }, /same placeholders/],
    [{ ttl: '1h', renamedFrom: { pattern: 'b:<id', phase: 2 } }, /does not enclose/],
  ])('of %j is refused', (options, why) => {
    expect(() => string('a:<id>', text, options as never)).toThrow(SchemaError)
    expect(() => string('a:<id>', text, options as never)).toThrow(why)
  })
})

test('the patterns of a schema are listed with their paths, prefixes and old names', () => {
  const schema = { app: mount('app:', { state: at('state:<id>', ['old:<id>']) }), count: at('count') }
  expect(
    [...patternsOf(schema, 'prod:')].map(({ entry, pattern, legacy }) => [entry, pattern.text, legacy]),
  ).toEqual([
    ['app.state', 'prod:app:state:<id>', false],
    ['app.state', 'prod:app:old:<id>', true],
    ['count', 'prod:count', false],
  ])
})
