import { expect, test } from 'vitest'

import { double, flag, int, times } from './argument.ts'
import {
  booleanReply,
  bytesReply,
  integerReply,
  listReply,
  textReply,
  tupleReply,
} from '../connection/reply.ts'

const forms = { nil: null, number: 1, string: 'secret', bytes: Buffer.from('secret'), 'an array': ['secret'] }

test.each([
  ['an integer', integerReply, 'number'],
  ['an integer', booleanReply, 'number'],
  ['a text', textReply, 'string'],
  ['bytes', bytesReply, 'bytes'],
  ['an array', listReply((reply) => reply), 'an array'],
  ['an array', tupleReply((reply) => reply), 'an array'],
] as const)('a reply that is not %s is refused by its form, not by its value', (wanted, decode, own) => {
  for (const [form, reply] of Object.entries(forms)) {
    if (form === own) expect(() => decode(reply)).not.toThrow()
    else
      expect(() => decode(reply)).toThrow(
        new TypeError(`the server answered ${form} where ${wanted} was expected`),
      )
  }
})

test('arguments are written as Lua reads them, and no number that is none', () => {
  expect([flag.encode(true), flag.encode(false), times.encode(undefined), times.encode(3)]).toEqual([
    '1',
    '0',
    '1',
    '3',
  ])
  expect(flag.unsaid).toBe(flag.encode(false))
  for (const number of [NaN, Infinity, -Infinity]) {
    expect(() => double.encode(number)).toThrow(
      new RangeError(`a script takes finite numbers, not ${number}`),
    )
    expect(() => int.encode(number)).toThrow(RangeError)
  }
  expect(() => int.encode(2 ** 53)).toThrow(RangeError)
  expect(double.encode(2 ** 53)).toBe('9007199254740992')
})
