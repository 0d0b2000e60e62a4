import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { day, digest, hour, number } from './param.ts'

test('an hour is written in UTC as the documents have it, and reads back as its start', () => {
  expect(hour.encode(new Date('2024-09-17T14:59:59.999Z'))).toBe('2024-09-17_14')
  expect(hour.encode(new Date('2024-09-17T23:30:00-02:00'))).toBe('2024-09-18_01')
  expect(hour.decode('2024-09-17_14')).toEqual(new Date('2024-09-17T14:00:00Z'))
})

test.each(['2024-09-17_24', '2024-13-01_00', '2024-02-30_01', '2024-09-17', 'x'])('%s is no hour', (text) => {
  expect(hour.decode(text)).toBeUndefined()
})

test('a day is written in UTC, and reads back as its start', () => {
  expect(day.encode(new Date('2024-09-17T23:59:59Z'))).toBe('2024-09-17')
  expect(day.decode('2024-09-17')).toEqual(new Date('2024-09-17T00:00:00Z'))
  expect(day.decode('2024-02-30')).toBeUndefined()
})

test('a number has one spelling only', () => {
  expect(number.encode(42)).toBe('42')
  expect(number.decode('42')).toBe(42)
  expect(['042', '4.2', '1e3', '', '99999999999999999999'].map((text) => number.decode(text))).toEqual(
    Array(5).fill(undefined),
  )
  expect(() => number.encode(4.2)).toThrow(RangeError)
})

test('a digest is the beginning of the SHA-256 of the text, and addresses the same key when given back', () => {
  const sha256 = createHash('sha256').update('It').digest('hex')
  const short = digest(16)
  expect(short.encode('It')).toBe(sha256.slice(0, 16))
  expect(short.encode(Buffer.from('It'))).toBe(sha256.slice(0, 16))
  expect(short.encode('it')).not.toBe(short.encode('It'))
  expect(short.decode(sha256.slice(0, 16))).toEqual({ digest: sha256.slice(0, 16) })
  expect(short.encode(short.decode(sha256.slice(0, 16))!)).toBe(sha256.slice(0, 16))
  expect(short.decode(sha256)).toBeUndefined()
})

test('a digest hashes the text as its rule normalises it', () => {
  const spaced = digest(16, (text) => text.trim().replace(/\s+/g, ' '))
  expect(spaced.encode('  films  about\tspace ')).toBe(spaced.encode('films about space'))
  expect(spaced.encode('It')).not.toBe(spaced.encode('it'))
})

test('a digest that is not one is refused, so that it cannot smuggle another key', () => {
  expect(() => digest(16).encode({ digest: 'x:y' })).toThrow(RangeError)
})
