import { textCodec } from './codec.ts'

/**
 * A whole number within ±(2^53 − 1), in decimal, as INCR writes it. Reads that one spelling only: `1e3`, `0x10`, `+5`,
 * `007`, `-0` and `5` with white space are refused.
 */
export const integer = textCodec<number>({
  name: 'integer',
  encode(value) {
    if (!Number.isSafeInteger(value)) throw new RangeError('it is not a whole number within ±(2^53 − 1)')
    return String(value)
  },
  decode(stored) {
    const value = Number(stored)
    if (!Number.isSafeInteger(value) || String(value) !== stored)
      throw new RangeError(
        `it is not a whole number within ±(2^53 − 1) in decimal form (${stored.length} characters)`,
      )
    return value
  },
})
