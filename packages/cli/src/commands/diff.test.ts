import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { keyspec } from '../../../../test-support/command-line.ts'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { diff } from './diff.ts'

let redis: TemporaryRedis
let other: string
const folder = mkdtempSync(join(tmpdir(), 'keyspec-diff-'))
const file = join(folder, 'shop.keyspec')
const isLine = new Ajv2020({ allowUnionTypes: true }).compile(diff.json.schema as object)
const run = (...words: string[]) => keyspec(words, { env: { REDIS_URL: redis.url } })
const compare = (...words: string[]) => run('diff', ...words, '--max-load', '1')

beforeAll(async () => {
  redis = await startRedis()
  other = `${redis.url}?db=1`
})
afterAll(async () => {
  await redis.stop()
  rmSync(folder, { recursive: true })
})

beforeEach(async () => {
  await redis.command('FLUSHALL')
  for (const name of ['session:1', 'session:2', 'stock:a'])
    await redis.command('SET', `shop:${name}`, 'secret')
  await redis.command('SET', 'outside', 'x')
  for (const name of ['session:1', 'session:2', 'stock:a'])
    await redis.command('COPY', `shop:${name}`, `shop:${name}`, 'DB', '1')
})

async function parted(): Promise<void> {
  await redis.command('SET', 'shop:session:1', 'other secret', 'PX', '2635200000')
  await redis.command('UNLINK', 'shop:session:2')
  await redis.command('SET', 'shop:new\n', 'x')
}

const said = [
  String.raw`only here   shop:new\n`,
  'different   shop:session:1: another value; expires in 30 d here, never expires there',
  'only there  shop:session:2',
]

test('two servers that have the same are alike', async () => {
  expect(await compare(other)).toMatchObject({ code: 0, out: '3 keys compared, all alike\n' })
})

test('says what two servers do not have alike, and no value', async () => {
  await parted()
  const { code, out } = await compare(other)
  expect(code).toBe(1)
  const lines = out.trimEnd().split('\n')
  expect(lines.slice(0, -1).sort()).toEqual(said.toSorted())
  expect(lines.at(-1)).toBe('4 keys compared: 1 only here, 1 only there, 1 different')
  expect(out).not.toContain('secret')

  const narrowed = await compare(other, '--entry', 'stock')
  expect(narrowed).toMatchObject({ code: 0, out: '1 key compared, all alike\n' })
})

test('says the same of an export, and refuses one that is damaged', async () => {
  await run('export', '--out', file, '--force')
  expect(await compare(file)).toMatchObject({ code: 0, out: '3 keys compared, all alike\n' })
  await parted()
  const { code, out } = await compare(file)
  expect(code).toBe(1)
  expect(out.trimEnd().split('\n').slice(0, -1).sort()).toEqual(said.toSorted())

  writeFileSync(file, 'something else')
  expect(await compare(file)).toMatchObject({ code: 1, err: expect.stringContaining('is no export') })
})

test('its JSON is what its schema says', async () => {
  await parted()
  const lines = (await compare(other, '--json')).json()
  for (const line of lines) expect(isLine(line), JSON.stringify(isLine.errors)).toBe(true)
  expect(lines).toContainEqual({
    record: 'difference',
    key: 'shop:session:1',
    entry: 'session',
    kind: 'different',
    what: ['value', 'ttl'],
    here: { type: 'string', ttlMs: expect.any(Number) },
    there: { type: 'string', ttlMs: 'forever' },
  })
  expect(lines.at(-1)).toEqual({ record: 'summary', compared: 4, onlyHere: 1, onlyThere: 1, different: 1 })
})

test.each<[string, string[], string]>([
  ['nothing to compare with', [], 'keyspec diff takes another server’s URL, or an export'],
  ['a file that is not there', ['no.keyspec'], 'there is no no.keyspec'],
  ['a tolerance that is no time', ['OTHER', '--ttl-tolerance', 'much'], '"much" is not a duration'],
])('%s is a misuse', async (_, words, message) => {
  const { code, err } = await compare(...words.map((word) => word.replace('OTHER', other)))
  expect([code, err]).toEqual([2, expect.stringContaining(message)])
})
