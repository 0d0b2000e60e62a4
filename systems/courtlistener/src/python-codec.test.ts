import { expect, test } from 'vitest'
import { pythonInstant } from './python-codec.ts'

const read = (text: string) => pythonInstant.decode(text as string & Buffer).toISOString()

test.each([
  ['2024-09-17T14:30:00.123456', '2024-09-17T14:30:00.123Z'],
  ['2024-09-17T14:30:00', '2024-09-17T14:30:00.000Z'],
  ['2024-09-17 14:30:00.5', '2024-09-17T14:30:00.500Z'],
  ['2024-09-17T14:30:00+02:00', '2024-09-17T12:30:00.000Z'],
  ['2024-09-17T14:30:00.123456Z', '2024-09-17T14:30:00.123Z'],
  // Seconds since 1970, as time.time() gives them.
  ['1726583400', '2024-09-17T14:30:00.000Z'],
  ['1726583400.1239', '2024-09-17T14:30:00.123Z'],
])('%s is %s', (text, instant) => {
  expect(read(text)).toBe(instant)
})

test('an instant is written as the document shows it, always with six digits', () => {
  expect(pythonInstant.encode(new Date('2024-09-17T14:30:00Z'))).toBe('2024-09-17T14:30:00.000000')
  expect(() => pythonInstant.encode(new Date(Number.NaN))).toThrow(TypeError)
})

test.each([
  '',
  'yesterday',
  'x 0',
  '2024-09-17',
  '2024-13-17T14:30:00',
  '172658',
  '1726583400s',
  '-1726583400',
])('%j is not an instant', (text) => {
  expect(() => read(text)).toThrow(/is not an ISO timestamp/)
})
