import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { keyspec, type RunOptions } from '../../../../test-support/command-line.ts'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { migrate } from './migrate.ts'

let redis: TemporaryRedis
const isRecord = new Ajv2020({ allowUnionTypes: true, strictRequired: false }).compile(migrate.json.schema)

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(async () => {
  await redis.command('FLUSHALL')
  for (const id of [1, 2, 3])
    await redis.command('SET', `shop:sess:${id}`, `{"user":"secret ${id}","cart":[]}`, 'EX', 600)
})

const run = (words: string, options: RunOptions = {}) =>
  keyspec(['migrate', ...words.split(' '), '--max-load', '1'], { ...options, env: { REDIS_URL: redis.url } })

/** Runs with `--json`, and checks every line against the published schema. */
async function records(words: string) {
  const { code, out, err, json } = await run(`${words} --json`)
  for (const record of json()) expect(isRecord(record), JSON.stringify(isRecord.errors)).toBe(true)
  expect(out + err).not.toContain('secret')
  return { code, rules: json().slice(0, -1), total: json().at(-1) }
}

test('plan, run, verify and back, each with its exit code', async () => {
  await redis.command('SET', 'shop:sess:a:b', 'x')
  expect(await records('plan')).toMatchObject({
    code: 1,
    rules: [
      {
        entry: 'session',
        program: null,
        from: 'shop:sess:<userId>',
        to: 'shop:session:<userId>',
        counts: { waiting: 3, unknown: 1 },
        samples: { unknown: ['shop:sess:a:b'] },
      },
    ],
    total: { counts: { waiting: 3, unknown: 1 }, findings: true },
  })
  expect((await run('verify')).code).toBe(1)
  const ran = await run('run', { answer: 'migrate' })
  expect([ran.code, ran.err]).toEqual([0, expect.stringContaining('waiting')])
  expect(ran.out).toMatch(/^shop:sess:<userId> +shop:session:<userId> +1 +3$/m)
  expect(ran.out).toContain(
    'unknown: begin like an old name and are of no entry: left, such as shop:sess:a:b',
  )
  expect(await redis.command('EXISTS', 'shop:session:1', 'shop:session:2', 'shop:sess:a:b')).toBe(3)

  expect(await records('run --yes')).toMatchObject({
    code: 0,
    total: { counts: { unknown: 1 }, complete: true },
  })
  expect((await run('plan')).code).toBe(0)
  expect(await records('verify --expect 3')).toMatchObject({
    code: 0,
    rules: [{ counts: { migrated: 3, decoded: 3, unknown: 1 } }],
  })
  const fewer = await run('verify --expect 4')
  expect([fewer.code, fewer.err]).toEqual([1, expect.stringContaining('1 key fewer than expected')])

  expect((await run('rollback')).code).toBe(2)
  expect((await run('rollback', { answer: 'no' })).code).toBe(1)
  expect(await redis.command('EXISTS', 'shop:session:1')).toBe(1)
  expect(await records('rollback --yes')).toMatchObject({ code: 0, total: { counts: { moved: 3 } } })
  expect(await redis.command('EXISTS', 'shop:sess:1', 'shop:sess:2', 'shop:sess:3')).toBe(3)
})

test('a key at both names is a finding, until the newer is to be kept', async () => {
  await redis.command('SET', 'shop:session:1', '{"user":"newer","cart":[]}', 'EX', 60)
  expect(await records('run --yes')).toMatchObject({
    code: 1,
    rules: [{ counts: { moved: 2, conflict: 1 }, samples: { conflict: ['shop:sess:1'] } }],
  })
  expect(await records('run --dry-run')).toMatchObject({ code: 0, total: { action: 'plan' } })
  expect(await records('run --keep new --yes')).toMatchObject({
    code: 0,
    rules: [{ counts: { dropped: 1 } }],
  })
  expect(await redis.command('GET', 'shop:session:1')).toContain('newer')
  expect(await redis.command('EXISTS', 'shop:sess:1')).toBe(0)
})

test.each<[string, string, string]>([
  ['nothing to do', '', 'takes one of plan, run, verify, rollback'],
  ['something else to do', 'undo', 'takes one of plan, run, verify, rollback'],
  ['the older value', 'run --keep old --yes', 'whoever reads both names writes to the new one'],
  ['what belongs to another', 'plan --keep new', '--keep is for migrate run'],
  ['an entry that is not there', 'run --entry sess --yes', 'the schema has no entry "sess"'],
  ['an old name that is not there', 'rollback --renamed-from x:<id> --yes', 'there are sess:<userId>'],
  ['nobody to ask', 'run', '--yes does it without asking'],
])('%s moves nothing', async (_, words, said) => {
  const { code, err, out } = await run(words)
  expect(err).toContain(said)
  expect([code, out]).toEqual([2, ''])
  expect(await redis.command('EXISTS', 'shop:sess:1', 'shop:sess:2', 'shop:sess:3')).toBe(3)
})

test('stopped in the middle, it says how to go on', async () => {
  const stop = new AbortController()
  stop.abort()
  expect((await run('run --yes', { signal: stop.signal })).code).toBe(130)
  expect(await redis.command('EXISTS', 'shop:sess:1')).toBe(1)
})
