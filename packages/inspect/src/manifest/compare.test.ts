import { type Codec, hash, integer, json, list, number, param, type Schema, string, text } from 'keyspec'
import { external } from 'keyspec/recipes'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { compareManifests } from './compare.ts'
import { manifest } from './manifest.ts'

const day = 86_400_000
const forever = { ttl: 'forever', reason: 'state' } as const

/** An entry whose pattern, value and options are the plain ones where nothing else is said. */
const one = (pattern = 'a:<id>', options: object = {}, codec: Codec<any> = text): Schema => ({
  a: string(pattern, codec, { ttl: '1d', ...options } as never),
})
const shape = (fields: z.ZodRawShape, options: object = {}, pattern?: string) =>
  one(pattern, options, json(z.object(fields)))
const at = (phase: number) => one('b:<id>', { renamedFrom: { pattern: 'a:<id>', phase } })
const fingerprint = (version: number, of: string) => ({ fingerprint: { version, of } })

const safe: Record<string, [Schema, Schema, string]> = {
  'an entry more': [{}, one(), 'added'],
  'an entry less, that expires': [one(), {}, 'removed'],
  'an entry by another name': [one(), { b: one()['a']! }, 'entry-renamed'],
  'a placeholder by another name': [one('a:<id>'), one('a:<userId>'), 'placeholder-renamed'],
  'a placeholder that may hold colons': [one('a:<id>'), one('a:<id*>'), 'placeholder-widened'],
  'a new name that knows its old one': [
    one('a:<id>'),
    one('b:<id>', { renamedFrom: { pattern: 'a:<id>', phase: 1 } }),
    'renamed',
  ],
  'a hash tag, with the old name known': [
    one('a:<id>'),
    one('{a}:<id>', { renamedFrom: { pattern: 'a:<id>', phase: 1 } }),
    'hash-tag-changed',
  ],
  'a new name for new values': [
    shape({ n: z.string() }),
    shape({ n: z.number() }, {}, 'a:v2:<id>'),
    'renamed',
  ],
  'a rename that goes back a phase': [at(3), at(2), 'phase-changed'],
  'a shorter life': [one(), one('a:<id>', { ttl: '1h' }), 'lifetime-changed'],
  'a longer life': [one(), one('a:<id>', { ttl: '2d' }), 'lifetime-changed'],
  'another renewal': [one(), one('a:<id>', { renew: 'read' }), 'lifetime-changed'],
  'another subject': [one(), one('a:<id>', { subject: 'id' }), 'subject-changed'],
  'another owner': [one(), one('a:<id>', { owner: 'us' }), 'owner-changed'],
  'another budget': [one(), one('a:<id>', { budget: '1kb' }), 'budget-changed'],
  'what may be evicted': [one(), one('a:<id>', { evictable: false }), 'evictable-changed'],
  'a field that may be there': [shape({}), shape({ n: z.string().optional() }), 'value-changed'],
  'a field of a hash more': [
    { a: hash('a', { n: text }, { ttl: '1d' }) },
    { a: hash('a', { n: text, m: text }, { ttl: '1d' }) },
    'field-added',
  ],
  'a version that was raised with what it stands for': [
    one('a:<id>', fingerprint(1, 'one')),
    one('a:<id>', fingerprint(2, 'two')),
    'version-raised',
  ],
  'keys of another program less': [
    { a: external('a:<id>', { by: 'cron', keys: 'string', about: 'x' }) },
    {},
    'removed',
  ],
}

const version: Record<string, [Schema, Schema, string]> = {
  'a field that must be there': [shape({}), shape({ n: z.string() }), 'value-changed'],
  'a value less': [shape({ n: z.enum(['a', 'b']) }), shape({ n: z.enum(['a']) }), 'value-changed'],
  'whole numbers only': [one('a', {}, number), one('a', {}, integer), 'codec-changed'],
  'another codec of a placeholder': [
    one('a:<id>', { params: { id: param.digest(16) } }),
    one('a:<id>', { params: { id: param.digest(32) } }),
    'param-changed',
  ],
  'what the values depend on, under the same version': [
    one('a:<id>', fingerprint(1, 'one')),
    one('a:<id>', fingerprint(1, 'two')),
    'fingerprint-changed',
  ],
}

