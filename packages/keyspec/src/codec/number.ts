import { textCodec } from './codec.ts'

// The grammar of a number in JSON (RFC 8259, section 6), which the writers of other languages keep to as well.
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * Any finite number, in the shortest decimal form that reads back as the same double; −0 is written as 0. Reads what JSON
 * allows as a number: no hexadecimal form, no leading zeros, no `+` in front, no white space.
 */
export const number = textCodec<number>({
  name: 'number',
  encode(value) {
    if (typeof value !== 'number' || !Number.isFinite(value))
      throw new RangeError('it is not a finite number')
    return String(value)
  },
  decode(stored) {
    const value = Number(stored)
    if (!Number.isFinite(value) || !NUMBER.test(stored))
      throw new RangeError(`it is not a finite number in decimal form (${stored.length} characters)`)
    return value
  },
})
