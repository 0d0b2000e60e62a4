import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { root } from '../setup.js'
import { entryPoints, PACKAGES } from './entry-points.ts'

const imported = (path: string): Promise<Record<string, unknown>> =>
  import(pathToFileURL(join(root, path)).href)

test.each(entryPoints)('$specifier is published with all that its source exports', async (entry) => {
  const meant = await imported(entry.source)
  // In a process of its own, which knows the published files alone.
  const made = printed(`console.log(JSON.stringify(Object.keys(await import('${entry.specifier}'))))`)
  expect((JSON.parse(made) as string[]).toSorted()).toEqual(Object.keys(meant).toSorted())
})

test('the entry points share their classes, so that instanceof holds between them and between packages', () => {
  const found = printed(`
    const { KeyspecError, SchemaError } = await import('keyspec')
    const { slidingWindow } = await import('keyspec/recipes')
    const { keySpec } = await import('keyspec/extend')
    const { ImportError } = await import('@keyspec/inspect')
    const thrown = (make) => { try { make() } catch (error) { return error } }
    console.log(JSON.stringify([
      thrown(() => slidingWindow('rate:<ip>', { per: '1m', limit: 100_000, form: 'compact' })) instanceof SchemaError,
      thrown(() => keySpec('a:<', 'string', {}, {})) instanceof KeyspecError,
      ImportError.prototype instanceof KeyspecError,
    ]))
  `)
  expect(JSON.parse(found)).toEqual([true, true, true])
})

test('an import loads none of Node’s heavy modules', () => {
  const ways = entryPoints.map(({ specifier }) => specifier).filter((name) => name !== 'keyspec/testing')
  const loaded = printed(`
    for (const way of ${JSON.stringify(ways)}) await import(way)
    console.log(process.moduleLoadList.join())
  `).split(',')
  expect(loaded).toContain('NativeModule fs')
  for (const name of ['crypto', 'zlib', 'perf_hooks']) expect(loaded).not.toContain(`NativeModule ${name}`)
})

test('they come when they are needed, also to a Node before 20.16', () => {
  const digested = printed(`
    delete process.getBuiltinModule
    const { param } = await import('keyspec')
    console.log(param.digest().encode('abc'))
  `)
  // FIPS 180-4
  expect(digested).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

/** What a module prints in a process of its own. */
function printed(source: string): string {
  const options = { cwd: root, encoding: 'utf8' } as const
  return execFileSync(process.execPath, ['--input-type=module', '-e', source], options).trimEnd()
}

test.each(PACKAGES)('what %s publishes is few files', (folder) => {
  const own = entryPoints.filter((entry) => entry.folder === folder)
  const files = readdirSync(join(root, folder, 'lib')).filter((name) => name.endsWith('.js'))
  expect(files.length).toBeGreaterThanOrEqual(own.length)
  expect(files.length).toBeLessThan(3 * own.length + 1)
})
