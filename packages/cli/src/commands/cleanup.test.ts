import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { keyspec, type RunOptions } from '../../../../test-support/command-line.ts'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { cleanup } from './cleanup.ts'

let redis: TemporaryRedis
const isRecord = new Ajv2020().compile(cleanup.json.schema)

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(async () => {
  await redis.command('FLUSHALL')
  for (const name of ['session:1', 'session:2', 'stock:a', 'cron:x', 'stray'])
    await redis.command('SET', `shop:${name}`, 'secret')
  await redis.command('SET', 'shop:session:3', 'secret', 'EX', 3600)
  await redis.command('SET', 'shop:sess:3', 'secret', 'EX', 60)
  await redis.command('SET', 'shop:cache:page:a', 'secret', 'EX', 9000)
  await redis.command('RPUSH', 'shop:cache:page:b', 'secret')
})

const run = (words: string, options: RunOptions = {}) =>
  keyspec(['cleanup', '--max-load', '1', ...words.split(' ').filter((word) => word !== '')], {
    ...options,
    env: { REDIS_URL: redis.url },
  })

async function records(words: string) {
  const { code, out, err, json } = await run(`${words} --json`)
  for (const record of json()) expect(isRecord(record), JSON.stringify(isRecord.errors)).toBe(true)
  expect(out + err).not.toContain('secret')
  return { code, records: json() }
}

const finding = (entry: string, problem: string, keys: number, fixed = 0) =>
  expect.objectContaining({ record: 'finding', entry, problem, keys, fixed })
const ttl = (name: string) => redis.command('PTTL', `shop:${name}`)

test('without flags it lists what is past its policy, and changes nothing', async () => {
  const { code, records: found } = await records('')
  expect(code).toBe(1)
  expect(found.toSorted((a, b) => String(a.problem).localeCompare(String(b.problem)))).toEqual([
    finding('session', 'no-ttl', 2),
    finding('page', 'other-type', 1),
    finding('page', 'ttl-too-long', 1),
    finding('session', 'two-names', 1),
    { record: 'total', keys: 4, fixed: 0, complete: true, findings: true },
  ])
  const { out } = await run('')
  expect(out).toMatch(/^session +no TTL +2 +shop:session:\d shop:session:\d$/m)
  expect(out).toContain('at both names: keyspec migrate run --keep new deletes the older value')
  expect(await ttl('session:1')).toBe(-1)
  expect((await run('--entry tags')).out).toBe('nothing is past its policy\n')
  expect((await run('--entry tags')).code).toBe(0)
})

test('repairs what somebody confirms, and leaves the rest', async () => {
  expect((await run('--repair')).code).toBe(2)
  expect((await run('--repair', { answer: 'no' })).code).toBe(1)
  expect((await run('--repair --dry-run')).code).toBe(0)
  expect(await ttl('session:1')).toBe(-1)
  const { code, err, out } = await run('--repair --entry session', { answer: 'cleanup' })
  expect(err).toContain('Give 2 keys the declared time to live?')
  expect(out).toMatch(/^session +no TTL +2 +2 /m)
  // The old name is still there.
  expect(code).toBe(1)
  expect(await ttl('session:1')).toBeGreaterThan(3_500_000)

  expect(await records('--cap --yes --under cache:')).toEqual({
    code: 0,
    records: expect.arrayContaining([
      finding('page', 'ttl-too-long', 1, 1),
      finding('page', 'other-type', 1),
    ]),
  })
  expect(await ttl('cache:page:a')).toBeLessThanOrEqual(600_000)
  for (const name of ['stock:a', 'cron:x', 'stray', 'cache:page:b']) expect(await ttl(name)).toBe(-1)
})

test('deletes what is idle, of the entries that were chosen', async () => {
  const dump = (await redis.commandBuffer('DUMP', 'shop:session:3')) as Buffer
  for (const name of ['session:8', 'session:9', 'tags:a'])
    await redis.command('RESTORE', `shop:${name}`, 600_000, dump, 'IDLETIME', 5000)
  expect(await records('--entry session --idle 1h --dry-run')).toEqual({
    code: 0,
    records: expect.arrayContaining([finding('session', 'idle', 2)]),
  })
  const { err } = await run('--entry session --idle 1h', { answer: 'no' })
  expect(err).toContain('Delete 2 keys idle for 1 h?')
  expect(await records('--subject userId=8 --idle 1h --yes')).toMatchObject({ code: 0 })
  expect(await redis.command('EXISTS', 'shop:session:8')).toBe(0)
  expect(await redis.command('EXISTS', 'shop:session:9', 'shop:tags:a')).toBe(2)
})

test.each<[string, string, string]>([
  ['idle keys of anything', '--idle 30d --yes', 'say which, with --entry, --under or --subject'],
  ['a time that is none', '--idle soon --entry session --yes', '--idle takes a time such as 90m, 12h or 30d'],
  ['a time that no server can tell', '--idle 200d --entry session --yes', 'up to 194 d'],
  ['an entry that is not there', '--entry sesion --repair --yes', 'the schema has no entry "sesion"'],
])('%s is a misuse', async (_, words, said) => {
  const { code, err, out } = await run(words)
  expect(err).toContain(said)
  expect([code, out]).toEqual([2, ''])
})

test('under an LFU policy it says that nobody knows what is idle', async () => {
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lfu')
  const { code, err } = await run('--entry session --idle 1h --yes')
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  expect([code, err]).toEqual([2, expect.stringContaining('--idle cannot be told here')])
})
