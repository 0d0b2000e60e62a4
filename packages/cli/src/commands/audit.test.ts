import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyspec as run, type Ran } from '../../../../test-support/command-line.ts'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { auditJson } from './audit-json.ts'

let redis: TemporaryRedis
let folder: string

beforeAll(async () => {
  redis = await startRedis()
  folder = mkdtempSync(join(tmpdir(), 'keyspec-audit-'))
  await redis.command('SET', 'shop:session:1', '{"user":"ann","cart":[1]}')
  await redis.command('SET', 'shop:session:2', '{"user":"hunter2"}', 'EX', 60)
  await redis.command('SET', 'shop:sess:3', '{"user":"bob","cart":[]}', 'EX', 60)
  await redis.command('LPUSH', 'shop:stock:7', 'x')
  await redis.command('SET', 'shop:', 'x')
  await redis.command('SET', Buffer.from('shop:a\nb\u00ff:1', 'latin1'), 'x')
  await redis.command('SET', 'elsewhere', 'x')
})

afterAll(async () => {
  rmSync(folder, { recursive: true })
  await redis.stop()
})

const keyspec = (words: readonly string[]) =>
  run([...words, '--max-load', '1'], { env: { REDIS_URL: redis.url } })

test('shows what is wrong, worst first, and says so with its exit code', async () => {
  const { code, out, err } = await keyspec(['audit'])
  expect([code, err]).toEqual([1, ''])
  expect(out).toMatchInlineSnapshot(`
    "no-ttl  session  shop:session:<userId>  1 key
      never expires, declared is 1h
      keys: shop:session:1
      fix: keyspec cleanup --entry session --repair
    undecodable  session  shop:session:<userId>  1 key
      holds a value that its codec cannot read: it is no json
      keys: shop:session:2
      fix: keyspec explain shop:session:2
    wrong-type  stock  shop:stock:<sku>  1 key
      holds a list, declared is a string
      keys: shop:stock:7
      fix: keyspec explain shop:stock:7
    unknown-key  shop:  1 key
      no entry owns it
      keys: shop:
      fix: declare it in the schema: as external() if another program writes it
    unknown-key  shop:<bytes>:<n>  1 key
      no entry owns it
      keys: shop:a\\nb\\xff:1
      fix: declare it in the schema: as external() if another program writes it
    legacy-name  session  shop:sess:<userId>  1 key
      has its old name, and is to become session:<userId>
      keys: shop:sess:3
      fix: keyspec migrate run --entry session
    6 findings: 6 keys looked at, 3 decoded
    "
  `)
})

test('every line of JSON is as published', async () => {
  const validate = new Ajv2020().compile(auditJson)
  for (const words of [[], ['--each'], ['--sample', '2', '--no-values']]) {
    const { json, code } = await keyspec(['audit', '--json', ...words])
    const lines = json()
    for (const line of lines) expect(validate(line), JSON.stringify([line, validate.errors])).toBe(true)
    expect(lines.at(-1)).toMatchObject({ record: 'summary', sampled: words[0] === '--sample' })
    expect(code).toBe(lines.length > 1 ? 1 : 0)
  }
})

test('a line for each key, with --each', async () => {
  const { out } = await keyspec(['audit', '--each'])
  expect(out.trimEnd().split('\n').slice(0, -1).sort()).toEqual([
    'legacy-name  shop:sess:3  has its old name, and is to become session:<userId>',
    'no-ttl  shop:session:1  never expires, declared is 1h',
    'undecodable  shop:session:2  holds a value that its codec cannot read: it is no json',
    'unknown-key  shop:  no entry owns it',
    String.raw`unknown-key  shop:a\nb\xff:1  no entry owns it`,
    'wrong-type  shop:stock:7  holds a list, declared is a string',
  ])
})

test('says that a sample is one', async () => {
  expect((await keyspec(['audit', '--sample', '3'])).out).toContain('a sample of')
})

test('a baseline accepts what there is, and reports what is new or has grown', async () => {
  const file = join(folder, 'debt.json')
  const written = await keyspec(['audit', '--baseline', file, '--write-baseline'])
  expect([written.code, written.out]).toEqual([
    0,
    expect.stringContaining('6 findings written to the baseline'),
  ])
  expect(readFileSync(file, 'utf8')).not.toContain('shop:session:1')
  const same = await keyspec(['audit', '--baseline', file])
  expect([same.code, same.out]).toEqual([
    0,
    expect.stringMatching(/^nothing found: .*6 findings in the baseline\n$/),
  ])

  await redis.command('SET', 'shop:session:4', '{"user":"ann","cart":[1]}')
  await redis.command('SET', 'shop:profile:4', 'x', 'EX', 60)
  const later = await keyspec(['audit', '--baseline', file, '--json'])
  expect(later.code).toBe(1)
  expect(later.json()).toMatchObject([
    { code: 'no-ttl', count: 2, accepted: 1 },
    { code: 'wrong-type', entry: 'profile', count: 1 },
    { record: 'summary', accepted: 5 },
  ])
})

