import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { boolean } from './boolean.ts'
import { bytes } from './bytes.ts'
import type { Codec } from './codec.ts'
import { number } from './number.ts'
import { float32 } from './float32.ts'
import { isoDate } from './iso-date.ts'
import { integer } from './integer.ts'
import { json } from './json.ts'
import { text } from './text.ts'
import { sqlDate } from './sql-date.ts'

const Film = v.object({ title: v.string(), year: v.pipe(v.number(), v.integer()) })

/** What Redis would hand back: text as UTF-8 would carry it, or the bytes. */
function stored<T, In>(codec: Codec<T, In>, value: In): string & Buffer {
  const bytes = Buffer.from(codec.encode(value) as string)
  return (codec.bytes ? bytes : bytes.toString()) as string & Buffer
}
const roundTrip = <T, In>(codec: Codec<T, In>, value: In) => codec.decode(stored(codec, value))
const read = <T>(codec: Codec<T, never>, raw: string | Buffer) => codec.decode(raw as string & Buffer)

describe('what is written reads back', () => {
  test.each([
    ['text', text, fc.string({ unit: 'grapheme' })],
    ['integer', integer, fc.maxSafeInteger()],
    ['number', number, fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)],
    ['boolean', boolean, fc.boolean()],
    ['bytes', bytes, fc.uint8Array().map((array) => Buffer.from(array))],
    // Decimal and JSON have one zero.
    ['json', json(v.any()), fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown)],
    ['isoDate', isoDate, fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-01-01') })],
    ['float32', float32(3), fc.float32Array({ minLength: 3, maxLength: 3 })],
  ] as [string, Codec<any>, fc.Arbitrary<unknown>][])('%s', (_name, codec, values) => {
    fc.assert(
      fc.property(values, (value) => {
        expect(roundTrip(codec, value)).toEqual(value)
      }),
      { numRuns: 200 },
    )
  })

  test('timestamp, to the second', () => {
    expect(text.decode(stored(sqlDate, new Date('2024-09-17T14:30:05.999Z')))).toBe('2024-09-17 14:30:05')
    expect(roundTrip(sqlDate, new Date('2024-09-17T14:30:05Z'))).toEqual(new Date('2024-09-17T14:30:05Z'))
  })
})

describe('what is not of the codec is refused on write', () => {
  test.each([
    ['text', text, 7],
    ['text', text, '\ud800'],
    ['integer', integer, 1.5],
    ['integer', integer, 2 ** 53],
    ['integer', integer, NaN],
    ['number', number, Infinity],
    ['boolean', boolean, 1],
    ['bytes', bytes, 'text'],
    ['json', json(Film), { title: 'It', year: '2017' }],
    ['json', json(v.any()), undefined],
    ['json', json(v.any()), () => {}],
    ['isoDate', isoDate, new Date(NaN)],
    ['sqlDate', sqlDate, '2024-09-17 14:30:05'],
    ['float32', float32(3), [1, 2]],
  ] as [string, Codec<any>, unknown][])('%s: %j', (_name, codec, value) => {
    expect(() => codec.encode(value)).toThrow()
  })
})

describe('what is not of the codec is refused on read', () => {
  test.each([
    ['integer', integer, ''],
    ['integer', integer, '1.5'],
    ['integer', integer, '9007199254740993'],
    ['integer', integer, 'seven'],
    ['number', number, ' '],
    ['boolean', boolean, 'true'],
    ['json', json(Film), '{"title":"It"}'],
    ['json', json(Film), '{'],
    ['isoDate', isoDate, 'yesterday'],
    ['isoDate', isoDate, '1726583400'],
    ['sqlDate', sqlDate, '2024-09-17T14:30:05Z'],
    ['float32', float32(3), Buffer.alloc(11)],
  ] as [string, Codec<any, never>, string | Buffer][])('%s: %j', (_name, codec, raw) => {
    expect(() => read(codec, raw)).toThrow()
  })
})

test.each([
  ['valibot', json(Film)],
  ['zod', json(z.object({ title: z.string(), year: z.int() }))],
])('json says where a %s schema was broken', (_name, codec) => {
  expect(() => codec.encode({ title: 'It', year: '2017' } as never)).toThrow(/year: /)
})

