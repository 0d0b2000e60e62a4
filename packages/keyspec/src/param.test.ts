import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { param } from './param.ts'

test('an hour is written in UTC as the documents have it, and reads back as its start', () => {
  expect(param.hour.encode(new Date('2024-09-17T14:59:59.999Z'))).toBe('2024-09-17_14')
  expect(param.hour.encode(new Date('2024-09-17T23:30:00-02:00'))).toBe('2024-09-18_01')
  expect(param.hour.decode('2024-09-17_14')).toEqual(new Date('2024-09-17T14:00:00Z'))
})

test.each(['2024-09-17_24', '2024-13-01_00', '2024-02-30_01', '2024-09-17', 'x'])('%s is no hour', (text) => {
  expect(param.hour.decode(text)).toBeUndefined()
})

test('a day is written in UTC, and reads back as its start', () => {
  expect(param.day.encode(new Date('2024-09-17T23:59:59Z'))).toBe('2024-09-17')
  expect(param.day.decode('2024-09-17')).toEqual(new Date('2024-09-17T00:00:00Z'))
  expect(param.day.decode('2024-02-30')).toBeUndefined()
})

test('a number has one spelling only', () => {
  expect(param.integer.encode(42)).toBe('42')
  expect(param.integer.decode('42')).toBe(42)
  expect(['042', '4.2', '1e3', '', '99999999999999999999'].map((text) => param.integer.decode(text))).toEqual(
    Array(5).fill(undefined),
  )
  expect(() => param.integer.encode(4.2)).toThrow(RangeError)
})

test('a digest is the beginning of the SHA-256 of the text, and addresses the same key when given back', () => {
  const sha256 = createHash('sha256').update('It').digest('hex')
  const short = param.digest(16)
  expect(short.encode('It')).toBe(sha256.slice(0, 16))
  expect(short.encode(Buffer.from('It'))).toBe(sha256.slice(0, 16))
  expect(short.encode('it')).not.toBe(short.encode('It'))
  expect(short.decode(sha256.slice(0, 16))).toEqual({ digest: sha256.slice(0, 16) })
  expect(short.encode(short.decode(sha256.slice(0, 16))!)).toBe(sha256.slice(0, 16))
  expect(short.decode(sha256)).toBeUndefined()
})

test('a digest hashes the text as its rule normalises it', () => {
  const spaced = param.digest(16, (text) => text.trim().replace(/\s+/g, ' '))
  expect(spaced.encode('  films  about\tspace ')).toBe(spaced.encode('films about space'))
  expect(spaced.encode('It')).not.toBe(spaced.encode('it'))
})

test('a digest that is not one is refused, so that it cannot smuggle another key', () => {
  expect(() => param.digest(16).encode({ digest: 'x:y' })).toThrow(RangeError)
})

test('a digest tells all code units apart, or refuses them', () => {
  const seen = new Map<string, number>()
  for (let unit = 0; unit <= 0xffff; unit += 1) {
    const text = String.fromCharCode(unit)
    if (!text.isWellFormed()) {
      expect(() => param.digest(16).encode(text)).toThrow(TypeError)
      continue
    }
    const hashed = param.digest(16).encode(text)
    expect(seen.get(hashed), `unit ${unit}`).toBeUndefined()
    seen.set(hashed, unit)
  }
})

test.each([
  ['a number', 7],
  ['a list', [1]],
  ['a digest of another length', { digest: 'x' }],
  ['a digest that is no text', { digest: 7 }],
])('a digest refuses %s', (_name, value) => {
  expect(() => param.digest(16).encode(value as never)).toThrow()
})

test.each([
  ['hour', param.hour, 3_600_000],
  ['day', param.day, 86_400_000],
])(
  'two dates have one %s only if they lie in the same one, and it reads back as its start',
  (_name, codec, ms) => {
    const written = (date: Date) => {
      try {
        return codec.encode(date)
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError)
        return undefined
      }
    }
    const startOf = (date: Date) => Math.floor(date.getTime() / ms) * ms
    fc.assert(
      fc.property(fc.date(), fc.date(), (one, other) => {
        const [first, second] = [written(one), written(other)]
        const year = one.getUTCFullYear()
        expect(first !== undefined).toBe(year >= 0 && year <= 9999)
        if (first === undefined) return
        expect(codec.decode(first)!.getTime()).toBe(startOf(one))
        expect(first === second).toBe(startOf(one) === startOf(other))
      }),
      { numRuns: 2000 },
    )
  },
)

test.each(['2024-09-17', new Date(NaN), new Date(8.64e15), new Date(-62_167_219_200_001), undefined])(
  '%s is no hour and no day',
  (value) => {
    expect(() => param.hour.encode(value as Date)).toThrow(RangeError)
    expect(() => param.day.encode(value as Date)).toThrow(RangeError)
  },
)

test.each([
  ['192.0.2.1', '192.0.2.1', '192.0.2.1'],
  ['::1', '--1', '::1'],
  ['::', '--', '::'],
  ['2001:DB8::0001', '2001-db8--1', '2001:db8::1'],
  ['2001:db8:0:0:1:0:0:1', '2001-db8--1-0-0-1', '2001:db8::1:0:0:1'],
  ['2001:db8:0:1:1:1:1:1', '2001-db8-0-1-1-1-1-1', '2001:db8:0:1:1:1:1:1'],
  ['1::', '1--', '1::'],
  ['::ffff:192.0.2.1', '192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:0201', '192.0.2.1', '192.0.2.1'],
  ['64:ff9b::192.0.2.1', '64-ff9b--c000-201', '64:ff9b::c000:201'],
  ['fe80::1%eth-0', 'fe80--1%eth-0', 'fe80::1%eth-0'],
])('the address %s stands as %s and reads as %s', (address, text, back) => {
  expect(param.ip.encode(address)).toBe(text)
  expect(param.ip.decode(text)).toBe(back)
})

test.each([
  '',
  'x',
  '1.2.3',
  '01.2.3.4',
  '256.1.1.1',
  '1:2:3',
  ':::',
  '1::2::3',
  '12345::',
  '1:2:3:4:5:6:7:8:9',
  '::1.2.3',
  '1.2.3.4:80',
  '[::1]',
  '::1\n',
  '1:2:3:4:5:6:7::8:9',
  7,
])('%j is no address', (address) => {
  expect(() => param.ip.encode(address as string)).toThrow(RangeError)
})

test.each(['2001-DB8--1', '2001-db8-0-0-0-0-0-1', '::1', '--ffff-192.0.2.1', '-1', 'localhost'])(
  '%s is no address as a key holds it',
  (text) => {
    expect(param.ip.decode(text)).toBeUndefined()
  },
)

test('any address has one text, that reads back as the same address, whatever its spelling', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
      const text = param.ip.encode(address)
      expect(text).not.toContain(':')
      const back = param.ip.decode(text)!
      expect(param.ip.encode(back)).toBe(text)
      expect(new URL(`http://${back.includes(':') ? `[${back}]` : back}`).hostname).toBe(
        back.includes(':') ? `[${back}]` : back,
      )
      expect(param.ip.encode(address.toUpperCase())).toBe(text)
    }),
    { numRuns: 1000 },
  )
})
