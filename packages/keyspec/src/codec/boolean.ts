import { textCodec } from './codec.ts'

/** `true` and `false` as `1` and `0`. */
export const boolean = textCodec<boolean>({
  name: 'boolean',
  encode(value) {
    if (typeof value !== 'boolean') throw new TypeError(`a ${typeof value} is not a boolean`)
    return value ? '1' : '0'
  },
  decode(stored) {
    if (stored !== '1' && stored !== '0')
      throw new TypeError(`it is neither 1 nor 0 (${stored.length} characters)`)
    return stored === '1'
  },
})
