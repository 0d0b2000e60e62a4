import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeKey, escapeKey, unescapeKey } from './key-name.ts'

test.each([
  ['session:42', 'session:42'],
  ['Zürich: 東京', 'Zürich: 東京'],
  ['line\nbreak\ttab\x1b[31m', 'line\\nbreak\\ttab\\x1b[31m'],
  ['C:\\temp', 'C:\\\\temp'],
  ['right\u202eto left', 'right\\xe2\\x80\\xaeto left'],
  ['', ''],
])('%j is shown as %s', (key, text) => {
  expect(escapeKey(key)).toBe(text)
  expect(escapeKey(Buffer.from(key))).toBe(text)
})

test('bytes that are no UTF-8 are escaped one by one, and have no text', () => {
  const key = Buffer.from([0x61, 0xff, 0x00, 0x3a, 0xc3, 0x28])
  expect(escapeKey(key)).toBe('a\\xff\\x00:\\xc3(')
  expect(decodeKey(key)).toBeUndefined()
})

test('whatever is shown reads back to the same bytes', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
      ),
      (bytes) => {
        expect(unescapeKey(escapeKey(Buffer.from(bytes)))).toEqual(Buffer.from(bytes))
      },
    ),
  )
})
