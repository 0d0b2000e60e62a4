import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { filesIn, importsOf, textOf } from './tracked.ts'

// What may import what in a package: each row itself and the rows above it. A `/` at the end is a folder, a room.
const ROWS: { readonly [sources: string]: readonly (readonly string[])[] } = {
  'packages/keyspec/src/': [
    ['errors.ts', 'unquoted.ts', 'builtin.ts'],
    ['duration.ts', 'size.ts', 'abort.ts', 'timer.ts', 'tick-time.ts', 'calendar.ts', 'ip-address.ts'],
    ['pattern.ts', 'param.ts', 'overlap.ts'],
    ['codec/'],
    [
      'connection/connection.ts',
      'connection/client-of.ts',
      'connection/wrap.ts',
      'connection/reply.ts',
      'connection/page.ts',
      'connection/slot.ts',
      'connection/denial.ts',
      'connection/server-error.ts',
      'connection/unanswered.ts',
    ],
    ['connection/pipeline/'],
    ['connection/tracking/'],
    ['connection/client/'],
    ['connection/guard/', 'connection/replication.ts'],
    ['script/'],
    ['kind/'],
    ['recipe/'],
    ['schema.ts', 'layout.ts', 'keyspace.ts'],
    ['testing/'],
    ['index.ts', 'extend.ts'],
  ],
  'packages/inspect/src/': [
    ['operation/', 'remedy/'],
    ['match/'],
    ['scan/'],
    ['rdb/'],
    ['manifest/'],
    ['lint/', 'docs/'],
    ['permission/'],
    ['judge/'],
    ['doctor/'],
    ['measure/'],
    ['change/'],
    ['transfer/'],
    ['index.ts', 'explain.ts'],
  ],
}

// What the tools and the keyspace may know of kinds: what is common to all.
const COMMON = [
  'kind.ts',
  'entry.ts',
  'key-name.ts',
  'many.ts',
  'scan-names.ts',
  'renaming.ts',
  'renaming-across.ts',
  'phase.ts',
  'lifetime.ts',
  'fields.ts',
  'fingerprint.ts',
  'permission.ts',
]

const LIBRARY = 'packages/keyspec/src/'

// The workspaces likewise: each may import the public exports of those above it.
const ORDER = [
  'packages/keyspec/',
  'packages/inspect/',
  'packages/cli/',
  'systems/program/',
  'systems/reading/',
  'systems/model/',
  'systems/',
  'systems/all/',
]

// What the tools import of the library and of each other.
const WAYS_IN: { readonly [sources: string]: readonly string[] } = {
  'packages/inspect/src/': ['keyspec', 'keyspec/extend'],
  'packages/cli/src/': [
    'keyspec',
    'keyspec/extend',
    'keyspec/node-redis',
    '@keyspec/inspect',
    '@keyspec/inspect/explain',
  ],
}

const library = sources(LIBRARY)
const tools = sources('packages/inspect/src/')
const workspaces = [...filesIn('packages'), ...filesIn('systems')].filter(isManifest).map(workspaceAt)

test('every file of a package with rooms has its place in the order of imports', () => {
  expect([...library, ...tools].filter((path) => rowOf(path) === -1)).toEqual([])
})

test('every room and workspace that is listed exists', () => {
  const rooms = Object.entries(ROWS).flatMap(([folder, rows]) => rows.flat().map((name) => folder + name))
  const exists = (path: string) => filesIn(path).length > 0
  expect([...rooms, ...ORDER].filter((path) => !exists(path))).toEqual([])
})

test('imports in a package go one way', () => {
  expect(
    offenders([...library, ...tools], (from, to) => isNear(from, to) && rowOf(to) > rowOf(from)),
  ).toEqual([])
})

test('no files import each other in a circle, for types alone neither', () => {
  const code = ['packages', 'systems', 'bench', 'torture', 'scripts', 'test-support']
    .flatMap(filesIn)
    .filter((path) => /\.[jt]s$/.test(path) && !path.endsWith('.d.ts'))
  const known = new Set(code)
  const targets = new Map(
    code.map((path) => [
      path,
      importsOf(path)
        .map((to) => resolve(path, to))
        .filter((to) => known.has(to)),
    ]),
  )
  expect(circlesOf(targets)).toEqual([])
})

test('the search for circles finds each once, and no chain', () => {
  const targets = { a: ['b'], b: ['c', 'd'], c: ['a'], d: ['e'], e: ['e'], f: ['a', 'd'] }
  expect(circlesOf(new Map(Object.entries(targets)))).toEqual([['a', 'b', 'c'], ['e']])
})