test('finds the same in a snapshot, in a file or from the server, and says which it was', async () => {
  await redis.command('CONFIG', 'SET', 'repl-diskless-sync-delay', '0')
  await redis.command('SAVE')
  const file = join(redis.directory, 'dump.rdb')
  const findings = (ran: Ran) =>
    ran
      .json()
      .slice(0, -1)
      .map((finding) => ({ ...finding, samples: [...finding.samples].sort() }))
  const live = await keyspec(['audit', '--json'])
  const read = await run(['audit', '--snapshot', file, '--json'])
  const received = await keyspec(['audit', '--snapshot', '--json'])
  expect(findings(read)).toEqual(findings(live))
  expect(findings(received)).toEqual(findings(live))
  expect([read.code, received.code, read.err, received.err]).toEqual([1, 1, '', ''])
  const validate = new Ajv2020().compile(auditJson)
  for (const { json } of [read, received]) {
    for (const line of json()) expect(validate(line), JSON.stringify(validate.errors)).toBe(true)
    expect(json().at(-1)).toMatchObject({
      keys: live.json().at(-1).keys,
      decoded: live.json().at(-1).decoded,
      snapshot: { server: expect.stringMatching(/^(Redis|Valkey) /), expired: 0, elsewhere: 0 },
    })
  }
  // What the server evicts is asked of it, and no file knows it.
  expect([received.json().at(-1).evictionPolicy, read.json().at(-1).evictionPolicy]).toEqual([
    'noeviction',
    undefined,
  ])
  const { out } = await run(['audit', '--snapshot', file, '--no-values'])
  expect(out).toMatch(
    /\d keys of a snapshot looked at \(taken \d{4}-.* UTC by \w+ .*\), 0 decoded, the snapshot does not say what/,
  )
})

test('a file that is no whole snapshot, and a user that may not replicate, are each said in one line', async () => {
  const cut = join(folder, 'cut.rdb')
  writeFileSync(cut, readFileSync(join(redis.directory, 'dump.rdb')).subarray(0, 100))
  const { code, err } = await run(['audit', '--snapshot', cut])
  expect([code, err]).toEqual([2, `keyspec: ${cut}: the snapshot ends before it is whole, after 100 bytes\n`])
  await redis.command(
    'ACL',
    'SETUSER',
    'reader',
    'on',
    '>secret',
    '~*',
    '+@read',
    '+ping',
    '+info',
    '+hello',
    '+client',
  )
  const url = redis.url.replace('unix://', 'unix://reader:secret@localhost')
  const refused = await run(['audit', '--snapshot', '--url', url])
  expect([refused.code, refused.err]).toEqual([
    3,
    expect.stringMatching(/^keyspec: the server sends no snapshot: NOPERM.*dump\.rdb.*\n$/),
  ])
})

test.each<[string, string[], string]>([
  ['a sample of a snapshot', ['--snapshot', '--sample', '5'], 'a snapshot is read whole'],
  ['a file without --snapshot', ['dump.rdb'], 'a file is read with --snapshot'],
  ['a file that is not there', ['--snapshot', 'no.rdb'], 'there is no no.rdb'],
  [
    'a baseline that is not there',
    ['--baseline', 'no.json'],
    'there is no no.json: --write-baseline makes one',
  ],
  ['a baseline that is none', ['--baseline', 'schema.ts'], 'schema.ts is no baseline'],
  ['nowhere to write', ['--write-baseline'], '--write-baseline needs --baseline FILE'],
  [
    'a baseline of a sample',
    ['--write-baseline', '--baseline', 'x', '--sample', '5'],
    'a sample does not know',
  ],
  ['a baseline of keys', ['--baseline', 'x', '--each'], 'leave out --each'],
  ['half a key', ['--sample', '0.5'], '--sample takes a number of keys, not 0.5'],
])('%s is a misuse', async (_, words, said) => {
  const { code, err } = await keyspec(['audit', ...words])
  expect([code, err]).toEqual([2, expect.stringContaining(said)])
})

test('what shows more of keys without an entry shows those keys, whatever their bytes', async () => {
  await using server = await startRedis()
  const env = { REDIS_URL: server.url }
  const names = ['evil:$(id)\n"\'`:1', 'a\\b:1', 'tab\t:x:1', '<b>:1', 'shop', "it's:1", ' :1', '-x:1']
  for (const name of names) await server.command('SET', `shop:${name}`, 'x')
  const { out } = await run(['audit', '--json', '--max-load', '1'], { env })
  const finds = out
    .trim()
    .split('\n')
    .map(
      (line) =>
        JSON.parse(line) as { code?: string; remedy?: { kind: string; under: string }; samples: string[] },
    )
    .filter(({ code }) => code === 'unknown-key')
  expect(finds).toHaveLength(names.length)
  for (const { remedy, samples } of finds) {
    const more = await run(
      ['stats', '--json', '--by', 'prefix', `--under=${remedy!.under}`, '--max-load', '1'],
      { env },
    )
    expect(more.code, samples[0]).toBe(0)
    expect(more.out, `${samples[0]} under ${remedy!.under}`).not.toContain('"looked":0')
  }
})
