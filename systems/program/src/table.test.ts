import { expect, test } from 'vitest'
import { table } from './table.ts'

test('a table has its numbers to the right, with commas', () => {
  const rows = [
    ['a', 1_000, '12 ms'],
    ['longer', 2, '3.5 ms'],
  ]
  expect(table(['name', 'keys', 'median'], rows)).toEqual([
    'name     keys  median',
    '──────  ─────  ──────',
    'a       1,000   12 ms',
    'longer      2  3.5 ms',
  ])
})

test('a table without rows has its heads', () => {
  expect(table(['name', 'keys'], [])).toEqual(['name  keys', '────  ────'])
})
