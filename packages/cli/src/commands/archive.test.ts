import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { keyspec, type RunOptions } from '../../../../test-support/command-line.ts'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'
import { expiresAt } from '../../../../test-support/expires-at.ts'

let redis: TemporaryRedis
let folder: string
let file: string
const ajv = new Ajv2020({ allowUnionTypes: true })
const isSummary = ajv.compile(exportCommand.json.schema)
const isLine = ajv.compile(importCommand.json.schema)

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

beforeEach(async () => {
  if (folder !== undefined) rmSync(folder, { recursive: true })
  folder = mkdtempSync(join(tmpdir(), 'keyspec-archive-'))
  file = join(folder, 'shop.keyspec')
  await redis.command('FLUSHALL')
  await redis.command('SET', 'shop:session:1', 'secret', 'PX', '3600000')
  await redis.command('SET', 'shop:session:2', 'secret')
  await redis.command('SADD', 'shop:tags:a', 'red')
  await redis.command('SET', 'shop:stray\n', 'secret')
  await redis.command('SET', 'session:1', 'another keyspace')
})
afterAll(() => rmSync(folder, { recursive: true }))

const run = (words: string[], options: RunOptions = {}) =>
  keyspec(words, { ...options, env: { REDIS_URL: redis.url } })
const exported = (...words: string[]) => run(['export', '--out', file, '--max-load', '1', ...words])
const imported = (words: string[], options: RunOptions = {}) =>
  run(['import', file, '--max-load', '1', ...words], options)
const size = () => redis.command('DBSIZE')

