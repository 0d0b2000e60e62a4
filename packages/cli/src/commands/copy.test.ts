import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { keyspec, type RunOptions } from '../../../../test-support/command-line.ts'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { copy } from './copy.ts'
import { expiresAt } from '../../../../test-support/expires-at.ts'

let here: TemporaryRedis
let there: TemporaryRedis
const isLine = new Ajv2020({ allowUnionTypes: true }).compile(copy.json.schema)

beforeAll(async () => {
  ;[here, there] = await Promise.all([startRedis(), startRedis({ port: 'any' })])
})
afterAll(() => Promise.all([here.stop(), there.stop()]))

beforeEach(async () => {
  await Promise.all([here.command('FLUSHALL'), there.command('FLUSHALL')])
  await here.command('SET', 'shop:session:1', 'secret', 'PX', '3600000')
  await here.command('SET', 'shop:session:2', 'secret')
  await here.command('SADD', 'shop:tags:a', 'red')
  await here.command('SET', 'shop:stray\n', 'secret')
  await here.command('SET', 'session:1', 'another keyspace')
})

const run = (words: string[], options: RunOptions = {}) =>
  keyspec(['copy', '--to', there.url, '--max-load', '1', ...words], {
    ...options,
    env: { REDIS_URL: here.url },
  })
const size = () => there.command('DBSIZE')

test('the keys of the keyspace arrive with their expiry, and what it prints is what its schema says', async () => {
  const ran = await run(['--yes', '--json'])
  expect(ran.code, ran.err).toBe(0)
  for (const line of ran.json()) expect(isLine(line), JSON.stringify(isLine.errors)).toBe(true)
  expect(ran.json()).toMatchObject([
    { record: 'preview', title: 'all keys under "shop:"', keys: 4, fresh: 4, existing: 0 },
    { record: 'copied', keys: 4, copied: 4, kept: 0, expired: 0, gone: 0 },
  ])
  expect(ran.err).not.toContain('secret')
  expect(await expiresAt(there, 'shop:session:1')).toBe(await expiresAt(here, 'shop:session:1'))
  expect(await there.command('GET', 'shop:stray\n')).toBe('secret')
  expect(await there.command('SMEMBERS', 'shop:tags:a')).toEqual(['red'])
  expect(await size()).toBe(4)
  expect(await here.command('DBSIZE')).toBe(5)
})

test('keys in the way stop it, are left, or are replaced, as one says', async () => {
  await there.command('SET', 'shop:session:2', 'newer')
  const stopped = await run(['--yes'])
  expect(stopped.code).toBe(1)
  expect(stopped.err).toContain('1 key there already, which are in the way, such as shop:session:2')
  expect(stopped.err).toContain('nothing was copied')
  expect(await size()).toBe(1)

  const skipped = await run(['--yes', '--on-conflict', 'skip'])
  expect([skipped.code, skipped.out]).toEqual([
    0,
    expect.stringMatching(/^3 keys copied, .+; 1 left as they were\n$/),
  ])
  expect(await there.command('GET', 'shop:session:2')).toBe('newer')

  const replaced = await run(['--yes', '--on-conflict', 'replace'])
  expect([replaced.code, replaced.out]).toEqual([0, expect.stringMatching(/^4 keys copied/)])
  expect(await there.command('GET', 'shop:session:2')).toBe('secret')
})

test('it asks before it writes', async () => {
  expect(await run([])).toMatchObject({ code: 2, err: expect.stringContaining('--yes') })
  expect(await run([], { answer: 'no' })).toMatchObject({ code: 1 })
  expect(await run(['--dry-run'])).toMatchObject({ code: 0 })
  expect(await size()).toBe(0)
  expect(await run(['--entry', 'session'], { answer: 'copy' })).toMatchObject({ code: 0 })
  expect(await size()).toBe(2)
})

test('a copy that is stopped in the middle says how to go on, and that does', async () => {
  const names = Array.from({ length: 300 }, (_, index) => `shop:session:${index}`)
  await Promise.all(names.map((name) => here.command('SET', name, 'x')))
  const stop = new AbortController()
  let over = false
  const watching = (async () => {
    while (!over && (await size()) === 0) await there.command('PING')
    stop.abort()
  })()
  const { code, err } = await run(['--entry', 'session', '--yes', '--max-load', '0.05'], {
    signal: stop.signal,
  })
  over = true
  await watching
  expect(code).toBe(130)
  expect(err).toMatch(/stopped after [\d,]+ keys; to go on: keyspec copy --to .*--on-conflict skip\n$/)
  expect(Number(await size())).toBeLessThan(300)
  expect((await run(['--entry', 'session', '--yes', '--on-conflict', 'skip'])).code).toBe(0)
  expect(await size()).toBe(300)
})

test('the password of the other server is not shown', async () => {
  const url = there.url.replace('://', '://default:hunter2@')
  const { err } = await keyspec(['copy', '--to', url, '--max-load', '1'], {
    env: { REDIS_URL: here.url },
    answer: 'no',
  })
  expect(err).toContain('redis://default:***@')
  expect(err).not.toContain('hunter2')
})

test.each<[string, string[], string]>([
  ['a copy to nowhere', ['copy'], 'keyspec copy takes --to URL'],
  [
    'a policy that is none',
    ['copy', '--to', 'redis://x', '--on-conflict', 'merge'],
    '--on-conflict is fail, skip',
  ],
])('%s is a misuse', async (_, words, said) => {
  const { code, err } = await keyspec(words, { env: { REDIS_URL: here.url } })
  expect([code, err]).toEqual([2, expect.stringContaining(said)])
})
