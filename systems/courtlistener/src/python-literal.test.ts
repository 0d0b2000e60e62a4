import { describe, expect, test } from 'vitest'

import { LiteralError, readLiteral, readStringDict, readStringList } from './python-literal.ts'

describe('a value in either spelling', () => {
  test.each([
    [`['12345', '12346']`, ['12345', '12346']],
    ['["12345", "12346"]', ['12345', '12346']],
    [`{'state_key': 'a:b', 'n': 1, 'x': None, 'b': True}`, { state_key: 'a:b', n: 1, x: null, b: true }],
    ['{"state_key": "a:b", "n": 1, "x": null, "b": false}', { state_key: 'a:b', n: 1, x: null, b: false }],
    [`{'a': ['b', {'c': ("d", 'e')}], 'f': []}`, { a: ['b', { c: ['d', 'e'] }], f: [] }],
    [`["it's", 'say "so"', 'it\\'s "so"']`, ["it's", 'say "so"', 'it\'s "so"']],
    [String.raw`['\x07\xe9\u2028\U0001f600\\\n']`, ['\x07é\u2028😀\\\n']],
    [String.raw`["\u00e9\ud83d\ude00\/"]`, ['é😀/']],
    ['[]', []],
    ['()', []],
    ['{}', {}],
    ["['a',]", ['a']],
    ["('a',)", ['a']],
    ["('a')", 'a'],
    ['[-1, 2.5, 1e3, .5, 3.]', [-1, 2.5, 1000, 0.5, 3]],
    ['  { 1 : 2 }\n', { 1: 2 }],
    ['[12345678901234567890]', [12345678901234567890n]],
  ])('%s is read', (text, value) => {
    expect(readLiteral(text)).toEqual(value)
  })

  test.each([
    ['', 'at 0'],
    ["['a'", 'expected , or ]'],
    ["['a' 'b']", 'expected , or ]'],
    ["['a", 'closing quote'],
    ["['a\n']", 'closing quote'],
    ["{'a'}", 'expected :'],
    ["{'a': 1 'b': 2}", 'expected , or }'],
    ["{['a']: 1}", 'a key that is no text'],
    ['[1] tail', 'follows the value'],
    ['[,]', 'neither JSON nor'],
    [String.raw`['\q']`, 'escape'],
    [String.raw`['\x4']`, 'names no character'],
    [String.raw`['\U00110000']`, 'names no character'],
    ['__import__("os")', 'neither JSON nor'],
    ['NaN', 'neither JSON nor'],
    ['['.repeat(5_000), 'nested deeper'],
  ])('%j is refused, with the place', (text, words) => {
    expect(() => readLiteral(text)).toThrow(LiteralError)
    expect(() => readLiteral(text)).toThrow(words)
  })

  test('a key of the language is a key like any other', () => {
    const value = readLiteral(`{'__proto__': 'x'}`)
    expect(Object.keys(value as object)).toEqual(['__proto__'])
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  test('JSON of any kind is read as JSON.parse reads it', () => {
    const json = JSON.stringify({ a: [1, -0.25, 1e-7, true, null, 'q"\\\u2028\ud800é'], 'b c': { '': [] } })
    expect(readLiteral(json)).toEqual(JSON.parse(json))
  })
})

test('a list of ids is read as texts, whichever way it was written', () => {
  expect(readStringList(`['1', 2, 12345678901234567890]`)).toEqual(['1', '2', '12345678901234567890'])
  expect(() => readStringList(`{'a': 'b'}`)).toThrow('expected a list, not')
  expect(() => readStringList('[None]')).toThrow('expected a list of texts')
})

test('a dict of texts is read as such', () => {
  expect(readStringDict(`{'failed_key': "it's"}`)).toEqual({ failed_key: "it's" })
  expect(() => readStringDict('[]')).toThrow('expected a dict, not')
  expect(() => readStringDict('{"a": 1}')).toThrow('expected a dict of texts')
})
