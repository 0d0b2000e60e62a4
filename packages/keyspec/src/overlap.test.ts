import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { overlap, overlaps } from './overlap.ts'
import { pattern } from './pattern.ts'

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

test('the conflicts among many patterns are those that pairs have', () => {
  fc.assert(
    fc.property(fc.array(anyPattern, { maxLength: 12 }), (texts) => {
      const owners = texts.map((text, index) => ({ index, pattern: pattern(text) }))
      const found = new Set(
        [...overlaps(owners)].map(([a, b]) => [a.index, b.index].sort((x, y) => x - y).join()),
      )
      const wanted = new Set<string>()
      for (const a of owners) {
        for (const b of owners) {
          if (a.index < b.index && overlap(a.pattern, b.pattern) !== undefined)
            wanted.add(`${a.index},${b.index}`)
        }
      }
      expect(found).toEqual(wanted)
    }),
  )
})

function regexOf(text: string): RegExp {
  const source = text
    .replace(/[-.{}]/g, '\\$&')
    .replace(/<[^>]*\*>/g, '.+')
    .replace(/<[^>]*>/g, '[^:]+')
  return new RegExp(`^${source}$`)
}
