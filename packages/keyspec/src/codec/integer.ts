import { textCodec } from './codec.ts'

/** A whole number within ±(2^53 − 1), in decimal, as INCR writes it. */
export const integer = textCodec<number>({
  name: 'integer',
  encode(value) {
    if (!Number.isSafeInteger(value))
      throw new RangeError(`${String(value)} is not a whole number within ±(2^53 − 1)`)
    return String(value)
  },
  decode(stored) {
    const value = Number(stored)
    if (stored.trim() === '' || !Number.isSafeInteger(value))
      throw new RangeError(`${JSON.stringify(stored.slice(0, 40))} is not a whole number within ±(2^53 − 1)`)
    return value
  },
})
