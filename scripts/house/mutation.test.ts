import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { equivalents, isBelow, judged, sampleOf, stale, upperBound } from '../mutation/judge.js'
import { mutantsOf } from '../mutation/lua-mutants.js'
import { luaMutants } from '../mutation/lua.js'
import { mutantAt } from '../mutation/mutant.js'
import { changedLines, matches, sources, staleTests, testsOf } from '../mutation/source.js'
import { typescriptMutants } from '../mutation/typescript.js'

/** The texts that the mutants of a script are. */
function texts(lua: string): string[] {
  return mutantsOf(lua).map(
    ({ start, end, replacement }) => lua.slice(0, start) + replacement + lua.slice(end),
  )
}

describe('the mutants of a script', () => {
  test.each([
    ['return a < b', ['return a <= b', 'return a >= b']],
    ['return a == b', ['return a ~= b']],
    ['return (a or b) and c', ['return (a and b) and c', 'return (a or b) or c']],
    ['return (a + b) * c', ['return (a - b) * c', 'return (a + b) / c']],
    ['return not a', ['return a']],
    ['return -1', ['return 1']],
    ['return 0', ['return 1']],
    ["return '0'", ["return '1'"]],
    ["return 'text'", ["return ''"]],
    ['return true', ['return false']],
    ['a = b', ['do end']],
    ['local a = b', []],
    ['while a do b() end', ['while false do b() end', 'while a do do end end']],
  ])('%s', (lua, mutants) => {
    expect(texts(lua).toSorted()).toEqual(mutants.toSorted())
  })

  test('a command is left out, and an option becomes its opposite, but no command another', () => {
    expect(texts("redis.call('SET', key, 'NX')").toSorted()).toEqual([
      'do end',
      "redis.call('SET', key, 'XX')",
    ])
  })

  test('a condition holds always or never, and a return within it is gone', () => {
    expect(texts('if a then return end')).toEqual([
      'if true then return end',
      'if false then return end',
      'if a then do end end',
    ])
  })

  test('every script of the library has some, and each of them is another text', () => {
    const scripts = sources([]).filter(({ file }) => file.endsWith('.lua'))
    expect(scripts.length).toBeGreaterThan(20)
    for (const { file } of scripts) {
      const lua = readFileSync(join(import.meta.dirname, '../..', file), 'utf8')
      const all = texts(lua)
      expect(all.length, file).toBeGreaterThan(2)
      expect(new Set([...all, lua]).size, file).toBe(all.length + 1)
    }
  })
})

test('every file of the scope has tests, and tests.json names none that is gone', () => {
  expect(sources([]).filter(({ file }) => testsOf(file).length === 0)).toEqual([])
  expect(staleTests()).toEqual([])
})

test('every listed mutant that changes no behaviour is still there, with a reason', async () => {
  const files = [...new Set(equivalents.map(({ file }) => file))]
  const made = [
    ...files.filter((file) => file.endsWith('.lua')).flatMap(luaMutants),
    ...(await typescriptMutants(files.filter((file) => file.endsWith('.ts')))),
  ]
  expect(stale(made)).toEqual([])
  expect(equivalents.filter(({ reason }) => reason.length < 20)).toEqual([])
})

test('a mutant is listed by its line’s text: it may move, and an entry for another line is stale', () => {
  const change = { start: 7, end: 12, replacement: 'a <= b' }
  const mutant = mutantAt('x.lua', 'return a < b', change)
  const entry = { file: 'x.lua', at: mutant.at, original: mutant.original, replacement: 'a <= b', reason: '' }
  const moved = mutantAt('x.lua', '\n  return a < b', { start: 10, end: 15, replacement: 'a <= b' })
  expect(moved.line).toBe(2)
  expect(judged([moved], [entry])).toEqual([])
  expect(stale([moved], [entry])).toEqual([])
  expect(stale([moved], [{ ...entry, at: 'return a > b' }])).toHaveLength(1)
})

test('StrykerJS makes the mutants of TypeScript, and each place is the text that it replaces', async () => {
  const file = 'packages/keyspec/src/connection/client/window.ts'
  const text = readFileSync(join(import.meta.dirname, '../..', file), 'utf8')
  const made = await typescriptMutants([file])
  expect(made.length).toBeGreaterThan(10)
  for (const { original, start, end, line } of made) {
    expect(text.slice(start, end)).toBe(original)
    expect(text.split('\n')[line - 1]).toContain(original.split('\n')[0])
  }
})

test('a diff’s changed lines are those of its new side', () => {
  const diff = '+++ b/a.ts\n@@ -1 +1,2 @@\n@@ -9,3 +8,0 @@\n@@ -20 +18 @@\n+++ b/b.ts\n@@ -1,2 +0,0 @@\n'
  expect([...changedLines(diff)]).toEqual([
    [
      'a.ts',
      [
        { first: 1, last: 2 },
        { first: 18, last: 18 },
      ],
    ],
  ])
})

test('globs match whole paths', () => {
  expect(matches('a/b/c.ts', 'a/**')).toBe(true)
  expect(matches('a/b/c.ts', 'a/*.ts')).toBe(false)
  expect(matches('a/c.ts', 'a/**/*.ts')).toBe(true)
  expect(matches('a/d.ts', 'a/{c,d}.ts')).toBe(true)
  expect(matches('a/dxts', 'a/{c,d}.ts')).toBe(false)
})

test('a sample fails only where luck does not explain its score, a whole run below the floor', () => {
  expect(isBelow(89, 100, { sample: false })).toBe(true)
  expect(isBelow(90, 100, { sample: false })).toBe(false)
  expect(isBelow(34, 40, { sample: true })).toBe(false)
  expect(isBelow(31, 40, { sample: true })).toBe(true)
  expect(isBelow(0, 0, { sample: true })).toBe(false)
  // Wilson's interval for 50 of 100, one-sided.
  expect(upperBound(50, 100)).toBeCloseTo(0.5811, 3)
})

test('a sample has whole lines, and a seed gives it again', () => {
  const text = Array.from({ length: 50 }, (_, at) => `x${at}`).join('\n')
  const mutants = Array.from({ length: 50 }, (_, at) => {
    const start = text.indexOf(`x${at}`)
    return ['y', 'z'].map((replacement) => mutantAt('x.lua', text, { start, end: start + 1, replacement }))
  }).flat()
  const sample = sampleOf(mutants, { most: 9, seed: 3 })
  expect(sample).toHaveLength(10)
  expect(sampleOf(mutants, { most: 9, seed: 3 })).toEqual(sample)
  expect(sampleOf(mutants, { most: 9, seed: 4 })).not.toEqual(sample)
  expect(new Set(sample.map(({ line }) => line)).size).toBe(5)
})

test('an option that cannot be is refused before anything is tried', () => {
  const call = (...args: string[]) =>
    spawnSync(process.execPath, ['scripts/mutation.js', ...args], {
      cwd: join(import.meta.dirname, '../..'),
      encoding: 'utf8',
    })
  expect(call('--files', 'no/such/**')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('no/such/**'),
  })
  expect(call('--since', 'no-such-ref')).toMatchObject({
    status: 1,
    stderr: 'no-such-ref is no commit of this clone.\n',
  })
  expect(call('--short', '--since', 'no-such-ref')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/no mutants are tried\.\n1 passed, 0 failed\n$/),
  })
})
