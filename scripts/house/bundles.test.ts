import { execFileSync } from 'node:child_process'
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

test('an import loads none of Node’s heavy modules', () => {
  const loaded = printed(`
    for (const way of ['', '/recipes', '/inspect', '/explain']) await import('keyspec' + way)
    console.log(process.moduleLoadList.join())
  `).split(',')
  expect(loaded).toContain('NativeModule fs')
  for (const name of ['crypto', 'zlib', 'perf_hooks']) expect(loaded).not.toContain(`NativeModule ${name}`)
})

test('they come when they are needed, also to a Node before 20.16', () => {
  const digested = printed(`
    delete process.getBuiltinModule
    const { digest } = await import('keyspec')
    console.log(digest().encode('abc'))
  `)
  // FIPS 180-4
  expect(digested).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

/** What a module prints in a process of its own. */
function printed(source: string): string {
  const options = { cwd: root, encoding: 'utf8' } as const
  return execFileSync(process.execPath, ['--input-type=module', '-e', source], options).trimEnd()
}

test('what is published is few files', () => {
  const files = readdirSync(join(root, LIBRARY, 'lib')).filter((name) => name.endsWith('.js'))
  expect(files.length).toBeGreaterThanOrEqual(entryPoints.length)
  expect(files.length).toBeLessThan(3 * entryPoints.length)
})
