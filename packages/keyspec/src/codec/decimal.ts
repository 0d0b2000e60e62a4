import { textCodec } from './codec.ts'

/** Any finite number, in the shortest decimal form that reads back as the same double. */
export const decimal = textCodec<number>({
  name: 'decimal',
  encode(value) {
    if (!Number.isFinite(value)) throw new RangeError(`${String(value)} is not a finite number`)
    return String(value)
  },
  decode(stored) {
    const value = Number(stored)
    if (stored.trim() === '' || !Number.isFinite(value))
      throw new RangeError(`${JSON.stringify(stored.slice(0, 40))} is not a finite number`)
    return value
  },
})
