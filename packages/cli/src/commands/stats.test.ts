import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyspec as run } from '../../../../test-support/command-line.ts'
import { embedsKeys } from '../../../../test-support/server-version.ts'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { statsJson } from './stats-json.ts'

let redis: TemporaryRedis

beforeAll(async () => {
  redis = await startRedis()
  const lines = [
    "for at = 1, 400 do redis.call('SET', 'shop:session:' .. at, string.rep('x', at), 'EX', 3000) end",
    "for at = 1, 100 do redis.call('RPUSH', 'shop:viewed:' .. at, at) redis.call('EXPIRE', 'shop:viewed:' .. at, 80000) end",
    "redis.call('SET', 'shop:big\\n', string.rep('x', 70000))",
    "redis.call('SET', 'elsewhere', 'x')",
  ]
  await redis.command('EVAL', lines.join('\n'), '0')
})

afterAll(() => redis.stop())

const keyspec = (words: readonly string[]) =>
  run(['stats', ...words, '--max-load', '1'], { env: { REDIS_URL: redis.url } })

test('shows keys and memory by entry, and what they are like', async () => {
  const { code, out, err } = await keyspec(['--top', '2'])
  expect([code, err]).toEqual([0, ''])
  // What a key takes is for each version of the server to say.
  for (const line of [
    /^501 keys, all looked at$/,
    /^ENTRY +KEYS +MEMORY +SHARE +NO TTL +TYPE +ENCODING$/,
    embedsKeys
      ? /^session +400 +[\d.]+ KB +\d+% +0% +string +raw [\d.]+%, embstr [\d.]+%$/
      : /^session +400 +[\d.]+ KB +\d+% +0% +string +raw 89%, embstr 11%$/,
    /^viewed +100 +[\d.]+ KB +[\d.]+% +0% +list +(quicklist|listpack)$/,
    /^\(no entry\) +1 +[\d.]+ KB +\d+% +100% +string +raw$/,
    /^all +501 +\d+ KB +100% +0.2% +string 80%, list 20%$/,
    /^TIME TO LIVE +<1 h +<1 d$/,
    /^all +80% +20%$/,
    /^IDLE +<1 min$/,
    /^BIGGEST +TYPE +ENTRY +KEY$/,
    /^ +[\d.]+ KB +string +\(no entry\) +shop:big\\n$/,
  ])
    expect(out.split('\n')).toContainEqual(expect.stringMatching(line))
  expect(out.trimEnd().split('\n').at(-1)).toMatch(/session/)
})

test('leaves out what it is not to ask for', async () => {
  const { code, out } = await keyspec(['--brief', '--exact'])
  expect(code).toBe(0)
  expect(out).toMatch(/^ENTRY +KEYS +MEMORY +SHARE +NO TTL +TYPE\n/m)
  expect(out).toMatch(/^session +400 +[\d.]+ KB +\d+% +0% +string\n/m)
  expect(out).not.toMatch(/IDLE|ENCODING/)
})

test('says of a sample what it is, and gives each estimate its interval', async () => {
  const { out } = await keyspec(['--sample', '100', '--histograms', '--entry', 'session'])
  expect(out).toMatch(
    /^1\d\d keys of 502 looked at: each number is an estimate, with its 95 % interval behind it\n/,
  )
  expect(out).toMatch(/session +\d+ \(\d+–\d+\) +[\d.]+ KB \([\d.]+ KB–[\d.]+ KB\)/)
  expect(out).toContain('BIGGEST SEEN')
})

test.each([
  [[]],
  [['--by', 'prefix', '--depth', '2']],
  [['--sample', '50']],
  [['--brief']],
  [['--under', 'nothing']],
])('with %j its JSON is as published', async (words) => {
  const { json, code } = await keyspec([...words, '--json'])
  const validate = new Ajv2020().compile(statsJson)
  expect(validate(json()[0]), JSON.stringify(validate.errors)).toBe(true)
  expect(code).toBe(0)
})

test('groups by prefix, escaped', async () => {
  const [{ groups, biggest }] = (await keyspec(['--by', 'prefix', '--json'])).json()
  expect(
    groups.map(({ name, keys }: { name: string; keys: { value: number } }) => [name, keys.value]),
  ).toEqual([
    ['shop:session:', 400],
    [String.raw`shop:big\n`, 1],
    ['shop:viewed:', 100],
  ])
  expect(biggest[0]).toMatchObject({ key: String.raw`shop:big\n`, type: 'string' })
})

test('counts a snapshot by what its keys take there, and says so', async () => {
  await redis.command('SAVE')
  const file = join(redis.directory, 'dump.rdb')
  const { out, code } = await run(['stats', '--snapshot', file, '--top', '1'])
  expect(code).toBe(0)
  for (const line of [
    /^501 keys of a snapshot \(taken .* by \w+ .*\): sizes are serialized sizes, not memory$/,
    /^ENTRY +KEYS +SERIALIZED +SHARE +NO TTL +TYPE +ENCODING$/,
    embedsKeys ? /^session +400 .* string +unknown$/ : /^session +400 .* string +raw 89%, embstr 11%$/,
    /^SERIALIZED SIZE /,
    /^all +-$/,
  ])
    expect(out.split('\n')).toContainEqual(expect.stringMatching(line))
  const { json } = await run(['stats', '--snapshot', file, '--entry', 'session', '--json'])
  const validate = new Ajv2020().compile(statsJson)
  expect(validate(json()[0]), JSON.stringify(validate.errors)).toBe(true)
  expect(json()[0]).toMatchObject({ sizes: 'serialized', exact: true, all: { keys: { value: 400 } } })
})

test.each<[string, string[], string]>([
  ['a sample of a snapshot', ['--snapshot', '--sample', '5'], 'a snapshot is read whole'],
  ['a grouping that is none', ['--by', 'name'], '--by takes entry or prefix, not "name"'],
  ['a depth of entries', ['--depth', '2'], '--depth needs --by prefix'],
  ['less of a snapshot', ['--snapshot', '--brief'], 'leave out --brief'],
  ['a sample of all', ['--sample', '2', '--exact'], '--sample or --exact, not both'],
  ['no keys at all', ['--sample', '0'], '--sample takes a whole number, not 0'],
  ['too many keys', ['--top', '100000'], '--top names at most 1000 keys'],
  ['an entry that is not there', ['--entry', 'sesion'], 'the schema has no entry "sesion"'],
])('%s is a misuse', async (_, words, said) => {
  const { code, err } = await keyspec(words)
  expect([code, err]).toEqual([2, expect.stringContaining(said)])
})
