import { checkSync } from 'recheck'
import { expect, test } from 'vitest'
import { parseAst } from 'vitest/node'
import { filesIn, textOf } from './tracked.ts'

// A regular expression that backtracks lets whoever writes a text decide how long it is read: 100 kB can take a minute.

/** Those whose text nobody else writes, or is short, each with the reason. */
const BOUNDED: Readonly<Record<string, string>> = {
  [String.raw`/[,;:]?\s*(?:\(was\b|(?:but )?\b(?:received|got)\b).*$/is`]:
    'the first 300 characters of a message',
}

/** The literals, and the files in which each stands. */
const literals = new Map<string, string[]>()
for (const path of ['packages', 'systems'].flatMap(filesIn)) {
  if (!/^[^/]+\/[^/]+\/src\/.*\.ts$/.test(path) || /\.test(-d)?\.ts$/.test(path)) continue
  for (const literal of literalsIn(textOf(path)))
    literals.set(literal, [...(literals.get(literal) ?? []), path])
}

test('every regular expression takes time in proportion to its text', () => {
  expect(literals.size).toBeGreaterThan(200)
  const slow = [...literals].filter(([literal]) => !(literal in BOUNDED) && !isLinear(literal))
  expect(slow.map(([literal, paths]) => `${paths.join(', ')}: ${literal}`)).toEqual([])
}, 240_000)

test('each that is listed as bounded is there, backtracks, and has a reason', () => {
  for (const [literal, reason] of Object.entries(BOUNDED)) {
    expect(literals.has(literal), literal).toBe(true)
    expect(isLinear(literal), literal).toBe(false)
    expect(reason).not.toBe('')
  }
})

test.each([String.raw`/\s+$/`, '/<!--[^]*?-->/g', '/^(a+)+$/', String.raw`/([^\n]*)\n/g`])(
  'one that backtracks is found: %s',
  (literal) => {
    expect(isLinear(literal)).toBe(false)
  },
)

test('the literals of a file are found, and what looks like one in a text or a comment is none', () => {
  const text = "const a = /x/g // /y/\nconst b = 'a /z/ b'\nconst c = `${/w/i.test(b)} /v/`"
  expect(literalsIn(text)).toEqual(['/x/g', '/w/i'])
})

function isLinear(literal: string): boolean {
  const end = literal.lastIndexOf('/')
  const [source, flags] = [literal.slice(1, end), literal.slice(end + 1)]
  return !repeatsWithoutEnd(source) || checkSync(source, flags, EXACT).status === 'safe'
}

// Without limits of time and with one seed, so that a busy machine finds what an idle one does.
const EXACT = { timeout: null, attackTimeout: null, recallLimit: 0, randomSeed: 1 } as const

/** Whether any part may be repeated as often as the text has it. */
function repeatsWithoutEnd(source: string): boolean {
  return /[*+]|\{\d+,\}/.test(source.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]/g, 'x'))
}

function literalsIn(text: string): string[] {
  const found: string[] = []
  const visit = (node: unknown) => {
    if (Array.isArray(node)) for (const each of node) visit(each)
    else if (typeof node === 'object' && node !== null) {
      const { regex, raw } = node as { readonly regex?: unknown; readonly raw?: string }
      if (regex !== undefined && raw !== undefined) found.push(raw)
      else visit(Object.values(node))
    }
  }
  visit(parseAst(text, { lang: 'ts' }))
  return found
}
