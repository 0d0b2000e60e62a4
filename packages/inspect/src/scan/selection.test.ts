import { type Connection, list, mount, type Schema, SchemaError, string, text } from 'keyspec'
import { fromNodeRedis } from 'keyspec/node-redis'
import { startRedis, type TemporaryRedis, unique } from 'keyspec/testing'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findKeys, type SelectionOptions, selectKeys } from './selection.ts'

const schema: Schema = {
  session: string('session:<userId>', text, {
    ttl: '1h',
    renamedFrom: { pattern: 'sess:<userId>', phase: 2 },
  }),
  rate: string('rate:<userId>:<endpoint>', text, { ttl: '1m' }),
  history: list('history:<sessionId>', text, { ttl: '1h' }),
  tutor: mount('tutor:', {
    session: string('session:<userId>', text, { ttl: '1h' }),
    page: string('page:<url>', text, { ttl: '1h' }),
  }),
}

let server: TemporaryRedis
let connection: Connection
let prefix: string
let client: ReturnType<typeof createClient>

const names = [
  'session:42',
  'session:43',
  'sess:42',
  'rate:42:ask',
  'rate:42:upload',
  'rate:421:ask',
  'history:42',
  'tutor:session:42',
  'tutor:page:x',
  'stray:42',
  'sessions:42',
]

beforeAll(async () => {
  server = await startRedis()
  client = createClient({ socket: { path: server.socket, tls: false } })
  await client.connect()
  connection = fromNodeRedis(client)
  prefix = `${unique()}:`
  for (const name of names) await server.command('SET', prefix + name, 'x')
  await server.command('SET', Buffer.concat([Buffer.from(prefix), Buffer.from([0xff])]), 'x')
  await server.command('SET', 'session:42', 'outside')
})

afterAll(async () => {
  client.destroy()
  await server.stop()
})

async function found(options: SelectionOptions): Promise<string[]> {
  const keys: string[] = []
  for await (const batch of findKeys(selectKeys(schema, { prefix, ...options }), connection, { maxLoad: 1 }))
    keys.push(...batch.map(({ name }) => name?.slice(prefix.length) ?? 'binary'))
  return keys.sort()
}

const everything = [...names, 'binary'].sort()

test.each<[string, SelectionOptions, readonly string[]]>([
  ['nothing', {}, everything],
  ['an entry, its old name too', { entries: ['session'] }, ['sess:42', 'session:42', 'session:43']],
  ['all that is mounted somewhere', { entries: ['tutor'] }, ['tutor:page:x', 'tutor:session:42']],
  ['a prefix, and nothing of a longer one', { under: 'session:' }, ['session:42', 'session:43']],
  ['a prefix that is one of another', { under: 'session' }, ['session:42', 'session:43', 'sessions:42']],
  ['a prefix that looks like a pattern', { under: '*' }, []],
  [
    'a person',
    { subject: { userId: '42' } },
    ['rate:42:ask', 'rate:42:upload', 'sess:42', 'session:42', 'tutor:session:42'],
  ],
  [
    'a person within an entry',
    { subject: { userId: '42' }, entries: ['rate'] },
    ['rate:42:ask', 'rate:42:upload'],
  ],
  ['all placeholders of a key', { subject: { userId: '42', endpoint: 'ask' } }, ['rate:42:ask']],
  ['a person under a prefix', { subject: { userId: '42' }, under: 'tutor:' }, ['tutor:session:42']],
  ['a person who cannot stand in a key', { subject: { userId: '4:2' } }, []],
])('given %s, finds what belongs to it', async (_, options, expected) => {
  expect(await found(options)).toEqual(expected)
})

test('keys whose names are known are built, and nothing is scanned for them', () => {
  const person = selectKeys(schema, { entries: ['session', 'tutor.session'], subject: { userId: '42' } })
  expect(person.built.map(({ name }) => name)).toEqual(['session:42', 'sess:42', 'tutor:session:42'])
  expect(person.scanned).toBeUndefined()
  expect(selectKeys(schema, { subject: { userId: '42' } }).scanned).toBe('rate:42:')
})

test('a key must hold every value of a subject, not one of them', async () => {
  const visits: Schema = {
    visit: string('visit:<userId>:<page>:<day>', text, { ttl: '1h' }),
    page: string('visits:<page>', text, { ttl: '1h' }),
  }
  const inside = `${unique()}:`
  for (const name of [
    'visit:1:a:mon',
    'visit:1:a:tue',
    'visit:1:b:mon',
    'visit:2:a:mon',
    'visit:a:1:mon',
    'visits:a',
  ])
    await server.command('SET', inside + name, 'x')
  const chosen = selectKeys(visits, { prefix: inside, subject: { userId: '1', page: 'a' } })
  const keys: string[] = []
  for await (const batch of findKeys(chosen, connection, { maxLoad: 1 }))
    for (const { name } of batch) keys.push(String(name).slice(inside.length))
  expect(keys.toSorted()).toEqual(['visit:1:a:mon', 'visit:1:a:tue'])
  expect(
    ['visit:1:b:mon', 'visit:2:a:mon', 'visit:a:1:mon', 'visits:a'].filter((name) =>
      chosen.has(inside + name),
    ),
  ).toEqual([])
})

test('an entry is chosen by its whole name or its mount, never by the beginning of its name', () => {
  for (const entry of ['sess', 'session:', 'tutor.sess', 'tut', 'tutor.', 'session.x', ''])
    expect(() => selectKeys(schema, { entries: [entry] }), entry).toThrow(SchemaError)
  expect(() => selectKeys(schema, { entries: ['session', 'sess'] })).toThrow('the schema has no entry "sess"')
})

describe('a name that matches nothing', () => {
  test('says which entries there are', () => {
    expect(() => selectKeys(schema, { entries: ['sesion'] })).toThrow(
      'the schema has no entry "sesion": there are history, rate, session, tutor.page, tutor.session',
    )
  })
  test('says which placeholders there are', () => {
    expect(() => selectKeys(schema, { subject: { user: '42' } })).toThrow(
      'no entry has the placeholder <user>: there are <endpoint>, <sessionId>, <url>, <userId>',
    )
  })
})

test('the title says in words what is chosen', () => {
  expect(selectKeys(schema).title).toBe('all keys')
  expect(selectKeys(schema, { prefix: 'prod:' }).title).toBe('all keys under "prod:"')
  expect(selectKeys(schema, { prefix: 'prod:', under: 'rate:', subject: { userId: '42' } }).title).toBe(
    '<userId> = 42, keys under "prod:rate:"',
  )
})
