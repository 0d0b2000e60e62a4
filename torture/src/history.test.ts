import { expect, test } from 'vitest'
import { lineOf, parseHistory } from './history.ts'

const HISTORY = `{"n":1,"r":"ids","v":"nextMany","k":"ids","a":2,"s":10.5}
{"n":1,"e":11.25,"ok":{"first":1,"last":2}}
{"n":2,"r":"ids","v":"nextMany","k":"ids","a":1,"s":12}
{"n":3,"r":"mark","v":"get","k":"mark","s":13}
{"n":3,"e":14,"no":"E_READ_ONLY"}
{"n":2,"e":`

test('an operation without an end is unknown, as its process may have been killed', () => {
  const ops = parseHistory('a1', HISTORY)
  expect(ops.map(({ id, end, outcome }) => [id, end, Object.keys(outcome).at(-1)])).toEqual([
    ['a1#1', 11.25, 'ok'],
    ['a1#2', Infinity, 'lost'],
    ['a1#3', 14, 'no'],
  ])
})

test('an operation is reported on one line', () => {
  const [first, second] = parseHistory('a1', HISTORY)
  expect(lineOf(first!)).toBe('10.5..11.3 a1#1 ids.nextMany ids 2 -> {"first":1,"last":2}')
  expect(lineOf(second!)).toBe('12.0.. a1#2 ids.nextMany ids 1 -> lost KILLED')
})
