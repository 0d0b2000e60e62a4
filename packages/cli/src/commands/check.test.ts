import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fixture, keyspec } from '../../../../test-support/command-line.ts'
import { startRedis } from 'keyspec/testing'
import { check } from './check.ts'

// Inside the repository, so that it finds `keyspec` as a program of ours would.
const root = join(import.meta.dirname, '../../../../node_modules')
const isLine = new Ajv2020().compile(check.json.schema)
let cwd: string

beforeAll(async () => {
  cwd = await mkdtemp(join(root, '.check-'))
})

afterAll(() => rm(cwd, { recursive: true }))

/** Runs the command over a schema that is given as text. */
async function checked(schema: string, words: string[] = []) {
  const file = join(cwd, `schema-${Math.random().toString(36).slice(2)}.mjs`)
  await writeFile(
    file,
    `import { string, text, hash, integer } from 'keyspec'\nimport { workQueue } from 'keyspec/recipes'\nexport const schema = ${schema}\n`,
  )
  return keyspec(['check', '--schema', file, ...words], { cwd })
}

const about = `about: 'A'`

test('says nothing of a schema that is in order', async () => {
  const { code, out, err } = await keyspec(['check'])
  expect([code, out]).toEqual([0, ''])
  expect(err).toMatch(/^\d+ key patterns: 0 errors, 0 warnings\n$/)
})

test('names both entries and a key where two could own it', async () => {
  const schema = `{ a: string('x:<id>', text, { ttl: '1h', ${about} }), b: string('x:y', text, { ttl: '1h', ${about} }) }`
  const { code, out, json } = await checked(schema, ['--json'])
  expect(code).toBe(1)
  expect(json()).toMatchObject([{ kind: 'issue', code: 'overlap', severity: 'error', example: 'x:y' }])
  expect(isLine(JSON.parse(out)), JSON.stringify(isLine.errors)).toBe(true)
})

test.each([
  ['no lifetime', `{ a: string('s:<id>', text, {}) }`, 'declares no ttl'],
  ['no way back', `{ a: string('s:<a><b>', text, { ttl: '1h' }) }`, 'would not parse back'],
  [
    'a subject that is no placeholder',
    `{ a: string('s', text, { ttl: '1h', subject: 'x' }) }`,
    'no placeholder <x>',
  ],
])(
  'a declaration with %s is a finding, with its place, and not an end in one line',
  async (_name, schema, said) => {
    const { code, out, json } = await checked(schema, ['--json'])
    expect(code).toBe(1)
    const [line] = json()
    expect(line).toMatchObject({ kind: 'issue', code: 'declaration', severity: 'error' })
    expect(line.message).toContain(said)
    expect(line.pattern).toMatch(/^s/)
    expect(line.place).toMatch(/^schema-\w+\.mjs:3$/)
    expect(isLine(JSON.parse(out)), JSON.stringify(isLine.errors)).toBe(true)
  },
)

test('warnings end with 1 only when asked', async () => {
  const schema = `{ a: string('session:<id>', text, { ttl: '1h' }), b: string('sessions', text, { ttl: '1h', ${about} }) }`
  const plain = await checked(schema)
  expect(plain.code).toBe(0)
  expect(plain.out).toContain('warning look-alike: ')
  expect(plain.out).toContain('warning no-about: a ("session:<id>")')
  expect((await checked(schema, ['--strict'])).code).toBe(1)
})

test('keys of one step that share no slot are an error where there is a cluster', async () => {
  const schema = `{ mail: workQueue('mail', text, { lease: '1s', ${about} }) }`
  expect((await checked(schema)).code).toBe(0)
  expect(await checked(schema, ['--cluster'])).toMatchObject({
    code: 1,
    out: expect.stringContaining('slots'),
  })
})

