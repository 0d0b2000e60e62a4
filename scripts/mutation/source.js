// @ts-check
// The files whose mutants are tried, the lines of them that changed, and the tests that should kill each mutant.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { root, Stop } from '../setup.js'

/** Where a floor holds: what an application runs, and what changes a server. */
const SCOPE = [
  'packages/keyspec/src/{connection,script,kind,recipe}/**',
  'packages/inspect/src/change/{cleanup-idle.lua,cleanup-repair.lua,cleanup.ts,erase.ts,migrate-check.ts,migrate-drop.lua,migrate-sights.ts,migrate.ts}',
  'packages/inspect/src/transfer/{copy.ts,import.ts}',
  'packages/inspect/src/match/{own-key.ts,rename-rules.ts}',
  'packages/inspect/src/explain.ts',
  'packages/inspect/src/scan/{scan.lua,scan.ts,selection.ts,throttle.ts}',
  'packages/inspect/src/transfer/archive/**',
  'packages/inspect/src/rdb/{decode-dump.ts,dump-type.ts,rdb-reader.ts}',
  'packages/inspect/src/doctor/**',
  'packages/cli/src/{confirmation,connect,brief-connection}.ts',
  'packages/cli/src/commands/{erase,cleanup,migrate,import,copy,doctor}.ts',
]

/** Lines of a file, both ends included. @typedef {{ first: number, last: number }} Lines */

/** @typedef {{ file: string, lines?: readonly Lines[] }} Source */

/**
 * Returns the files of the scope, or of it those that match a glob.
 * @param {readonly string[]} globs
 * @returns {Source[]}
 */
export function sources(globs) {
  const files = git('ls-files', 'packages').split('\n').filter(isSource)
  const wanted = globs.length === 0 ? SCOPE : globs
  const found = files.filter((file) => wanted.some((glob) => matches(file, glob)))
  for (const glob of globs) {
    if (!files.some((file) => matches(file, glob)))
      throw new Stop(`${glob}: no source file of packages/ matches it`)
  }
  return found.map((file) => ({ file }))
}

/**
 * Returns those of the files that changed since a commit, each with the lines that did.
 * @param {readonly Source[]} from
 * @param {string} since
 * @returns {Source[]}
 */
export function changed(from, since) {
  const lines = changedLines(
    git('diff', '--unified=0', '--no-color', '--no-ext-diff', since, '--', 'packages'),
  )
  return from.flatMap(({ file }) => {
    const those = lines.get(file)
    return those === undefined ? [] : [{ file, lines: those }]
  })
}

/** Whether a commit is there: a clone with little history may lack it. @param {string} commit */
export function isCommit(commit) {
  const { status } = spawnSync('git', ['rev-parse', '--verify', '--quiet', `${commit}^{commit}`], {
    cwd: root,
  })
  return status === 0
}

/**
 * Returns the changed lines of each file of a diff without context; a file that only lost lines has none.
 * @param {string} diff
 */
export function changedLines(diff) {
  /** @type {Map<string, Lines[]>} */
  const files = new Map()
  let file = ''
  for (const line of diff.split('\n')) {
    const name = /^\+\+\+ b\/(.*)$/.exec(line)?.[1]
    if (name !== undefined) file = name
    const hunk = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line)
    if (!hunk) continue
    const first = Number(hunk[1])
    const count = Number(hunk[2] ?? 1)
    if (count > 0) files.set(file, [...(files.get(file) ?? []), { first, last: first + count - 1 }])
  }
  return files
}

/** @type {Record<string, readonly string[]>} */
const declared = JSON.parse(readFileSync(new URL('tests.json', import.meta.url), 'utf8'))

/**
 * Returns the tests that should kill the mutants of a file: those that tests.json declares for it, or else those of
 * its folder that neither start a cluster nor kill a process.
 * @param {string} file
 * @returns {readonly string[]}
 */
export function testsOf(file) {
  const entry = Object.entries(declared).find(([glob]) => matches(file, glob))
  if (entry) return entry[1]
  return readdirSync(join(root, dirname(file)))
    .filter((name) => name.endsWith('.test.ts') && !/\.(cluster|process)\.test\.ts$/.test(name))
    .map((name) => `${dirname(file)}/${name}`)
}

/** Returns what tests.json names that is not there. */
export function staleTests() {
  const files = git('ls-files', 'packages').split('\n')
  return Object.entries(declared).flatMap(([glob, tests]) => [
    ...(files.some((file) => matches(file, glob)) ? [] : [glob]),
    ...tests.filter((test) => !existsSync(join(root, test))),
  ])
}

/** @param {string} file */
function isSource(file) {
  if (file.endsWith('.lua')) return true
  return file.endsWith('.ts') && !/\.(test|test-d|gen|d)\.ts$/.test(file) && basename(file) !== 'index.ts'
}

/**
 * Whether a path matches a glob of `*`, `**` and `{a,b}`.
 * @param {string} path
 * @param {string} glob
 */
export function matches(path, glob) {
  const pattern = glob
    .replaceAll(/[.+^$()|[\]\\?]/g, String.raw`\$&`)
    .replaceAll(/\*\*\/|\*\*|\*/g, (stars) => ({ '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*' })[stars] ?? '')
    .replaceAll(/\{([^}]*)\}/g, (_, either) => `(?:${either.replaceAll(',', '|')})`)
  return new RegExp(`^${pattern}$`).test(path)
}

/** @param {readonly string[]} args */
function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (status !== 0) throw new Stop(`git ${args[0]} failed: ${stderr.trim()}`)
  return stdout
}
