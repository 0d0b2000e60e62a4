import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { boolean } from './boolean.ts'
import { bytes } from './bytes.ts'
import type { Codec } from './codec.ts'
import { decimal } from './decimal.ts'
import { float32 } from './float32.ts'
import { instant } from './instant.ts'
import { integer } from './integer.ts'
import { json } from './json.ts'
import { text } from './text.ts'
import { timestamp } from './timestamp.ts'

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
    ['decimal', decimal, fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)],
    ['boolean', boolean, fc.boolean()],
    ['bytes', bytes, fc.uint8Array().map((array) => Buffer.from(array))],
    // Decimal and JSON have one zero.
    ['json', json(v.any()), fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown)],
    ['instant', instant, fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-01-01') })],
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
    expect(text.decode(stored(timestamp, new Date('2024-09-17T14:30:05.999Z')))).toBe('2024-09-17 14:30:05')
    expect(roundTrip(timestamp, new Date('2024-09-17T14:30:05Z'))).toEqual(new Date('2024-09-17T14:30:05Z'))
  })
})

describe('what is not of the codec is refused on write', () => {
  test.each([
    ['text', text, 7],
    ['text', text, '\ud800'],
    ['integer', integer, 1.5],
    ['integer', integer, 2 ** 53],
    ['integer', integer, NaN],
    ['decimal', decimal, Infinity],
    ['boolean', boolean, 1],
    ['bytes', bytes, 'text'],
    ['json', json(Film), { title: 'It', year: '2017' }],
    ['json', json(v.any()), undefined],
    ['json', json(v.any()), () => {}],
    ['instant', instant, new Date(NaN)],
    ['timestamp', timestamp, '2024-09-17 14:30:05'],
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
    ['decimal', decimal, ' '],
    ['boolean', boolean, 'true'],
    ['json', json(Film), '{"title":"It"}'],
    ['json', json(Film), '{'],
    ['instant', instant, 'yesterday'],
    ['instant', instant, '1726583400'],
    ['timestamp', timestamp, '2024-09-17T14:30:05Z'],
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
  expect(read(instant, raw).toISOString()).toBe(iso)
})

test('a float32 vector is packed little-endian, as struct.pack does, and reads at any alignment', () => {
  const packed = Buffer.from('0000803f000000c000002041', 'hex')
  expect(Buffer.from(float32(3).encode([1, -2, 10]))).toEqual(packed)
  const shifted = Buffer.concat([Buffer.from([0]), packed]).subarray(1)
  const aligned = Buffer.from(new Uint8Array(packed).buffer)
  expect([...read(float32(3), shifted)]).toEqual([1, -2, 10])
  expect([...read(float32(3), aligned)]).toEqual([1, -2, 10])
})
