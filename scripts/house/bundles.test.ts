import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { root } from '../setup.js'
import { textOf } from './tracked.ts'

const FOLDER = 'packages/keyspec'

interface Target {
  readonly types: string
  readonly default: string
}

const entries = Object.entries<Target>(JSON.parse(textOf(`${FOLDER}/package.json`)).exports)
  .filter(([subpath]) => subpath !== './package.json')
  .map(([subpath, target]) => ({ specifier: subpath.replace('.', 'keyspec'), target }))

const imported = (path: string): Promise<Record<string, unknown>> =>
  import(pathToFileURL(join(root, FOLDER, path)).href)

test.each(entries)('$specifier is published with all that its source exports', async ({ target }) => {
  const source = target.types.replace('./dist', './src').replace(/\.d\.ts$/, '.ts')
  const [made, meant] = await Promise.all([imported(target.default), imported(source)])
  expect(Object.keys(made).toSorted()).toEqual(Object.keys(meant).toSorted())
})

test('the entry points share their classes, so that instanceof holds between them', async () => {
  const [{ SchemaError }, { slidingWindow }] = await Promise.all([
    import('keyspec'),
    import('keyspec/recipes'),
  ])
  expect(() => slidingWindow('rate:<ip>', { per: '1m', limit: 100_000, form: 'compact' })).toThrow(
    SchemaError,
  )
})

test('what is published is few files', () => {
  const files = readdirSync(join(root, FOLDER, 'lib')).filter((name) => name.endsWith('.js'))
  expect(files.length).toBeGreaterThanOrEqual(entries.length)
  expect(files.length).toBeLessThan(3 * entries.length)
})
