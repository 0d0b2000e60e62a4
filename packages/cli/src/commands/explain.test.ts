import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyspec as run } from '../../../../test-support/command-line.ts'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { value } from '../render/value.ts'
import { explainJson } from './explain-json.ts'

let redis: TemporaryRedis

beforeAll(async () => {
  redis = await startRedis()
  await redis.command('SET', 'shop:session:1', '{"user":"ann","cart":[1,2]}')
  await redis.command('HSET', 'shop:profile:1', 'name', 'Ann\n', 'visits', 'x')
  await redis.command('EVAL', "for at = 1, 30 do redis.call('RPUSH', 'shop:viewed:1', at) end", '0')
  await redis.command('XADD', 'shop:events', '5-1', 'kind', 'sold', 'more', 'x')
  await redis.command('SET', 'shop:cron:x', Buffer.from([0xff, 0]))
  await redis.command('SET', 'shop:cache:page:a', 'x'.repeat(5000), 'EX', '60')
  await redis.command('SETRANGE', 'shop:cache:page:b', 2 ** 21, 'x')
})

afterAll(() => redis.stop())

const keyspec = (words: readonly string[]) => run(['explain', ...words], { env: { REDIS_URL: redis.url } })

/** What a key takes and how long it has stood differs from server to server. */
const steady = (out: string) =>
  out
    .replace(/(memory|idle) +.*/g, '$1')
    .replace(/kept as .*/, 'kept as …')
    .replace(/[\d.]+ [KM]?B$/gm, '…')

test('says of a key whose it is, what is there and what is wrong with it', async () => {
  const { code, out, err } = await keyspec(['shop:session:1'])
  expect([code, err]).toEqual([1, ''])
  expect(steady(out)).toMatchInlineSnapshot(`
    "shop:session:1
      entry         session
      pattern       shop:session:<userId>
      placeholders  userId = 1
      about         A signed-in visitor and their cart
      lifetime      1h from the last write
      type          string, kept as …
      time to live  none, declared 1 h
      memory
      idle
      value, …
        {"user":"ann","cart":[1,2]}
      no-ttl  never expires, declared is 1h
    "
  `)
})

test('shows fields, elements and entries, what is cut, and what its codec cannot read', async () => {
  const shows = async (key: string) => steady((await keyspec([key])).out.replace(/^[^]*?(?= {2}value)/, ''))
  expect(await shows('shop:profile:1')).toMatchInlineSnapshot(`
    "  value, 2 fields
        name  Ann\\n
        visits  x
      no-ttl  never expires, declared is 30d
      undecodable  holds a value that its codec cannot read: field "visits" is no integer
    "
  `)
  expect(await shows('shop:viewed:1')).toMatchInlineSnapshot(`
    "  value, 30 elements
        1
        2
        3
        4
        5
        6
        7
        8
        9
        10
        … and 20 more
      no-ttl  never expires, declared is 24h
    "
  `)
  expect(await shows('shop:events')).toMatchInlineSnapshot(`
    "  value, 1 element
        5-1  kind  sold
        5-1  more  x
    "
  `)
  expect(await shows('shop:cron:x')).toMatchInlineSnapshot(`
    "  value, …
        0xff00
    "
  `)
  expect(await shows('shop:cache:page:a')).toMatch(/^ {4}x{2048}… \(5,000 in all\)$/m)
  expect(await shows('shop:cache:page:b')).toMatch(/^ {4}0x(00){64}… \(2,048 in all\)…$/m)
})

test('says of a key that nobody owns what it is near to', async () => {
  const { code, out } = await keyspec(['shop:sesion:1'])
  expect(code).toBe(1)
  expect(out).toMatchInlineSnapshot(`
    "shop:sesion:1
      entry   none: no pattern of the schema owns it
      exists  no
      near  shop:session:<userId> (session): "sesion" is not "session"
      near  shop:sess:<userId> (session): "sesion" is not "sess"
    "
  `)
})

test('says of an old name what it becomes, and that a key is not there', async () => {
  const { code, out } = await keyspec(['shop:sess:7'])
  expect(code).toBe(0)
  expect(out).toContain('becomes       shop:session:7\n')
  expect(out).toContain('exists        no\n')
})

test('shows no value where it is not to', async () => {
  const { out } = await keyspec(['shop:session:1', '--no-value'])
  expect(out).not.toContain('ann')
})

test.each([
  'shop:session:1',
  'shop:profile:1',
  'shop:events',
  'shop:cron:x',
  'shop:cache:page:b',
  'shop:sess:1',
  'x',
  '',
])('the JSON of %j is as published', async (key) => {
  const { json } = await keyspec([key, '--json'])
  const validate = new Ajv2020().compile(explainJson)
  expect(validate(json()[0]), JSON.stringify(validate.errors)).toBe(true)
})

test.each<[unknown, string]>([
  ['a\u001b[2Jb', String.raw`a\x1b[2Jb`],
  [Buffer.from([1, 2]), '0x0102'],
  [new Float32Array([0.1, 2, 3, 4, 5]), '5 dimensions: 0.1, 2, 3, 4, …'],
  [new Date(0), '1970-01-01T00:00:00.000Z'],
  [{ a: 5n }, '{"a":"5"}'],
  [undefined, 'undefined'],
  [7, '7'],
])('value %# is shown on one line', (given, wanted) => {
  expect(value(given)).toBe(wanted)
})

test('a key is needed', async () => {
  expect(await keyspec([])).toMatchObject({ code: 2, err: expect.stringContaining('takes a key') })
})
