import { isUnavailable, KeyspecError } from 'keyspec'
import { describe, expect, test } from 'vitest'
import { filesIn, textOf } from './tracked.ts'

const PAGE = 'docs/errors.md'

interface Package {
  readonly name: string
  readonly sources: string
  /** Files that make errors without a code, each of which becomes the cause of an error that has one. */
  readonly causes: RegExp
}

const PACKAGES: readonly Package[] = [
  {
    name: 'keyspec',
    sources: 'packages/keyspec/src/',
    // What a codec refuses and what an adapter learns from its client. The last failure of a test stands for itself.
    causes:
      /^(?:codec|connection\/(?:client|tracking))\/|^(?:errors|param|testing\/eventually|connection\/reply|kind\/(?:key|counter)|recipe\/(?:sequence\/sequence|limiter\/limit-by|external\/celery|work-queue\/(?:stored-job|work-queue)))\.ts$/,
  },
  {
    name: '@keyspec/inspect',
    sources: 'packages/inspect/src/',
    // Damaged bytes, of which the readers of snapshots and exports make a `SnapshotError` or an `ArchiveError`.
    causes: /^rdb\/(?:rdb-reader|stream-entries)\.ts$|^transfer\/archive\/(?:layout|read)\.ts$/,
  },
  {
    name: '@keyspec/cli',
    sources: 'packages/cli/src/',
    // What a client says of its connection.
    causes: /^(?:brief-connection|connect)\.ts$/,
  },
]

describe.each(PACKAGES)('the errors of $name', ({ name, sources, causes }) => {
  const paths = filesIn(sources).filter((path) => path.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(path))
  const rows = rowsOf(name)

  test('are listed in the table, each code with its class, once, and no other', () => {
    const declared = paths.flatMap((path) => codesIn(textOf(path))).toSorted()
    expect(declared.length).toBeGreaterThan(3)
    expect(rows.map(({ code, className }) => `${code} ${className}`)).toEqual(declared)
  })

  test('have rows that say when they come and what to do', () => {
    expect(rows.filter(({ when, todo }) => when.trim() === '' || todo.trim() === '')).toEqual([])
  })

  test('all have a code', () => {
    expect(paths.length).toBeGreaterThan(50)
    const without = paths.filter((path) => hasNoCode(textOf(path))).map((path) => path.slice(sources.length))
    expect(without.filter((path) => !causes.test(path))).toEqual([])
    expect(without.length).toBeGreaterThan(0)
  })
})

test('the codes that are marked are those of an outage', () => {
  class Coded extends KeyspecError {
    readonly code: `E_${string}`
    constructor(code: `E_${string}`) {
      super(code)
      this.code = code
    }
  }
  // The errors of arguments are no `KeyspecError`.
  const coded = rowsOf('keyspec').filter(({ code }) => code !== 'E_ARGUMENT')
  const outages = coded.filter(({ code }) => isUnavailable(new Coded(code)))
  expect(outages.length).toBeGreaterThan(0)
  expect(coded.filter(({ marked }) => marked)).toEqual(outages)
})

test.each([
  "throw new Error('no')",
  "reject(new TypeError('no'))",
  'socket.destroy(new RangeError(words))',
  'export class LostError extends Error {',
])('an error without a code is found: %s', (text) => {
  expect(hasNoCode(text)).toBe(true)
})

test.each([
  "throw new SnapshotError('damaged', words)",
  'export class FileError extends Failure {',
  'if (error instanceof TypeError) throw error',
  '/** @throws TypeError for another form */',
])('an error with a code is none: %s', (text) => {
  expect(hasNoCode(text)).toBe(false)
})

test('a class without a code is not listed', () => {
  const text =
    "export class AError extends KeyspecError {\n  readonly code = 'E_A'\n}\nexport class B extends Error {}\n"
  expect(codesIn(text)).toEqual(['E_A AError'])
})

function hasNoCode(text: string): boolean {
  return /\bnew (?:Type|Range|Syntax|Aggregate)?Error\(|\bclass \w+ extends (?:Type|Range|Syntax|Aggregate)?Error\b/.test(
    text,
  )
}

/** The codes in a source, each with its class: of classes with one code, and of `ServerError`, whose codes are a type. */
function codesIn(text: string): string[] {
  const classes = text.matchAll(
    /^export class (\w+) extends \w+ \{\n(?: {2}\/\*\*.*\n)*? {2}(?:readonly code = |get code\(\) \{\n {4}return )'(E_\w+)'/gm,
  )
  const union = /^export type (\w+)Code =\n((?: {2}\| 'E_\w+'\n)+)/m.exec(text)
  return [
    ...Array.from(classes, ([, className, code]) => `${code} ${className}`),
    ...Array.from(union?.[2]?.matchAll(/'(E_\w+)'/g) ?? [], ([, code]) => `${code} ${union?.[1]}`),
  ]
}

interface Row {
  readonly code: `E_${string}`
  readonly marked: boolean
  readonly className: string
  readonly when: string
  readonly todo: string
}

/** The rows of a package's table. */
function rowsOf(packageName: string): Row[] {
  const section = textOf(PAGE)
    .split(/^## /m)
    .find((part) => part.startsWith(`\`${packageName}\`\n`))
  const rows = section?.matchAll(/^\| `E_(\w+)`( \*)? \| `(\w+)`[^|]* \| ([^|]*) \| ([^|]*) \|$/gm) ?? []
  return [...rows].map(([, code, mark, className, when, todo]) => ({
    code: `E_${code}`,
    marked: mark !== undefined,
    className: className!,
    when: when!,
    todo: todo!,
  }))
}
