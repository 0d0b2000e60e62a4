import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { filesIn, importsOf, textOf } from './tracked.ts'

// What may import what in the library: each row itself and the rows above it. A `/` at the end is a folder.
const ROWS = [
  ['errors.ts', 'builtin.ts'],
  ['duration.ts', 'size.ts'],
  ['pattern.ts', 'param.ts', 'overlap.ts', 'param/'],
  ['codec/'],
  ['connection/'],
  ['script/'],
  ['kind/'],
  ['recipe/'],
  ['schema.ts', 'keyspace.ts'],
  ['inspect/'],
  ['testing/'],
  ['index.ts'],
]

// What the tools and the keyspace may know of kinds: what is common to all.
const COMMON = ['kind.ts', 'entry.ts', 'was.ts', 'lifetime.ts', 'fields.ts', 'fingerprint.ts']

const LIBRARY = 'packages/keyspec/src/'

// The workspaces likewise: each may import the public exports of those above it.
const ORDER = [
  'packages/keyspec/',
  'packages/cli/',
  'packages/dashboard/',
  'systems/program/',
  'systems/model/',
  'systems/',
  'systems/all/',
]

const library = sources(LIBRARY)
const workspaces = [...filesIn('packages'), ...filesIn('systems')].filter(isManifest).map(workspaceAt)

test('every file of the library has its place in the order of imports', () => {
  expect(library.filter((path) => rowOf(path) === -1)).toEqual([])
})

test('imports in the library go one way', () => {
  expect(offenders(library, (from, to) => to.startsWith(LIBRARY) && rowOf(to) > rowOf(from))).toEqual([])
})

test('the tools and the keyspace know no specific kind', () => {
  const blind = library.filter(
    (path) => path.startsWith(`${LIBRARY}inspect/`) || rowOf(path) === rowOf(`${LIBRARY}keyspace.ts`),
  )
  const common = COMMON.map((name) => `${LIBRARY}kind/${name}`)
  const isSpecific = (to: string) =>
    to.startsWith(`${LIBRARY}recipe/`) || (to.startsWith(`${LIBRARY}kind/`) && !common.includes(to))
  expect(offenders(blind, (_, to) => isSpecific(to))).toEqual([])
})

test('a workspace imports only its own files and what an earlier one exports', () => {
  const code = [...filesIn('packages'), ...filesIn('systems')].filter((path) => /\.[jt]s$/.test(path))
  expect(offenders(code, (from, to) => !mayImport(from, to))).toEqual([])
})

function sources(folder: string): string[] {
  return filesIn(folder).filter((path) => path.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(path))
}

function rowOf(path: string): number {
  const inside = path.slice(LIBRARY.length)
  return ROWS.findIndex((row) =>
    row.some((name) => (name.endsWith('/') ? inside.startsWith(name) : inside === name)),
  )
}

function offenders(from: readonly string[], isWrong: (from: string, to: string) => boolean): string[] {
  return from.flatMap((path) =>
    importsOf(path)
      .filter((specifier) => isWrong(path, resolve(path, specifier)))
      .map((specifier) => `${path} imports ${specifier}`),
  )
}

function resolve(path: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier
}

function mayImport(from: string, to: string): boolean {
  const home = from.split('/', 2).join('/')
  const isTest = /\.test(-d)?\.ts$/.test(from) || from.includes('/fixture/')
  const workspace = workspaces.find(({ name }) => to === name || to.startsWith(`${name}/`))
  if (workspace) {
    const isEarlier = rankOf(workspace.folder) < rankOf(home) || (isTest && workspace.folder === home)
    return isEarlier && to in workspace.exports
  }
  const isFile = /^(?:packages|systems|scripts|test-support|bench)\//.test(to)
  return !isFile || to.startsWith(`${home}/`) || (isTest && to.startsWith('test-support/'))
}

function isManifest(path: string): boolean {
  return /^[^/]+\/[^/]+\/package\.json$/.test(path)
}

/** A workspace with the specifiers that import it. */
function workspaceAt(manifest: string): { name: string; folder: string; exports: Record<string, unknown> } {
  const { name, exports = {} } = JSON.parse(textOf(manifest))
  const named = Object.entries(exports).map(([subpath, target]) => [posix.join(name, subpath), target])
  return { name, folder: posix.dirname(manifest), exports: Object.fromEntries(named) }
}

function rankOf(folder: string): number {
  const own = ORDER.indexOf(`${folder}/`)
  return own === -1 ? ORDER.findIndex((start) => folder.startsWith(start)) : own
}
