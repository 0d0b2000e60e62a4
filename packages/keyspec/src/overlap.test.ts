import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { overlap, overlaps } from './overlap.ts'
import { type Pattern, pattern } from './pattern.ts'

const between = (a: string, b: string) => overlap(pattern(a), pattern(b))

describe('two patterns', () => {
  test.each([
    ['rate:<userId>:<endpoint>', 'rate:limit:<resource>:<identifier>'],
    ['cache:ocr:<content>', 'cache:doc:state:<documentUuid>'],
    ['session:<id>', 'sessions:<id>'],
    ['last_job_id', 'last_client_id'],
    ['a:<b>', 'a:<b>:c'],
    ['a:<b>x', 'a:<b>y'],
  ])('%s and %s share no key', (a, b) => {
    expect(between(a, b)).toBeUndefined()
    expect(between(b, a)).toBeUndefined()
  })

  test.each([
    ['session:<id>', 'session:current', 'session:current'],
    ['<a>:<b>', 'rate:<c>', 'rate:x'],
    ['lock:<key*>', 'lock:a:<b>', 'lock:a:x'],
    ['a:<b>x', 'a:y<c>', 'a:yx'],
    ['<all*>', 'jobs', 'jobs'],
  ])('%s and %s share %s', (a, b, key) => {
    expect(between(a, b)).toBe(key)
    expect(pattern(a).parse(key)).toBeDefined()
    expect(pattern(b).parse(key)).toBeDefined()
  })
})

const piece = fc.oneof(fc.constantFrom('a', 'b', ':', 'ab', '-'), fc.constant('<>'))
const anyPattern = fc
  .tuple(fc.array(piece, { minLength: 1, maxLength: 5 }), fc.boolean())
  .map(([pieces, star]) => {
    let count = 0
    let text = ''
    for (const each of pieces) {
      if (each !== '<>') text += each
      else if (!text.endsWith('>')) text += `<p${count++}${star && count === 1 ? '*' : ''}>`
    }
    return text
  })
const anyKey = fc.string({ unit: fc.constantFrom('a', 'b', ':', '-', 'x'), minLength: 1, maxLength: 6 })

test('an example belongs to both patterns as a search by hand would read them', () => {
  fc.assert(
    fc.property(anyPattern, anyPattern, (a, b) => {
      const key = between(a, b)
      if (key === undefined) return
      for (const text of [a, b]) expect(key).toMatch(regexOf(text))
    }),
    { numRuns: 800 },
  )
})

test('no key that both patterns parse escapes the proof', () => {
  let shared = 0
  fc.assert(
    fc.property(anyPattern, anyPattern, anyKey, (a, b, key) => {
      if (pattern(a).parse(key) === undefined || pattern(b).parse(key) === undefined) return
      shared += 1
      expect(between(a, b)).toBeDefined()
    }),
    { numRuns: 6000 },
  )
  expect(shared).toBeGreaterThan(15)
})

// As schemas have them: whole pieces and parts of pieces, hash tags, one `<*>`, all behind the prefixes they are mounted at.
const schemaPieces = 'a b ab {a} <> a<> ab<> <>b {<>} a<>-b<> <>-<> <*> a<*> <*>b'.split(' ')
const schemaPiece = fc.constantFrom('', ...schemaPieces)
const schemaPattern = fc
  .tuple(fc.constantFrom('', '', 'p:', 'p:q:', 'a'), fc.array(schemaPiece, { minLength: 1, maxLength: 4 }))
  .map(([prefix, pieces]) => {
    let count = 0
    let hasStar = false
    const text = pieces.join(':').replace(/<(\*?)>/g, (_, star: string) => {
      const many = star !== '' && !hasStar
      hasStar ||= many
      return `<p${count++}${many ? '*' : ''}>`
    })
    return prefix + text
  })
  .filter((text) => text !== '')

test('the conflicts among many patterns are those that comparing each with each finds, in the same order', () => {
  let conflicts = 0
  fc.assert(
    fc.property(fc.array(fc.oneof(schemaPattern, anyPattern), { maxLength: 14 }), (texts) => {
      const owners = texts.map((text, index) => ({ index, pattern: pattern(text) }))
      const found = [...overlaps(owners)].map(([a, b, key]) => [a.index, b.index, key])
      expect(found).toEqual(eachWithEach(owners))
      conflicts += found.length
    }),
    { numRuns: 600 },
  )
  expect(conflicts).toBeGreaterThan(300)
})

// To search each pair of them would take half a minute.
test.each([
  ['begin alike', (n: number) => `app:<id>:kind${n}`],
  ['begin with a placeholder', (n: number) => `<tenant>:<id>:kind${n}`],
  ['differ inside a piece', (n: number) => `app:<tenant>:kind-${n}-<id>`],
  ['differ at their end', (n: number) => `app:<tenant>.kind${n}`],
  ['differ behind a <name*>', (n: number) => `app:<path*>:kind${n}.`],
])('a thousand patterns that %s are proven apart', (_, textOf) => {
  const owners = Array.from({ length: 1000 }, (_, n) => ({ pattern: pattern(textOf(n)) }))
  expect([...overlaps(owners)]).toEqual([])
})

function eachWithEach(
  owners: readonly { index: number; pattern: Pattern }[],
): [a: number, b: number, key: string][] {
  const headOf = ({ parts: [first] }: Pattern) =>
    first !== undefined && 'literal' in first ? first.literal : ''
  const sorted = owners.toSorted(({ pattern: a }, { pattern: b }) =>
    headOf(a) < headOf(b) ? -1 : headOf(a) > headOf(b) ? 1 : 0,
  )
  return sorted.flatMap((a, index) =>
    sorted.slice(index + 1).flatMap((b): [number, number, string][] => {
      const key = overlap(a.pattern, b.pattern)
      return key === undefined ? [] : [[a.index, b.index, key]]
    }),
  )
}

function regexOf(text: string): RegExp {
  const source = text
    .replace(/[-.{}]/g, '\\$&')
    .replace(/<[^>]*\*>/g, '.+')
    .replace(/<[^>]*>/g, '[^:]+')
  return new RegExp(`^${source}$`)
}