test('an export is a whole file, readable by its owner, and says what is in it', async () => {
  const { code, out, err } = await exported()
  expect([code, out]).toEqual([0, ''])
  expect(err).toContain('4 keys exported (all keys under "shop:")')
  expect(err).toMatch(/^session +2 /m)
  expect(err).not.toContain('secret')
  expect(readdirSync(folder)).toEqual(['shop.keyspec'])
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('what is no file is not replaced, by force neither', async () => {
  // Never a device of this machine: where this fails, it would be gone.
  const place = join(folder, 'folder')
  mkdirSync(place)
  const { code, err } = await keyspec(['export', '--out', place, '--force'], {
    env: { REDIS_URL: redis.url },
  })
  expect([code, err]).toEqual([2, expect.stringContaining('is no file: give another')])
  expect(statSync(place).isDirectory()).toBe(true)
  expect(existsSync(`${place}.part`)).toBe(false)
  rmSync(place, { recursive: true })
})

test('an export in JSON is what its schema says', async () => {
  const { out } = await exported('--entry', 'session', '--json')
  const summary: unknown = JSON.parse(out)
  expect(isSummary(summary), JSON.stringify(isSummary.errors)).toBe(true)
  expect(summary).toMatchObject({ keys: 2, gone: 0, entries: [{ entry: 'session', keys: 2 }] })
})

test('a file that is there is replaced only when that is asked for', async () => {
  writeFileSync(file, 'precious')
  const { code, err } = await exported()
  expect([code, err]).toEqual([2, expect.stringContaining('is there already; --force replaces it')])
  expect(readFileSync(file, 'utf8')).toBe('precious')
  expect((await exported('--force')).code).toBe(0)
  expect(readFileSync(file).subarray(0, 7).toString()).toBe('KEYSPEC')
})

test('an export that is stopped leaves no file, and says how to begin again', async () => {
  const { code, err } = await run(['export', '--out', file], { signal: AbortSignal.abort() })
  expect(code).toBe(130)
  expect(err).toContain('there is no export; to begin again: keyspec export --out')
  expect(readdirSync(folder)).toEqual([])
})

test('standard output takes the same bytes', async () => {
  const { code, bytes, err } = await run(['export', '--out', '-', '--under', 'session:'])
  expect([code, err]).toEqual([0, expect.stringContaining('2 keys exported')])
  writeFileSync(file, bytes)
  expect((await imported(['--inspect'])).out).toContain('whole: 2 keys')
})

test('a file is shown without a server or a configuration', async () => {
  await exported()
  const { code, out } = await keyspec(['import', file, '--inspect'], { cwd: '/' })
  expect(code).toBe(0)
  expect(out).toContain('whole: 4 keys')
  expect(out).toContain('chosen: all keys under "shop:"')
  expect(out).toMatch(/^session +2 /m)
  expect(out).toMatch(/^\(no entry\) +1 /m)
  expect(out).toMatch(/^set +1 /m)
  const [line] = (await keyspec(['import', file, '--inspect', '--json'], { cwd: '/' })).json()
  expect(isLine(line), JSON.stringify(isLine.errors)).toBe(true)
  expect(line).toMatchObject({ record: 'contents', keys: 4, forever: 3, prefix: 'shop:' })
})

test('an import brings the keys back, with their expiry', async () => {
  const expiry = await expiresAt(redis, 'shop:session:1')
  await exported()
  await redis.command('FLUSHALL')
  const ran = await imported(['--yes', '--json'])
  expect(ran.code).toBe(0)
  for (const line of ran.json()) expect(isLine(line), JSON.stringify(isLine.errors)).toBe(true)
  expect(ran.json()).toMatchObject([
    { record: 'preview', keys: 4, fresh: 4, existing: 0 },
    { record: 'imported', keys: 4, restored: 4, kept: 0 },
  ])
  expect(await expiresAt(redis, 'shop:session:1')).toBe(expiry)
  expect(await redis.command('GET', 'shop:stray\n')).toBe('secret')
  expect(await redis.command('EXISTS', 'session:1')).toBe(0)
})

test('keys in the way stop it, are left, or are replaced, as one says', async () => {
  await exported()
  await redis.command('UNLINK', 'shop:session:1')
  await redis.command('SET', 'shop:session:2', 'newer')

  const stopped = await imported(['--yes'])
  expect(stopped.code).toBe(1)
  expect(stopped.err).toContain('3 keys there already, which are in the way, such as ')
  expect(stopped.err).toContain('nothing was written')
  expect(await redis.command('EXISTS', 'shop:session:1')).toBe(0)

  const skipped = await imported(['--yes', '--on-conflict', 'skip'])
  expect([skipped.code, skipped.out]).toEqual([0, '1 key written, 3 left as they were\n'])
  expect(await redis.command('GET', 'shop:session:2')).toBe('newer')
  expect((await imported(['--on-conflict', 'skip'])).out).toBe('0 keys written, 4 left as they were\n')

  const replaced = await imported(['--yes', '--on-conflict', 'replace'])
  expect([replaced.code, replaced.out]).toEqual([0, '4 keys written\n'])
  expect(await redis.command('GET', 'shop:session:2')).toBe('secret')
})

test('it asks before it writes', async () => {
  await exported()
  await redis.command('FLUSHALL')
  expect(await imported([])).toMatchObject({ code: 2, err: expect.stringContaining('--yes') })
  expect(await imported([], { answer: 'no' })).toMatchObject({ code: 1 })
  expect(await imported(['--dry-run'])).toMatchObject({ code: 0 })
  expect(await size()).toBe(0)
  expect(await imported([], { answer: 'import' })).toMatchObject({ code: 0 })
  expect(await size()).toBe(4)
})

test('keys get other names where that is asked for', async () => {
  await exported('--entry', 'session')
  const { code } = await imported(['--strip', 'shop:session:', '--add', 'shop:copy:', '--yes'])
  expect(code).toBe(0)
  expect(await redis.command('GET', 'shop:copy:2')).toBe('secret')
  expect(await size()).toBe(7)
})

test.each<[string, (bytes: Buffer) => Buffer, string]>([
  ['was cut off', (bytes) => bytes.subarray(0, -20), 'the file was cut off'],
  [
    'was damaged',
    (bytes) => Buffer.from(bytes.map((byte, at) => (at === 300 ? byte ^ 4 : byte))),
    'is damaged at byte',
  ],
  ['is something else', () => Buffer.from('{"some":"json"}'), 'is no export of Keyspec'],
  ['is empty', () => Buffer.alloc(0), 'the file is empty'],
])('a file that %s is refused before anything is written', async (_, change, said) => {
  await exported()
  await redis.command('FLUSHALL')
  writeFileSync(file, change(readFileSync(file)))
  for (const words of [['--yes'], ['--inspect']]) {
    const { code, err } = await imported(words)
    expect([code, err]).toEqual([1, expect.stringContaining(said)])
    expect(err).toContain(file)
  }
  expect(await size()).toBe(0)
})

test('an import that is stopped in the middle says how to go on, and that does', async () => {
  const names = Array.from({ length: 600 }, (_, index) => `shop:session:${index}`)
  await Promise.all(names.map((name) => redis.command('SET', name, 'x')))
  await exported('--entry', 'session')
  await redis.command('FLUSHALL')
  const stop = new AbortController()
  let over = false
  const watching = (async () => {
    while (!over && (await size()) === 0) await redis.command('PING')
    stop.abort()
  })()
  const { code, err } = await imported(['--yes', '--max-load', '0.02'], { signal: stop.signal })
  over = true
  await watching
  expect(code).toBe(130)
  expect(err).toMatch(/stopped after [\d,]+ keys; to go on: keyspec import \S+ .*--yes --on-conflict skip\n$/)
  expect(Number(await size())).toBeLessThan(600)
  expect((await imported(['--yes', '--on-conflict', 'skip'])).code).toBe(0)
  expect(await size()).toBe(600)
})

test.each<[string, string[], string]>([
  ['an export to nowhere', ['export'], 'keyspec export takes --out FILE'],
  ['an export and its summary in one', ['export', '--out', '-', '--json'], 'leave --json out'],
  ['an import of nothing', ['import'], 'keyspec import takes a file'],
  ['a file that is not there', ['import', 'no.keyspec'], 'there is no no.keyspec'],
  [
    'a policy that is none',
    ['import', 'x', '--on-conflict', 'merge'],
    '--on-conflict is fail, skip, replace',
  ],
])('%s is a misuse', async (_, words, said) => {
  const { code, err } = await run(words)
  expect([code, err]).toEqual([2, expect.stringContaining(said)])
})
