import { execFileSync, spawnSync } from 'node:child_process'

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { pythonDict, pythonList } from './python-codec.ts'
import { readLiteral } from './python-literal.ts'

const hasPython = spawnSync('python3', ['--version']).status === 0

const listed = (list: readonly string[]) => pythonList.encode(list) as string
const spelled = (dict: Readonly<Record<string, string>>) => pythonDict.encode(dict) as string

test('lists and dicts are written as Python and JSON both read them', () => {
  expect(listed(['12345', '12346', '12347'])).toBe('["12345", "12346", "12347"]')
  expect(listed([])).toBe('[]')
  expect(spelled({ state_key: 'a', counter_key: `it's "so"` })).toBe(
    String.raw`{"state_key": "a", "counter_key": "it's \"so\""}`,
  )
  expect(spelled({})).toBe('{}')
})

// Whole code units too, so that lone surrogates come up.
const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom("'", '"', '\\', '\n', 'x', 'é', '\ud800', '\udc00', '\u2028', '\0') }),
)

test('what is written is read back, and by JSON.parse', () => {
  fc.assert(
    fc.property(fc.array(texts), fc.dictionary(texts, texts), (list, dict) => {
      expect(pythonList.decode(listed(list) as string & Buffer)).toEqual(list)
      expect(pythonDict.decode(spelled(dict) as string & Buffer)).toEqual(dict)
      expect(JSON.parse(listed(list))).toEqual(list)
      expect(JSON.parse(spelled(dict))).toEqual(dict)
    }),
  )
})

describe.runIf(hasPython)('a Python process (needs Python 3)', () => {
  test('reads what we write, as a literal and as JSON', () => {
    const cases = fc.sample(fc.array(texts), 100)
    const dicts = fc.sample(fc.dictionary(texts, texts), 100)
    const told = python(
      `
import ast, json, sys
for line in sys.stdin:
    case = json.loads(line)
    assert ast.literal_eval(case['text']) == json.loads(case['text']) == case['value'], case
print('ok')
`,
      [
        ...cases.map((value) => ({ value, text: listed(value) })),
        ...dicts.map((value) => ({ value, text: spelled(value) })),
      ],
    )
    expect(told).toEqual(['ok'])
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
