import { expect, test } from 'vitest'
import { coloured } from '../terminal/paint.ts'
import { table } from './table.ts'
import { bytes, count, counted, time } from './units.ts'

test.each<[string, string]>([
  [bytes(0), '0 B'],
  [bytes(1023), '1023 B'],
  [bytes(1024), '1.0 KB'],
  [bytes(10 * 1024), '10 KB'],
  [bytes(1024 ** 2 - 1), '1.0 MB'],
  [bytes(1.5 * 1024 ** 3), '1.5 GB'],
  [count(1_234_567.4), '1,234,567'],
  [counted(1, 'key'), '1 key'],
  [counted(0, 'key'), '0 keys'],
  [time(0), '0 ms'],
  [time(999), '999 ms'],
  [time(59_600), '1 min'],
  [time(90_000), '1 min 30 s'],
  [time(5_400_000), '1 h 30 min'],
  [time(86_400_000 * 30), '30 d'],
])('units: %s', (shown, expected) => {
  expect(shown).toBe(expected)
})

test('columns are aligned, numbers to the right, and colours take no room', () => {
  const paint = coloured(true)
  const shown = table(
    [{ head: 'entry' }, { head: 'keys', right: true }],
    [
      [paint.red('a'), '1'],
      ['long', '1,000'],
    ],
    paint,
  )
  expect(shown.split('\n').slice(1)).toEqual([`${paint.red('a')}          1`, 'long   1,000'])
})
