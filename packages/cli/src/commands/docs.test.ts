import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fixture, keyspec } from '../../../../test-support/command-line.ts'
import { docs } from './docs.ts'

const schema = join(fixture, 'schema.ts')
let cwd: string

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'keyspec-docs-'))
})

afterAll(() => rm(cwd, { recursive: true }))

const run = (words: string[]) => keyspec(['docs', '--schema', schema, ...words], { cwd })

test('prints the page where no file is named', async () => {
  const { code, out } = await run(['--prefix', 'shop:'])
  expect(code).toBe(0)
  expect(out).toMatch(/^# Keys\n/)
  expect(out).toContain('redis-cli GET shop:session:42')
})

test('writes a new file, finds it fresh, and shows in short where it is stale', async () => {
  const file = join(cwd, 'keys.md')
  expect(await run(['--out', 'keys.md'])).toMatchObject({ code: 0, out: 'keys.md is written\n' })
  expect(await readFile(file, 'utf8')).toMatch(/^<!-- keyspec:begin -->\n# Keys\n/)
  expect(await run(['--out', 'keys.md', '--check'])).toMatchObject({ code: 0, out: 'keys.md is fresh\n' })
  const stale = await run(['--out', 'keys.md', '--check', '--prefix', 'prod:'])
  expect(stale.code).toBe(1)
  expect(stale.err).toContain('keys.md is stale')
  expect(stale.out).toMatch(/^@@ line 4 @@\n- .*Nothing stands before the keys.*\n/)
  expect(stale.out).toContain('+ ')
  expect(stale.out.split('\n').length).toBeLessThan(20)
  expect(await run(['--out', 'keys.md', '--check'])).toMatchObject({ code: 0 })
})

test('in a page of somebody’s own it touches only what stands between the markers, one level deeper', async () => {
  const file = join(cwd, 'README.md')
  const [before, after] = [
    '# Shop\n\n```sh\n# not a heading\n```\n\n## Keys\n\n<!-- keyspec:begin -->',
    '<!-- keyspec:end -->\n\nThe end.\n',
  ]
  await writeFile(file, `${before}\nold\n${after}`)
  expect((await run(['--out', 'README.md', '--check'])).code).toBe(1)
  expect((await run(['--out', 'README.md'])).code).toBe(0)
  const text = await readFile(file, 'utf8')
  expect(text.startsWith(`${before}\n10 entries`)).toBe(true)
  expect(text.endsWith(after)).toBe(true)
  expect(text).toContain('\n### Entries\n')
  expect(text).not.toContain('\nold\n')
  expect((await run(['--out', 'README.md', '--check'])).code).toBe(0)
})

test.each([
  ['a page without markers', ['--out', 'plain.md'], 'plain.md has no <!-- keyspec:begin -->'],
  ['a check without a page', ['--check'], 'there is no page to check'],
])('%s is a misuse, and nothing is written', async (_name, words, said) => {
  await writeFile(join(cwd, 'plain.md'), 'mine\n')
  expect(await run(words)).toMatchObject({ code: 2, err: expect.stringContaining(said) })
  expect(await readFile(join(cwd, 'plain.md'), 'utf8')).toBe('mine\n')
})

test('the page of the configuration is the one that is written', async () => {
  const config = `export default { schema: (await import(${JSON.stringify(schema)})).shop, docs: { page: 'own.md', intro: 'Hello.' } }`
  await writeFile(join(cwd, 'keyspec.config.ts'), config)
  expect((await keyspec(['docs'], { cwd })).code).toBe(0)
  expect(await readFile(join(cwd, 'own.md'), 'utf8')).toContain('# Keys\n\nHello.\n')
  await rm(join(cwd, 'keyspec.config.ts'))
})

test('its JSON is as its JSON Schema says', async () => {
  const validate = new Ajv2020().compile(docs.json.schema)
  for (const words of [[], ['--out', 'json.md'], ['--out', 'json.md', '--check']]) {
    const [document] = (await run([...words, '--json'])).json()
    expect(validate(document), JSON.stringify(validate.errors)).toBe(true)
  }
})
