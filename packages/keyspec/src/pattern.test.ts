import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { KeyError, SchemaError } from './errors.ts'
import { pattern } from './pattern.ts'

describe('a pattern', () => {
  test('writes its placeholders and reads them back', () => {
    const job = pattern('queue:{<name>}:job:<id>')
    expect(job.params).toEqual(['name', 'id'])
    expect(job.hashTag).toBe('<name>')
    expect(job.format(['mail', '7'])).toBe('queue:{mail}:job:7')
    expect(job.parse('queue:{mail}:job:7')).toEqual(['mail', '7'])
    expect(job.parse('queue:{mail}:job:7:8')).toBeUndefined()
    expect(job.parse('queue:{mail}:job:')).toBeUndefined()
  })

  test('without placeholders is one key', () => {
    expect(pattern('last_job_id').format([])).toBe('last_job_id')
    expect(pattern('last_job_id').parse('last_job_id')).toEqual([])
    expect(pattern('last_job_id').parse('last_job_ids')).toBeUndefined()
  })

  test('gives colons to its <name*> alone, and reads what stands behind it from the right', () => {
    const start = pattern('courtlistener:task_start:<dagRunId*>:<taskId>')
    const texts = ['manual_2024-09-17T14:30:00+00:00', 'process_docket']
    const key = start.format(texts)
    expect(key).toBe('courtlistener:task_start:manual_2024-09-17T14:30:00+00:00:process_docket')
    expect(start.parse(key)).toEqual(texts)
    expect(start.parse('courtlistener:task_start:alone')).toBeUndefined()
  })

  test.each([
    ['', 'an empty value'],
    ['a:b', 'a colon'],
    ['\ud800', 'a lone surrogate'],
  ])('refuses %j: %s', (value) => {
    expect(() => pattern('session:<id>').format([value])).toThrow(KeyError)
  })

  test('refuses braces where they would change the hash tag, and takes them elsewhere', () => {
    expect(() => pattern('queue:{<name>}:<id>').format(['a', '{b}'])).toThrow(/hash tag/)
    expect(pattern('session:<id>').format(['{b}'])).toBe('session:{b}')
  })

  test('refuses a value that would parse back to another one', () => {
    const range = pattern('range:<from>-<to>')
    expect(range.parse(range.format(['a', 'b-c']))).toEqual(['a', 'b-c'])
    expect(() => range.format(['a-b', 'c'])).toThrow(/parse back/)
    const file = pattern('file:<name>.json')
    expect(file.parse(file.format(['a.json']))).toEqual(['a.json'])
  })

  test.each([
    ['', 'is empty'],
    ['a:<b', 'does not enclose'],
    ['a:b>', 'does not enclose'],
    ['a:<b<c>', 'does not enclose'],
    ['a:<>', 'name'],
    ['a:<b c>', 'name'],
    ['a:<b>:<b>', 'stands twice'],
    ['a:<constructor>', 'another name'],
    ['a:<b>:<toString>', 'another name'],
    ['a:<__proto__*>', 'another name'],
    ['a:<b><c>', '<b><c> would not parse back'],
    ['a:<b*><c>', '<b><c> would not parse back'],
    ['a:<b*>:<c*>', 'at most one'],
  ])('%j is refused when it is declared: it %s', (text, why) => {
    expect(() => pattern(text)).toThrow(SchemaError)
    expect(() => pattern(text)).toThrow(why)
  })
})

// Patterns of literals and placeholders in any order, with separators that hold a colon or not, and perhaps one star.
const literal = fc.string({
  unit: fc.constantFrom('a', 'b', '-', ':', '.', '{', '}'),
  minLength: 1,
  maxLength: 4,
})
const anyPattern = fc
  .tuple(fc.array(literal, { minLength: 1, maxLength: 4 }), fc.boolean(), fc.nat(3))
  .map(([literals, endsOpen, star]) => {
    const names = literals.map((_, index) => `<p${index}${index === star ? '*' : ''}>`)
    const text = literals.map((piece, index) => piece + names[index]).join('')
    return endsOpen ? text : `${text}z`
  })
const value = fc.string({ unit: fc.constantFrom('a', 'b', '-', ':', '.', '{', '}', 'z'), maxLength: 5 })

test('whatever a pattern writes it reads back, and whatever it reads it writes again', () => {
  let written = 0
  fc.assert(
    fc.property(anyPattern, fc.array(value, { minLength: 4, maxLength: 4 }), (text, values) => {
      const { params, format, parse } = pattern(text)
      const texts = values.slice(0, params.length)
      let key: string
      try {
        key = format(texts)
      } catch (error) {
        expect(error).toBeInstanceOf(KeyError)
        return
      }
      written += 1
      expect(parse(key)).toEqual(texts)
    }),
    { numRuns: 1500 },
  )
  expect(written).toBeGreaterThan(150)
})

test('two different lists of values never write the same key', () => {
  fc.assert(
    fc.property(anyPattern, fc.array(value, { minLength: 8, maxLength: 8 }), (text, values) => {
      const { params, format } = pattern(text)
      const [a, b] = [values.slice(0, params.length), values.slice(4, 4 + params.length)]
      fc.pre(a.join('\0') !== b.join('\0'))
      try {
        expect(format(a)).not.toBe(format(b))
      } catch (error) {
        fc.pre(!(error instanceof KeyError))
        throw error
      }
    }),
    { numRuns: 600 },
  )
})