const migration: Record<string, [Schema, Schema, string]> = {
  'a new name that moves its keys at once': [one('a:<id>'), at(2), 'renamed'],
  'a rename that goes on to phase 2': [at(1), at(2), 'phase-changed'],
  'a rename that goes on to phase 3': [at(2), at(3), 'phase-changed'],
  'an entry less, that lives forever': [one('a', forever), {}, 'removed'],
  'a new name that does not know its old one': [one('a:<id>'), one('b:<id>'), 'renamed'],
  'a hash tag': [one('a:<id>'), one('{a}:<id>'), 'hash-tag-changed'],
  'a placeholder that may hold colons no longer': [one('a:<id*>'), one('a:<id>'), 'placeholder-narrowed'],
  'an old name that is read no longer': [
    one('a:<id>', { renamedFrom: { pattern: 'b:<id>', phase: 2 } }),
    one('a:<id>'),
    'old-name-dropped',
  ],
  'a life without end': [one(), one('a:<id>', forever), 'lifetime-changed'],
  'an end to a life without one': [one('a:<id>', forever), one(), 'lifetime-changed'],
  'a field that must be there, of what lives forever': [
    shape({}, forever),
    shape({ n: z.string() }, forever),
    'value-changed',
  ],
  'another codec of a placeholder of what lives forever': [
    one('a:<id>', forever),
    one('a:<id>', { ...forever, params: { id: param.hour } }),
    'param-changed',
  ],
}

const breaks: Record<string, [Schema, Schema, string]> = {
  'a rename that leaves out phase 2': [at(1), at(3), 'phase-changed'],
  'a rename that goes back two phases': [at(3), at(1), 'phase-changed'],
  'another type': [one('a'), { a: list('a', text, { ttl: '1d' }) }, 'type-changed'],
  'another codec': [one('a', {}, text), one('a', {}, integer), 'codec-changed'],
  'fractions too': [one('a', {}, integer), one('a', {}, number), 'codec-changed'],
  'a value more': [shape({ n: z.enum(['a']) }), shape({ n: z.enum(['a', 'b']) }), 'value-changed'],
  'a field less that was needed': [shape({ n: z.string() }), shape({}), 'value-changed'],
  'another type of a field': [shape({ n: z.string() }), shape({ n: z.number() }), 'value-changed'],
  'values that nothing describes any more': [
    shape({ n: z.string() }),
    one('a:<id>', {}, json(z.object({ n: z.date() }))),
    'value-changed',
  ],
  'a field of a hash less': [
    { a: hash('a', { n: text, m: text }, { ttl: '1d' }) },
    { a: hash('a', { n: text }, { ttl: '1d' }) },
    'field-removed',
  ],
}

const table = Object.entries({ safe, version, migration, breaks }).flatMap(([impact, cases]) =>
  Object.entries(cases).map(([what, change]) => [what, impact, ...change] as const),
)

test.each(table)('%s: %s', (_what, impact, before, after, code) => {
  const changes = compareManifests(manifest(before), manifest(after))
  const change = changes.find((each) => each.code === code)
  expect(changes.map((each) => each.code)).toContain(code)
  expect(change).toMatchObject({ impact })
  if (impact !== 'safe') expect(changes.filter((each) => each.impact !== 'safe')).toEqual([change])
  else expect(changes.filter((each) => each.impact !== 'safe')).toEqual([])
  if (impact !== 'safe') expect(change!.advice).toMatch(/\w/)
})

test('nothing has changed where nothing has', () => {
  const schema = { ...one(), ...shape({ n: z.string() }, {}, 'b:<id>') }
  expect(compareManifests(manifest(schema), manifest(schema))).toEqual([])
})

test('keys of before are gone when their old lifetime is over, or never', () => {
  const gone = (before: Schema, after: Schema) =>
    compareManifests(manifest(before), manifest(after)).map((change) => change.oldKeysGoneAfterMs)
  expect(gone(shape({}), shape({ n: z.string() }, { ttl: '7d' }))).toEqual([day, day])
  expect(gone(one('a', forever), {})).toEqual(['never'])
  expect(gone({}, one())).toEqual([undefined])
})

test('another prefix is another keyspace, and its patterns are compared all the same', () => {
  const changes = compareManifests(
    manifest(one(), { prefix: 'a:' }),
    manifest(one('b:<id>'), { prefix: 'b:' }),
  )
  expect(changes).toMatchObject([
    { code: 'prefix-changed', impact: 'safe' },
    { code: 'renamed', impact: 'migration', before: 'a:<id>', pattern: 'b:<id>' },
  ])
})
