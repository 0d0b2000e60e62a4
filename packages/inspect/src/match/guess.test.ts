import { describe, expect, test } from 'vitest'
import { generalised, Guesses, type GuessOptions, OTHER } from './guess.ts'

function guessed(keys: Iterable<string | Buffer>, options?: GuessOptions): Record<string, number> {
  const guesses = new Guesses(
    () => ({ count: 0 }),
    (into, from) => (into.count += from.count),
    options,
  )
  for (const key of keys) guesses.at(Buffer.from(key)).count += 1
  return Object.fromEntries([...guesses].map(([pattern, { count }]) => [pattern, count]))
}

test.each([
  ['42', '<n>'],
  ['123e4567-e89b-12d3-a456-426614174000', '<uuid>'],
  ['2024-09-17', '<date>'],
  ['2024-09-17_14', '<date>'],
  ['9f86d081884c7d65', '<hex>'],
  ['dGhpcyBpcyBhIHNlY3JldCAx', '<random>'],
  ['ann@example.org', '<email>'],
  ['user42', 'user<n>'],
  ['{42}', '{<n>}'],
  ['celery-task-meta-123e4567-e89b-12d3-a456-426614174000', 'celery-task-meta-<uuid>'],
  ['v2', 'v2'],
  ['feedface', 'feedface'],
  ['session', 'session'],
  ['x'.repeat(65), '<long>'],
  ['', ''],
])('%s is taken for %s', (segment, general) => {
  expect(generalised(segment)).toBe(general)
})

test('keys with ids at the same places are one pattern', () => {
  expect(guessed(['job:1', 'job:2', 'job:latest', 'a:1:b', 'a:22:b', ''])).toEqual({
    '': 1,
    'job:<n>': 2,
    'job:latest': 1,
    'a:<n>:b': 2,
  })
})

test('a place where many words stand is a placeholder, and what was known of each is added up', () => {
  const names = Array.from({ length: 26 }, (_, at) => String.fromCharCode(97 + at))
  const keys = names.flatMap((name) => [
    `cart:${name}:items`,
    `cart:${name}:total`,
    `flag:${name < 'c' ? 'a' : 'b'}`,
  ])
  const wanted = { 'cart:<name>:items': 26, 'cart:<name>:total': 26, 'flag:a': 2, 'flag:b': 24 }
  expect(guessed(keys)).toEqual(wanted)
  expect(guessed(keys.toReversed())).toEqual(wanted)
})

describe('what is kept is bounded', () => {
  test('for twenty thousand prefixes of words', () => {
    const word = (at: number) => at.toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)]!)
    const keys = Array.from({ length: 20_000 }, (_, at) => `${word(at)}:${word(at * 7)}:${at % 10}`)
    expect(guessed(keys)).toEqual({ '<name>:<name>:<n>': 20_000 })
  })

  test('for shapes without end', () => {
    const places = ['1', '2024-01-01', 'ann@example.org', '123e4567-e89b-12d3-a456-426614174000', 'word']
    const keys = Array.from({ length: 3125 }, (_, at) =>
      Array.from({ length: 5 }, (__, deep) => places[Math.floor(at / 5 ** deep) % 5]).join(':'),
    )
    const found = guessed(keys, { most: 100 })
    expect(Object.keys(found)).toHaveLength(101)
    expect(found[OTHER]).toBe(3025)
  })

  test('for keys of very many pieces', () => {
    expect(guessed([':'.repeat(10_000), `a${':b'.repeat(20)}`])).toEqual({
      '::::::::<rest>': 1,
      'a:b:b:b:b:b:b:b:<rest>': 1,
    })
  })
})

test('bytes that are no text stand for themselves, and the words beside them stay', () => {
  const bytes = Buffer.from([0x73, 0x3a, 0xff, 0xfe, 0x3a, 0x31])
  expect(guessed([bytes])).toEqual({ 's:<bytes>:<n>': 1 })
})
