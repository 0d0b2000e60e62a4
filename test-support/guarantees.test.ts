import { expect, test } from 'vitest'
import { falseAnswers } from './guarantees.ts'
import { type Ended, type Row, rows } from './measured.ts'

const rowOf = (table: string, name: string): Row =>
  rows.find((row) => row.table === table && row.name === name)!

const isFalse = (row: Row, times: number, end: Ended) =>
  falseAnswers({ open: 'steps', measured: [{ row, client: 'glide', times, ...end }] }).length > 0

const PART = Number.NaN

test('a verb of several commands may be applied in part, unless it answers that its write was applied', () => {
  const loads = rowOf('many cached', 'getOrLoad')
  expect(isFalse(loads, PART, { answers: 'the loaded value' })).toBe(false)
  expect(isFalse(loads, 2, { answers: 'the loaded value' })).toBe(true)
  const deletes = rowOf('many cached', 'delete')
  expect(isFalse(deletes, PART, { code: 'E_UNKNOWN_OUTCOME' })).toBe(false)
  expect(isFalse(deletes, PART, { answers: 'answers' })).toBe(true)
})

test('a verb of one command is applied once or not at all, whatever it answers', () => {
  const sets = rowOf('string', 'set')
  expect(isFalse(sets, PART, { code: 'E_UNKNOWN_OUTCOME' })).toBe(true)
  expect(isFalse(sets, 0, { answers: 'answers' })).toBe(true)
  expect(isFalse(sets, 1, { code: 'E_NOT_SENT' })).toBe(true)
  expect(isFalse(sets, 1, { answers: 'answers' })).toBe(false)
})
