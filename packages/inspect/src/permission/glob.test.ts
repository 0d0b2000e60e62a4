import { expect, test } from 'vitest'
import { connected } from '../../../../test-support/connected.ts'
import { unique } from '../../../keyspec/src/testing/eventually.ts'
import { matchesGlob } from './glob.ts'

const { redis } = await connected()

const PATTERNS = [
  '*',
  '',
  'a',
  'a*',
  '*a',
  'a*b*c',
  '**a**',
  'a?c',
  '?',
  '[abc]',
  '[a-c]x',
  '[c-a]x',
  '[^a]',
  '[^a-c]*',
  '[\\]]',
  '[a\\-z]',
  'a\\*b',
  '\\?',
  'a\\',
  '[a',
  '[]',
  '[^]',
  '[a-]',
  'ü*',
]
const TEXTS = [
  'a',
  'ab',
  'abc',
  'aXbXc',
  'ax',
  'cx',
  'dx',
  ']',
  '-',
  'a*b',
  '?',
  'a\\',
  'b',
  'z',
  'über',
  'aaa',
  'xay',
  '^',
  '[',
]

test('matches what the server matches', async () => {
  const prefix = unique()
  for (const text of TEXTS) await redis.command('SET', `${prefix}${text}`, '')
  for (const pattern of PATTERNS) {
    const [, keys] = (await redis.command(
      'SCAN',
      '0',
      'MATCH',
      `${prefix}${pattern}`,
      'COUNT',
      '100000',
    )) as [string, string[]]
    const found = keys.map((key) => key.slice(prefix.length)).toSorted()
    expect(TEXTS.filter((text) => matchesGlob(pattern, text)).toSorted(), pattern).toEqual(found)
  }
})

test('takes no time without end, whatever the pattern', () => {
  const hostile = `${'*a'.repeat(500)}b`
  expect(matchesGlob(hostile, 'a'.repeat(2000))).toBe(false)
  expect(matchesGlob(`[${'\\a'.repeat(5000)}`, 'a')).toBe(true)
})
