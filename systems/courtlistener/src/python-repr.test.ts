import { execFileSync, spawnSync } from 'node:child_process'

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { readLiteral } from './python-literal.ts'
import { reprDict, reprList, reprString } from './python-repr.ts'

const hasPython = spawnSync('python3', ['--version']).status === 0

test('lists and dicts are written as the document shows them', () => {
  expect(reprList(['12345', '12346', '12347'])).toBe("['12345', '12346', '12347']")
  expect(reprList([])).toBe('[]')
  expect(reprDict({ state_key: 'a', counter_key: "it's" })).toBe(`{'state_key': 'a', 'counter_key': "it's"}`)
  expect(reprDict({})).toBe('{}')
})

test.each([
  ["it's", `"it's"`],
  ['say "so"', `'say "so"'`],
  [`it's "so"`, String.raw`'it\'s "so"'`],
  ['a\\b\n\r\t\0\x7f', String.raw`'a\\b\n\r\t\x00\x7f'`],
  ['é\u00a0\u00ad\u2028\ud800', String.raw`'é\xa0\xad\u2028\ud800'`],
  ['😀\u{e0001}', String.raw`'😀\U000e0001'`],
])('%j is written %s', (text, repr) => {
  expect(reprString(text)).toBe(repr)
})

// Whole code units too, so that lone surrogates come up.
const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom("'", '"', '\\', '\n', 'x', 'é', '\ud800', '\udc00', '\u2028', '\0') }),
)

test('what is written is read back', () => {
  fc.assert(
    fc.property(fc.array(texts), fc.dictionary(texts, texts), (list, dict) => {
      expect(readLiteral(reprList(list))).toEqual(list)
      expect(readLiteral(reprDict(dict))).toEqual(dict)
    }),
  )
})

describe.runIf(hasPython)('a Python process (needs Python 3)', () => {
  test('reads what we write, and writes it the same', () => {
    const cases = fc.sample(fc.array(texts), 100)
    const dicts = fc.sample(fc.dictionary(texts, texts), 100)
    const told = python(
      `
import ast, json, sys, unicodedata
young = lambda text: any(unicodedata.category(c) == 'Cn' for c in text)
for line in sys.stdin:
    case = json.loads(line)
    assert ast.literal_eval(case['repr']) == case['value'], case
    # What this Python's tables do not know yet, it escapes.
    assert young(str(case['repr'])) or repr(case['value']) == case['repr'], (repr(case['value']), case)
print('ok')
`,
      [
        ...cases.map((value) => ({ value, repr: reprList(value) })),
        // A JavaScript object puts keys that are whole numbers first, whatever their order was.
        ...dicts.map((value) => ({ value, repr: reprDict(value) })),
      ],
    )
    expect(told).toEqual(['ok'])
  })

  test('escapes the same characters, all over Unicode as far as it knows it', { timeout: 120_000 }, () => {
    // All of the first two planes, and a part of each other that holds anything.
    const blocks = [...Array(0x20).keys(), 0x20, 0x2b, 0x31, 0xe0, 0xf0, 0x10f].map((block) => block * 0x1000)
    const lines = blocks.map((start) => ({
      start,
      reprs: Array.from({ length: 0x1000 }, (_, nth) => reprString(String.fromCodePoint(start + nth))).join(
        ' ',
      ),
    }))
    const different = python(
      `
import json, sys, unicodedata
for line in sys.stdin:
    block = json.loads(line)
    chars = [chr(block['start'] + nth) for nth in range(0x1000)]
    ours, theirs = block['reprs'], ' '.join(map(repr, chars))
    if ours != theirs:
        for char in chars:
            if unicodedata.category(char) != 'Cn' and repr(char) not in ours:
                print(repr(char))
`,
      lines,
    )
    expect(different).toEqual([])
  })

  test('is read by us: nested values, as its repr writes them', () => {
    const values = fc.sample(
      fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }).filter((value) => !hasOtherNumber(value)),
      100,
    )
    const reprs = python(
      'import json, sys\nfor line in sys.stdin: print(json.dumps(repr(json.loads(line))))',
      values,
    )
    expect(reprs.map((repr) => readLiteral(JSON.parse(repr) as string))).toEqual(values)
  })
})

function python(program: string, lines: readonly unknown[]): string[] {
  const input = lines.map((line) => JSON.stringify(line)).join('\n')
  const env = { ...process.env, PYTHONIOENCODING: 'utf-8:surrogatepass' }
  const output = execFileSync('python3', ['-c', program], { input, env, maxBuffer: 1 << 28 })
  return output.toString('utf8').split('\n').filter(Boolean)
}

// -0 never reaches Python, since JSON.stringify writes it as 0, and a whole number beyond 2^53 comes back as a bigint.
function hasOtherNumber(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(hasOtherNumber)
  return Object.is(value, -0) || (Number.isInteger(value) && !Number.isSafeInteger(value))
}
