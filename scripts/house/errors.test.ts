import { isUnavailable, KeyspecError } from 'keyspec'
import { expect, test } from 'vitest'
import { filesIn, textOf } from './tracked.ts'

const PAGE = 'docs/errors.md'
const SOURCES = 'packages/keyspec/src/'

const sources = filesIn(SOURCES).filter((path) => path.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(path))
const rows = rowsOf('keyspec')

test('the table of errors lists each code of keyspec with its class, once, and no other', () => {
  expect(sources.length).toBeGreaterThan(100)
  const listed = rows.map(({ code, className }) => `${code} ${className}`)
  expect(listed).toEqual(sources.flatMap((path) => codesIn(textOf(path))).toSorted())
})

test('a code without a class is not found, nor a class without a code', () => {
  const text =
    "export class AError extends KeyspecError {\n  readonly code = 'E_A'\n}\nexport class B extends Error {}\n"
  expect(codesIn(text)).toEqual(['E_A AError'])
})

test('each row says when the error comes and what to do', () => {
  expect(rows.filter(({ when, todo }) => when === '' || todo === '')).toEqual([])
})

test('the codes that are marked are those of an outage', () => {
  class Coded extends KeyspecError {
    readonly code: `E_${string}`
    constructor(code: `E_${string}`) {
      super(code)
      this.code = code
    }
  }
  const coded = rows.filter(({ code }) => code !== 'E_ARGUMENT')
  const outages = coded.filter(({ code }) => isUnavailable(new Coded(code)))
  expect(outages.length).toBeGreaterThan(0)
  expect(coded.filter(({ marked }) => marked)).toEqual(outages)
})

// Errors without a code: what a codec throws is the cause of an error that has one, and so is what an adapter learns from its
// client. Programs under test have no codes.
const CAUSES =
  /\/codec\/|\/connection\/(?:client|tracking)\/|\/testing\/|\/param\.ts$|\/recipe\/(?:limiter\/limit-by|external\/celery|work-queue\/(?:stored-job|work-queue))\.ts$/

test('what the library throws has a code', () => {
  const thrown = sources.filter((path) => /\bthrow new (?:Type|Range|Syntax)?Error\(/.test(textOf(path)))
  expect(thrown.length).toBeGreaterThan(10)
  expect(thrown.filter((path) => !CAUSES.test(path))).toEqual([])
})

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

function rowsOf(packageName: string): Row[] {
  const section =
    textOf(PAGE)
      .split(/^## /m)
      .find((part) => part.startsWith(`\`${packageName}\`\n`)) ?? ''
  return [...section.matchAll(/^\| `E_(\w+)`( \*)? \| `(\w+)`[^|]* \| ([^|]*) \| ([^|]*) \|$/gm)].map(
    ([, code, mark, className, when, todo]) => ({
      code: `E_${code}`,
      marked: mark !== undefined,
      className: className!,
      when: when!,
      todo: todo!,
    }),
  )
}
