import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { fixture } from '../../../../test-support/command-line.ts'
import { targetOf } from '../connect.ts'
import { loadConfig } from './load.ts'

const folder = mkdtempSync(join(tmpdir(), 'keyspec-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

function written(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

test('the configuration is found here or in a folder above', async () => {
  for (const cwd of [fixture, join(fixture, 'deep/er')]) {
    const { prefix, folder: home, schema } = await loadConfig({}, cwd)
    expect({ prefix, home }).toEqual({ prefix: 'shop:', home: fixture })
    expect(Object.keys(schema)).toContain('session')
  }
})

test('flags win over it', async () => {
  expect((await loadConfig({ prefix: 'test:' }, fixture)).prefix).toBe('test:')
  const alone = await loadConfig({ schema: 'schema.ts' }, fixture)
  expect(alone.prefix).toBe('')
  expect(Object.keys((await loadConfig({ schema: 'schema.ts#shop' }, fixture)).schema)).toEqual(
    Object.keys(alone.schema),
  )
})

test('TypeScript is read as it is, types and all', async () => {
  const kind = '{ keys: [], together: false, open() { return undefined as never } }'
  const file = written(
    'typed.ts',
    `interface Named { readonly entry: unknown }\nexport const one = { entry: ${kind} } satisfies Named\n`,
  )
  expect(Object.keys((await loadConfig({ schema: file }, folder)).schema)).toEqual(['entry'])
})

test.each<[string, string, string]>([
  ['throws.ts', "throw new Error('the dog ate it')", 'does not load: the dog ate it'],
  ['none.ts', 'export default 1', 'exports no configuration'],
  ['odd.ts', 'export default { schema: { session: 42 } }', 'schema.session is no entry and no mount(…)'],
])('%s is said to be wrong by its name', async (name, text, said) => {
  const path = written(name, text)
  await expect(loadConfig({ config: path }, folder)).rejects.toThrow(path)
  await expect(loadConfig({ config: path }, folder)).rejects.toThrow(said)
})

test('the server is that of --url, else of REDIS_URL, else of the configuration', () => {
  const config = { schema: {}, url: 'redis://config', cluster: true }
  const env = { REDIS_URL: 'redis://environment' }
  expect(targetOf({ url: 'redis://flag' }, env, config).url).toBe('redis://flag')
  expect(targetOf({}, env, config).url).toBe('redis://environment')
  expect(targetOf({}, {}, config)).toMatchObject({ url: 'redis://config', cluster: true })
  expect(() => targetOf({}, {}, { schema: {} })).toThrow('give --url, set REDIS_URL')
})
