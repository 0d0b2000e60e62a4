import { type Connection, float32, hash, json, param, sortedSet, stream, string, text } from 'keyspec'
import { external } from 'keyspec/recipes'
import type { TemporaryRedis } from 'keyspec/testing'
import * as v from 'valibot'
import { beforeAll, describe, expect, test } from 'vitest'
import { connected } from '../../../../test-support/connected.ts'
import { explain } from './explain.ts'
import { nearest } from '../match/nearest.ts'

const schema = {
  session: string('session:<userId>', json(v.object({ user: v.string() })), {
    ttl: '1h',
    renamedFrom: { pattern: 'sess:<userId>', phase: 2 },
    budget: '100b',
  }),
  visits: string('visits:<day>:<userId>', text, {
    ttl: '1d',
    params: { day: param.day, userId: param.integer },
  }),
  profile: hash('profile:<userId>', { name: text, face: float32(2) }, { ttl: '1d' }),
  ranking: sortedSet('ranking', text, { ttl: '1d' }),
  events: stream('events', { kind: text }, { ttl: 'forever', reason: 'read later' }),
  page: string('page:<path*>', text, { ttl: '1h' }),
  cron: external('cron:<name>', {
    by: 'cron',
    keys: ([name]) => (name === 'lock' ? { type: 'string', about: 'its lock' } : undefined),
    about: 'what cron keeps',
  }),
}

let redis: TemporaryRedis
let connection: Connection

beforeAll(async () => {
  ;({ redis, connection } = await connected())
})

const explained = (key: string | Buffer, options = {}) =>
  explain(schema, connection, Buffer.from(key), { prefix: 'app:', ...options })

test('says whose a key is, what it is about and what is there', async () => {
  await redis.command('SET', 'app:session:42', '{"user":"ann"}', 'EX', '3600')
  const { owned, params, seen, value, faults } = await explained('app:session:42')
  expect(owned).toMatchObject({ entry: 'session', legacy: false })
  expect(params).toEqual({ userId: '42' })
  expect(seen).toMatchObject({ type: 'string', idleMs: expect.any(Number) })
  expect(value).toMatchObject({
    count: 14,
    parts: [{ value: { user: 'ann' }, codec: 'json', failed: false }],
  })
  expect(faults).toEqual([])
})

test('reads placeholders with their codecs, and fields, scores and ids with theirs', async () => {
  const at = await explained('app:visits:2024-09-17:7')
  expect(at).toMatchObject({
    params: { day: new Date('2024-09-17'), userId: 7 },
    seen: undefined,
    value: undefined,
  })

  await redis.command('HSET', 'app:profile:1', 'name', 'Ann', 'face', Buffer.alloc(8), 'other', 'x')
  const profile = await explained('app:profile:1')
  expect(profile.value!.parts).toMatchObject([
    { field: 'name', value: 'Ann' },
    { field: 'face', value: new Float32Array(2) },
    { field: 'other', codec: undefined, stored: Buffer.from('x') },
  ])
  await redis.command('ZADD', 'app:ranking', '1.5', 'a')
  expect((await explained('app:ranking')).value!.parts).toMatchObject([{ score: '1.5', value: 'a' }])
  await redis.command('XADD', 'app:events', '5-1', 'kind', 'sold')
  expect((await explained('app:events')).value!.parts).toMatchObject([
    { id: '5-1', field: 'kind', value: 'sold' },
  ])
})

test('says what is not as declared', async () => {
  await redis.command('SET', 'app:session:1', `{"user":"${'x'.repeat(100)}`)
  const { faults, value } = await explained('app:session:1')
  expect(faults).toEqual([
    { code: 'no-ttl', message: 'never expires, declared is 1h' },
    { code: 'over-budget', message: expect.stringMatching(/^takes up to \d+ bytes, its budget is 100$/) },
    { code: 'undecodable', message: 'holds a value that its codec cannot read: it is no json' },
  ])
  expect(value!.parts).toMatchObject([{ failed: true, stored: Buffer.from(`{"user":"${'x'.repeat(100)}`) }])
  await redis.command('RPUSH', 'app:session:2', 'a', 'b')
  const wrong = await explained('app:session:2')
  expect(wrong.faults[0]).toEqual({ code: 'wrong-type', message: 'holds a list, declared is a string' })
  expect(wrong.value).toMatchObject({ count: 2, parts: [{ stored: Buffer.from('a'), codec: undefined }, {}] })
})

test('says which name an old one is to have', async () => {
  expect(await explained('app:sess:42')).toMatchObject({ owned: { legacy: true }, becomes: 'app:session:42' })
})

test('says what another program keeps, and what it does not', async () => {
  await redis.command('SET', 'app:cron:x', '1')
  expect(await explained('app:cron:lock')).toMatchObject({ external: { about: 'its lock' }, faults: [] })
  expect(await explained('app:cron:x')).toMatchObject({
    external: undefined,
    faults: [
      {
        code: 'external-shape',
        message: 'is under a pattern of cron, which is not known to keep such a key',
      },
    ],
  })
})

test('shows the beginning of what is large, and nothing where it is not to', async () => {
  await redis.command('EVAL', "for at = 1, 500 do redis.call('RPUSH', 'app:long', at) end", '0')
  await redis.command('SETRANGE', 'app:page:large', 2 ** 20 + 5, 'x')
  const list = (await explained('app:long')).value!
  expect([list.count, list.parts.length]).toEqual([500, 10])
  const page = (await explained('app:page:large')).value!
  expect(page).toMatchObject({ count: 2 ** 20 + 6, parts: [], omitted: 1 })
  expect(page.head).toHaveLength(2048)
  expect((await explained('app:long', { value: false })).value).toBeUndefined()
})

test('keys of any bytes are shown, and owned by nothing', async () => {
  const key = Buffer.from([0x61, 0xff, 0])
  await redis.command('SET', key, 'x')
  expect(await explained(key)).toMatchObject({
    owned: undefined,
    nearest: [],
    seen: { type: 'string' },
    value: { parts: [{ stored: Buffer.from('x') }] },
  })
  await redis.command('SET', '', 'x')
  expect((await explained('')).seen).toBeDefined()
})

describe('a key that nothing owns comes nearest to', () => {
  test.each([
    ['app:sesion:42', 'app:session:<userId>', '"sesion" is not "session"'],
    ['session:42', 'app:session:<userId>', 'lacks "app"'],
    ['app:session:42:x', 'app:session:<userId>', 'has "x" too many'],
    ['app:session:', 'app:session:<userId>', '<userId> is empty'],
    ['app:visits:2024-09-17:ann', 'app:visits:<day>:<userId>', '"ann" is no <userId>, which is integer'],
    ['app:pages:a:b:c', 'app:page:<path*>', '"pages" is not "page"'],
    ['app:event', 'app:events', '"event" is not "events"'],
  ])('%s: %s', (name, pattern, reason) => {
    const [first] = nearest(schema, 'app:', name)
    expect([first!.owned.pattern.text, first!.reason]).toEqual([pattern, reason])
  })

  test('nothing, where nothing is near', () => {
    expect(nearest(schema, 'app:', 'q'.repeat(100_000))).toEqual([])
    expect(nearest(schema, 'app:', 'x:'.repeat(100_000))).toEqual([])
  })
})
