import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { keyspec, type RunOptions } from '../../../../test-support/command-line.ts'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { erase } from './erase.ts'

let redis: TemporaryRedis
const isRecord = new Ajv2020({ allowUnionTypes: true }).compile(erase.json.schema)

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

beforeEach(async () => {
  await redis.command('FLUSHALL')
  for (const name of ['session:42', 'sess:42', 'session:43', 'stock:a', 'cron:x', 'stray\n', 'rate:42:ask'])
    await redis.command('SET', `shop:${name}`, 'secret')
  await redis.command('SET', 'session:42', 'another keyspace')
})

const run = (words: string, options: RunOptions = {}) =>
  keyspec(['erase', '--max-load', '1', ...words.split(' ').filter((word) => word !== '')], {
    ...options,
    env: { REDIS_URL: redis.url },
  })
const size = () => redis.command('DBSIZE')

test('a dry run shows what would go, and deletes nothing', async () => {
  const { code, out } = await run('--all --dry-run')
  expect(code).toBe(0)
  expect(out).toMatch(/^session +3 +\d+ B +shop:sess/m)
  expect(out).toMatch(/^\(no entry\) +1 +\d+ B +shop:stray\\n$/m)
  expect(out).toContain('declared to live forever, and nothing makes them again: stock')
  expect(out).toContain('kept: 1 key of legacyCron, which the old cron owns; --external erases them too')
  expect(out).not.toContain('secret')
  expect(await size()).toBe(8)

  const json = (await run('--all --dry-run --json')).json()
  for (const record of json) expect(isRecord(record), JSON.stringify(isRecord.errors)).toBe(true)
  expect(json.at(-1)).toMatchObject({ record: 'total', keys: 6, dryRun: true })
  expect(json).toContainEqual(expect.objectContaining({ entry: 'legacyCron', spared: true, keys: 1 }))
})

test('what somebody confirms goes, and is reported by entry', async () => {
  const { code, out, err } = await run('--subject userId=42', { answer: 'erase' })
  expect(code).toBe(0)
  expect(err).toContain('<userId> = 42')
  expect(out).toBe('requests: 1 key erased\nsession: 2 keys erased\n3 keys erased\n')
  expect(await redis.command('EXISTS', 'shop:session:43', 'session:42', 'shop:stock:a')).toBe(3)
  expect(await size()).toBe(5)

  const again = await run('--subject userId=42 --yes --json')
  expect(again.json()).toEqual([{ record: 'total', keys: 0, dryRun: false }])
  const rest = (await run('--all --external --yes --json')).json()
  for (const record of rest) expect(isRecord(record), JSON.stringify(isRecord.errors)).toBe(true)
  expect(rest).toContainEqual({ record: 'erased', entry: 'legacyCron', program: 'the old cron', keys: 1 })
  expect(await redis.command('GET', 'session:42')).toBe('another keyspace')
  expect(await size()).toBe(1)
})

test.each<[string, string, RunOptions, number, string]>([
  ['no selection', '--yes', {}, 2, 'say which keys'],
  ['all and some', '--all --entry session --yes', {}, 2, '--all is every key'],
  ['a rate of nothing', '--all --rate 0 --yes', {}, 2, '--rate is above 0'],
  ['an entry that is not there', '--entry sesion --yes', {}, 2, 'the schema has no entry "sesion"'],
  ['nobody to ask', '--entry session', {}, 2, '--yes does it without asking'],
  ['somebody who says no', '--entry session', { answer: 'yes' }, 1, '"erase" was not typed'],
])('%s deletes nothing', async (_, words, options, code, said) => {
  const ran = await run(words, options)
  expect(ran.err).toContain(said)
  expect([ran.code, ran.out]).toEqual([code, ''])
  expect(await size()).toBe(8)
})

test('stopped in the middle, it says what was done and how to go on', async () => {
  for (let i = 0; i < 50; i += 1) await redis.command('SET', `shop:session:${i}`, 'x')
  const stop = new AbortController()
  const running = run('--entry session --rate 10 --yes', { signal: stop.signal })
  const all = Number(await size())
  while (Number(await size()) === all) await new Promise(setImmediate)
  stop.abort()
  const { code, err } = await running
  expect(code).toBe(130)
  expect(err).toMatch(
    /stopped after [1-9]\d* keys?; to go on: keyspec erase --max-load 1 --entry session --rate 10 --yes\n/,
  )
  expect((await run('--entry session --yes')).code).toBe(0)
  expect(await size()).toBe(5)
})