test('against a manifest it says what each change means, and fails while one is not safe', async () => {
  const made = (await keyspec(['manifest'])).out
  const manifest = join(cwd, 'manifest.json')
  await writeFile(manifest, made)
  const same = await keyspec(['check', '--against', manifest])
  expect([same.code, same.out]).toEqual([0, ''])

  const before = JSON.parse(made)
  const session = before.entries.find(({ entry }: { entry: string }) => entry === 'session').keys[0]
  session.value.jsonSchema.properties.cart.items.type = 'string'
  session.lifetime.ttlMs = 7_200_000
  before.entries.find(({ entry }: { entry: string }) => entry === 'stock').keys[0].pattern = 'stocks:<sku>'
  await writeFile(manifest, JSON.stringify(before))
  const { code, out, err } = await keyspec(['check', '--against', manifest])
  expect(code).toBe(1)
  expect(out).toContain(
    'breaks readers value-changed: session ("session:<userId>"): cart[]: was string, is number',
  )
  expect(out).toContain('keys of before are gone 2 h after')
  expect(out).toContain('needs a migration renamed: stock ("stock:<sku>"): was stocks:<sku>')
  expect(out).toContain('keys of before never go by themselves')
  expect(out).toContain('safe lifetime-changed: session')
  expect(err).toContain('2 errors, 0 warnings, 1 safe change')
  const lines = (await keyspec(['check', '--against', manifest, '--json'])).json()
  for (const line of lines) expect(isLine(line), JSON.stringify(isLine.errors)).toBe(true)
  expect(lines).toHaveLength(3)
})

test('the next phase of a rename is safe only with the evidence of the server', async () => {
  await using redis = await startRedis()
  const env = { REDIS_URL: redis.url }
  // A module is loaded once, so each phase is a file of its own.
  const fileOf = (phase: number) => join(cwd, `rename-${phase}.mjs`)
  const declare = (phase: number) =>
    writeFile(
      fileOf(phase),
      "import { string, text } from 'keyspec'\n" +
        "export const schema = { a: string('new:<id>', text, { ttl: '1h', about: 'A', " +
        `renamedFrom: { pattern: 'old:<id>', phase: ${phase} } }) }\n`,
    )
  const manifest = join(cwd, 'rename.json')
  await declare(2)
  await writeFile(manifest, (await keyspec(['manifest', '--schema', fileOf(2)], { cwd, env })).out)
  await declare(3)
  const file = fileOf(3)
  const words = ['--schema', file, '--against', manifest]
  const blind = await keyspec(['check', ...words], { cwd, env })
  expect([blind.code, blind.out]).toEqual([1, expect.stringContaining('needs a migration phase-changed')])
  // The line that is printed can be run as it stands.
  const line = `check --schema ${file} --against ${manifest} --server`
  expect(blind.out).toContain(`look for the evidence on the server\n  keyspec ${line}\n`)
  expect((await keyspec(line.split(' '), { cwd, env })).err).not.toContain('usage')
  expect(blind.err).not.toContain('--server is for')

  await redis.command('SET', 'old:1', 'x')
  const held = await keyspec(['check', ...words, '--server', '--max-load', '1'], { cwd, env })
  expect([held.code, held.out]).toEqual([
    1,
    expect.stringContaining(`\n  keyspec migrate run --schema ${file} --entry a\n`),
  ])
  const moved = await keyspec(['migrate', 'run', '--schema', file, '--yes', '--max-load', '1'], { cwd, env })
  expect(moved.code).toBe(0)
  const seen = await keyspec(['check', ...words, '--server', '--max-load', '1', '--json'], { cwd, env })
  expect(seen.code).toBe(0)
  expect(seen.json()).toMatchObject([{ code: 'phase-changed', impact: 'safe', phases: [2, 3] }])
  expect(isLine(seen.json()[0]), JSON.stringify(isLine.errors)).toBe(true)
  expect((await keyspec(['check', '--schema', file, '--server'], { cwd, env })).code).toBe(2)
})

test.each([
  ['is not there', undefined, 'there is no manifest.txt'],
  ['is cut off', '{"format":1,', 'manifest.txt is not JSON'],
  ['is something else', '{"name":"x"}', 'manifest.txt is no manifest'],
  ['is null', 'null', 'manifest.txt is no manifest'],
  ['has an entry without keys', '{"format":1,"entries":[{"entry":"a"}]}', 'manifest.txt is no manifest'],
  [
    'has a key that is none',
    '{"format":1,"entries":[{"entry":"a","keys":[null]}]}',
    'manifest.txt is no manifest',
  ],
])('a manifest that %s is a misuse', async (_name, text, said) => {
  const folder = await mkdtemp(join(tmpdir(), 'keyspec-check-'))
  if (text !== undefined) await writeFile(join(folder, 'manifest.txt'), text)
  const { code, err } = await keyspec(
    ['check', '--config', join(fixture, 'keyspec.config.ts'), '--against', 'manifest.txt'],
    {
      cwd: folder,
    },
  )
  await rm(folder, { recursive: true })
  expect([code, err.trimEnd().split('\n')]).toEqual([2, [expect.stringContaining(said)]])
})
