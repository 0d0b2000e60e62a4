import { UnsupportedClientError } from 'keyspec'
import { expect, test } from 'vitest'
import { Unpacker } from './packed.ts'

test.each<[string, number[], (read: Unpacker) => unknown, string]>([
  ['a text for a number', [0xa1, 0x61], (read) => read.number(), '0xa1 where a whole number'],
  ['a number for an array', [0x01], (read) => read.array(), '0x1 where an array'],
  ['nil for a value', [0xc0], (read) => read.value(), '0xc0 where a whole number'],
  ['nothing for an array', [], (read) => read.array(), 'the end where an array'],
  ['nothing for a number', [], (read) => read.number(), 'the end where a whole number'],
  ['half a whole number', [0xcd, 1], (read) => read.number(), 'the end where 2 bytes'],
  ['half a negative number', [0xd3, 1], (read) => read.number(), 'the end where 8 bytes'],
  ['half a text', [0xa3, 0x61], (read) => read.value(), 'the end where 4 bytes'],
])('an answer with %s is an error with a code', (_, bytes, read, words) => {
  const reading = () => read(new Unpacker(Buffer.from(bytes)))
  expect(reading).toThrow(UnsupportedClientError)
  expect(reading).toThrow(words)
})