test('the tools and the keyspace know no specific kind', () => {
  const common = COMMON.map((name) => `${LIBRARY}kind/${name}`)
  const isSpecific = (to: string) =>
    to.startsWith(`${LIBRARY}recipe/`) || (to.startsWith(`${LIBRARY}kind/`) && !common.includes(to))
  const keyspace = library.filter((path) => rowOf(path) === rowOf(`${LIBRARY}keyspace.ts`))
  expect(offenders(keyspace, (_, to) => isSpecific(to))).toEqual([])
  const sourceOf = new Map([...namesOf('index.ts'), ...namesOf('extend.ts')])
  const named = tools.flatMap((path) =>
    importedNames(path)
      .filter((name) => isSpecific(sourceOf.get(name) ?? ''))
      .map((name) => `${path} imports ${name}`),
  )
  expect(named).toEqual([])
})

test('the tools import the library by its ways in for them alone', () => {
  const found = Object.entries(WAYS_IN).flatMap(([folder, ways]) =>
    offenders(
      sources(folder),
      (_, to) => /^(?:keyspec|@keyspec\/[^/]+)(?:\/|$)/.test(to) && !ways.includes(to),
    ),
  )
  expect(found).toEqual([])
})

test('a workspace imports only its own files and what an earlier one exports', () => {
  const code = [...filesIn('packages'), ...filesIn('systems')].filter((path) => /\.[jt]s$/.test(path))
  expect(offenders(code, (from, to) => !mayImport(from, to))).toEqual([])
})

function sources(folder: string): string[] {
  return filesIn(folder).filter((path) => path.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(path))
}

function homeOf(path: string): string | undefined {
  return Object.keys(ROWS).find((folder) => path.startsWith(folder))
}

function isNear(from: string, to: string): boolean {
  return homeOf(to) !== undefined && homeOf(from) === homeOf(to)
}

function rowOf(path: string): number {
  const home = homeOf(path)
  if (home === undefined) return -1
  const inside = path.slice(home.length)
  return ROWS[home]!.findIndex((row) =>
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

/** The circles among imports, each sorted: the strongly connected components of more than one file (Tarjan, 1972). */
function circlesOf(targets: ReadonlyMap<string, readonly string[]>): string[][] {
  const circles: string[][] = []
  const numbers = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const visit = (path: string): void => {
    numbers.set(path, numbers.size)
    lowest.set(path, numbers.get(path)!)
    open.push(path)
    for (const to of targets.get(path) ?? []) {
      if (!numbers.has(to)) visit(to)
      if (open.includes(to)) lowest.set(path, Math.min(lowest.get(path)!, lowest.get(to)!))
    }
    if (lowest.get(path) !== numbers.get(path)) return
    const circle = open.splice(open.indexOf(path))
    if (circle.length > 1 || targets.get(path)?.includes(path) === true) circles.push(circle.toSorted())
  }
  for (const path of targets.keys()) if (!numbers.has(path)) visit(path)
  return circles.toSorted()
}

/** Each name that an entry point of the library exports, with the file it is from. */
function namesOf(entry: string): [name: string, file: string][] {
  return lists(`${LIBRARY}${entry}`, 'export').map(([name, from]) => [
    name,
    resolve(`${LIBRARY}${entry}`, from),
  ])
}

/** The names that a file imports from the library. */
function importedNames(path: string): string[] {
  return lists(path, 'import').flatMap(([name, from]) => (/^keyspec(?:\/|$)/.test(from) ? [name] : []))
}

/** The names in a file's lists of imports or exports as the other file knows them, with where each is from. */
function lists(path: string, word: 'import' | 'export'): [name: string, from: string][] {
  const statements = textOf(path).matchAll(
    new RegExp(`^${word} (?:type )?\\{([^}]*)\\} from '([^']+)'`, 'gm'),
  )
  return [...statements].flatMap(([, list, from]) =>
    list!
      .split(',')
      .map((item) => item.trim().replace(/^type /, ''))
      .filter((item) => item !== '')
      .map((item): [string, string] => [
        (word === 'export' ? item.split(' as ').at(-1) : item.split(' as ')[0])!,
        from!,
      ]),
  )
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
  if (!isFile || to.startsWith(`${home}/`)) return true
  // A test may look at parts of an earlier workspace that nothing exports.
  const owner = workspaces.find(({ folder }) => to.startsWith(`${folder}/src/`))
  return (
    isTest && (to.startsWith('test-support/') || (owner !== undefined && rankOf(owner.folder) < rankOf(home)))
  )
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