test('json answers what the schema makes of a stored value, and stores the value as given', () => {
  const codec = json(
    v.object({
      at: v.pipe(
        v.string(),
        v.transform((iso) => new Date(iso)),
      ),
    }),
  )
  expect(codec.encode({ at: '2024-09-17T14:30:00Z' })).toBe('{"at":"2024-09-17T14:30:00Z"}')
  expect(read(codec, '{"at":"2024-09-17T14:30:00Z"}')).toEqual({ at: new Date('2024-09-17T14:30:00Z') })
})

test('json refuses a schema that would make it wait', () => {
  const slow = v.pipeAsync(
    v.string(),
    v.checkAsync(async () => true),
  )
  expect(() => json(slow as never).encode('a' as never)).toThrow(/asynchronously/)
})

test.each([
  ['2024-09-17T14:30:00.123456', '2024-09-17T14:30:00.123Z'],
  ['2024-09-17T14:30:00', '2024-09-17T14:30:00.000Z'],
  ['2024-09-17T16:30:00+02:00', '2024-09-17T14:30:00.000Z'],
  ['2024-09-17T14:30:00Z', '2024-09-17T14:30:00.000Z'],
])('an instant reads %s, whatever zone this machine is in', (raw, iso) => {
  expect(read(isoDate, raw).toISOString()).toBe(iso)
})

test('a float32 vector is packed little-endian, as struct.pack does, and reads at any alignment', () => {
  const packed = Buffer.from('0000803f000000c000002041', 'hex')
  expect(Buffer.from(float32(3).encode([1, -2, 10]))).toEqual(packed)
  const shifted = Buffer.concat([Buffer.from([0]), packed]).subarray(1)
  const aligned = Buffer.from(new Uint8Array(packed).buffer)
  expect([...read(float32(3), shifted)]).toEqual([1, -2, 10])
  expect([...read(float32(3), aligned)]).toEqual([1, -2, 10])
})

