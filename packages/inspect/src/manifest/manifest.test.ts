import { hash, integer, json, mount, param, string, text } from 'keyspec'
import { external, workQueue } from 'keyspec/recipes'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { manifest } from './manifest.ts'

const Session = z.object({ user: z.string(), visits: z.number().default(0) })

test('says all that is declared of a pattern', () => {
  const made = manifest(
    {
      web: mount('web:', {
        session: string('session:<userId>', json(Session), {
          ttl: '1h',
          renew: 'read',
          jitter: 0.1,
          about: 'Who is there',
          subject: 'userId',
          renamedFrom: { pattern: 'sess:<userId>', phase: 2 },
          owner: 'accounts',
          budget: '1kb',
          evictable: false,
          fingerprint: { version: 2, of: 'shape' },
        }),
      }),
    },
    { prefix: 'prod:' },
  )
  expect(made).toEqual({
    format: 1,
    prefix: 'prod:',
    entries: [
      {
        entry: 'web.session',
        together: false,
        keys: [
          {
            pattern: 'web:session:<userId>',
            example: 'prod:web:session:42',
            renamedFrom: ['web:sess:<userId>'],
            phase: 2,
            type: 'string',
            about: 'Who is there',
            value: {
              codec: 'json',
              jsonSchema: expect.objectContaining({
                type: 'object',
                properties: { user: { type: 'string' }, visits: { type: 'number', default: 0 } },
                // What may be written: a default may be left out.
                required: ['user'],
              }),
            },
            lifetime: { ttlMs: 3_600_000, renew: 'read', jitter: 0.1 },
            params: { userId: 'text' },
            subject: 'userId',
            owner: 'accounts',
            budgetBytes: 1024,
            evictable: false,
            fingerprint: { version: '2', digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
          },
        ],
      },
    ],
  })
})

test('shows the fields of a hash, every key of a recipe, and whose the keys of others are', () => {
  const made = manifest({
    profile: hash('profile:<id>', { name: text, visits: integer }, { ttl: '1d' }),
    mail: workQueue('mail', text, { lease: '30s' }),
    cron: external('cron:<name>', { by: 'the old cron', keys: 'string', about: 'Its locks' }),
  })
  const [cron, mail, profile] = made.entries
  expect([cron, mail, profile].map((each) => each!.entry)).toEqual(['cron', 'mail', 'profile'])
  expect(profile!.keys[0]).toMatchObject({
    fields: { name: { codec: 'text' }, visits: { codec: 'integer' } },
  })
  expect(mail).toMatchObject({ together: true })
  expect(mail!.keys.map(({ pattern }) => pattern)).toEqual(
    expect.arrayContaining(['mail:waiting', 'mail:in-progress', 'mail:deadlines']),
  )
  expect(cron!.keys[0]).toMatchObject({ external: { by: 'the old cron' }, type: 'string' })
  expect(cron!.keys[0]!.value).toBeUndefined()
})

test('is the same in whatever order the entries were written', () => {
  const a = string('a:<id>', text, { ttl: '1h' })
  const b = string('b:<id>', text, { ttl: '1h' })
  expect(JSON.stringify(manifest({ a, b }))).toBe(JSON.stringify(manifest({ b, a })))
})

test('an example is a key of its pattern, whatever its placeholders take', () => {
  const examples = manifest({
    calls: string('calls:<hour>', text, { ttl: '1h', params: { hour: param.hour } }),
    page: string('page:<hash>:<part*>', text, { ttl: '1h', params: { hash: param.digest(16) } }),
    tight: string('<a>i<b>', text, { ttl: '1h' }),
  }).entries.map(({ keys: [key] }) => key!.example)
  expect(examples).toEqual(['calls:2024-09-17_14', 'page:5b0e6f1c9d2a7e43:part', 'aib'])
})

test('a schema that has no JSON Schema says so, and one that another converter knows is described', () => {
  const schema = { session: string('s:<id>', json(v.string()), { ttl: '1h' }) }
  const valueIn = (options?: Parameters<typeof manifest>[1]) =>
    manifest(schema, options).entries[0]!.keys[0]!.value
  expect(valueIn()).toEqual({ codec: 'json', note: 'valibot offers no JSON Schema' })
  expect(valueIn({ jsonSchemaOf: () => ({ type: 'string' }) })).toEqual({
    codec: 'json',
    jsonSchema: { type: 'string' },
  })
  const date = { at: string('at:<id>', json(z.date()), { ttl: '1h' }) }
  expect(manifest(date).entries[0]!.keys[0]!.value!.note).toMatch(/^no JSON Schema: /)
})
