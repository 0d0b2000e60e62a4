import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { root } from '../setup.js'
import { entryPoints, LIBRARY } from './entry-points.ts'

const imported = (path: string): Promise<Record<string, unknown>> =>
  import(pathToFileURL(join(root, path)).href)

test.each(entryPoints)('$specifier is published with all that its source exports', async (entry) => {
  const [made, meant] = await Promise.all([imported(entry.published), imported(entry.source)])
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
  const files = readdirSync(join(root, LIBRARY, 'lib')).filter((name) => name.endsWith('.js'))
  expect(files.length).toBeGreaterThanOrEqual(entryPoints.length)
  expect(files.length).toBeLessThan(3 * entryPoints.length)
})