describe('a codec has one spelling for a value, and refuses all others', () => {
  test.each([
    '0x10',
    '1e3',
    '5\n',
    ' 5',
    '+5',
    '007',
    '-0',
    '00',
    '1.0',
    '1_000',
    '٣',
    '',
    '-',
    '9007199254740992',
  ])('integer refuses %j', (raw) => {
    expect(() => read(integer, raw)).toThrow(RangeError)
  })

  test.each([
    '0x10',
    '5\n',
    ' 5',
    '+5',
    '007',
    '-007',
    '.5',
    '5.',
    '1e',
    'Infinity',
    'NaN',
    '1e400',
    '0b1',
    '',
  ])('decimal refuses %j', (raw) => {
    expect(() => read(number, raw)).toThrow(RangeError)
  })

  test.each(['1.0', '1e-07', '-2.5E+10', '-0', '1e16', '0.1'])(
    'decimal reads %j, as other languages write',
    (raw) => {
      expect(read(number, raw)).toBe(Number(raw))
    },
  )

  test.each(['true', '01', '1\n', '', '２'])('boolean refuses %j', (raw) => {
    expect(() => read(boolean, raw)).toThrow(TypeError)
  })

  test('whatever text integer, boolean and timestamp read, they would write', () => {
    const likely = fc.stringMatching(/^[-+ \d.:eExT\n]{0,20}$/)
    const codecs = [integer, boolean, sqlDate] as Codec<any>[]
    fc.assert(
      fc.property(fc.oneof(likely, fc.string()), fc.constantFrom(...codecs), (raw, codec) => {
        let value: unknown
        try {
          value = codec.decode(raw as string & Buffer)
        } catch {
          return
        }
        expect(codec.encode(value)).toBe(raw)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('times are days of the calendar', () => {
  const days = [
    '2024-02-31',
    '2023-02-29',
    '2024-04-31',
    '2024-13-01',
    '2024-00-10',
    '2024-01-00',
    '2024-01-32',
  ]
  test.each(days)('%s is none', (day) => {
    expect(() => read(sqlDate, `${day} 10:00:00`)).toThrow(TypeError)
    for (const rest of ['', 'T10:00', 'T10:00:00Z', ' 10:00:00+00:00']) {
      expect(() => read(isoDate, day + rest)).toThrow(TypeError)
    }
  })

  test.each([
    '2024-01-01T24:00:00Z',
    '2024-01-01T10:60:00Z',
    '2024-01-01T10:00:60Z',
    '2024-01-01T10:00:00+24:00',
    '2024-01-01T10:00:00+01:60',
    '2024-01-01Z',
    '+002024-01-01T10:00:00Z',
    '2024-01-01T10:00:00Z\n',
    '9999-12-31T23:59:59-01:00',
  ])('instant refuses %j', (raw) => {
    expect(() => read(isoDate, raw)).toThrow(TypeError)
  })

  test.each(['2024-01-01 24:00:00', '2024-01-01 23:59:60', '2024-01-01 10:00:00\n', '2024-01-01T10:00:00'])(
    'timestamp refuses %j',
    (raw) => {
      expect(() => read(sqlDate, raw)).toThrow(TypeError)
    },
  )

  test('any date is written so that it reads back, or refused', () => {
    fc.assert(
      fc.property(fc.date(), (date) => {
        const year = date.getUTCFullYear()
        if (!(year >= 0 && year <= 9999)) {
          expect(() => isoDate.encode(date)).toThrow(TypeError)
          expect(() => sqlDate.encode(date)).toThrow(TypeError)
          return
        }
        expect(roundTrip(isoDate, date)).toEqual(date)
        expect(roundTrip(sqlDate, date).getTime()).toBe(Math.floor(date.getTime() / 1000) * 1000)
      }),
      { numRuns: 1000 },
    )
  })

  test.each([
    ['2024-02-29T10:00:00.123456+00:00', '2024-02-29T10:00:00.123Z'],
    ['2024-02-29 10:00:00.5-0530', '2024-02-29T15:30:00.500Z'],
    ['2024-02-29t10:00z', '2024-02-29T10:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00', '0001-01-01T00:00:00.000Z'],
  ])('an instant reads %s, as Python writes it', (raw, iso) => {
    expect(read(isoDate, raw).toISOString()).toBe(iso)
  })
})

describe('json writes nothing that it could not read back', () => {
  test.each([
    ['NaN', v.nan(), NaN],
    ['infinity', v.number(), Infinity],
    ['a number deep inside', v.any(), { a: [{ b: -Infinity }] }],
    ['undefined in an array', v.any(), [1, undefined]],
    ['a hole in an array', v.any(), Array(2)],
    ['a function as a property', v.any(), { now: () => 1 }],
    ['a symbol', v.any(), { now: Symbol('x') }],
    ['a bigint', v.any(), { big: 1n }],
    ['a Map', v.any(), { map: new Map([[1, 2]]) }],
    ['a Set', v.any(), new Set([1])],
    ['a typed array', v.any(), new Float32Array(2)],
    ['a Date where the schema wants a Date', v.object({ at: v.date() }), { at: new Date(0) }],
    ['an invalid Date', v.any(), { at: new Date(NaN) }],
    ['undefined where the schema wants the property', v.object({ a: v.undefined() }), { a: undefined }],
  ] as [string, v.GenericSchema, unknown][])('%s', (_name, schema, value) => {
    expect(() => json(schema).encode(value)).toThrow(TypeError)
  })

  test('a Date where the schema wants its text, an optional property and a plain object of a class are written', () => {
    class Point {
      x = 1
    }
    expect(json(v.any()).encode({ at: new Date(0) })).toBe('{"at":"1970-01-01T00:00:00.000Z"}')
    expect(json(v.object({ a: v.optional(v.number()) })).encode({ a: undefined })).toBe('{}')
    expect(json(v.object({ x: v.number() })).encode(new Point())).toBe('{"x":1}')
    expect(json(v.number()).encode(-0)).toBe('0')
  })

  test('whatever it writes of any value, it reads back alike, −0 and absent properties aside', () => {
    const codec = json(v.any())
    const values = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withNullPrototype: true,
      withSparseArray: true,
    })
    fc.assert(
      fc.property(values, (value) => {
        let written: string
        try {
          written = codec.encode(value) as string
        } catch {
          return
        }
        const back = codec.decode(written as string & Buffer) as unknown
        expect(codec.encode(back)).toBe(written)
        expect(JSON.stringify(back)).toBe(JSON.stringify(value))
      }),
      { numRuns: 1000 },
    )
  })

  test('a vector takes numbers within single precision alone', () => {
    expect(() => float32(2).encode([1, '2' as never])).toThrow(TypeError)
    expect(() => float32(2).encode([1, 1e39])).toThrow(RangeError)
    expect(() => float32(2).encode(Array(2) as number[])).toThrow(TypeError)
  })
})

test('no text with a lone surrogate is text, at any place of it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffff }), fc.string(), fc.string(), (unit, before, after) => {
      const given = before + String.fromCharCode(unit) + after
      if (given.isWellFormed()) expect(roundTrip(text, given)).toBe(given)
      else expect(() => text.encode(given)).toThrow(TypeError)
    }),
    { numRuns: 2000 },
  )
})
