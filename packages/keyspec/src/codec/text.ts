import { ILL_FORMED } from '../pattern.ts'
import { textCodec } from './codec.ts'

/** Text as it is, in UTF-8. Lone surrogates are refused: Redis would hold another text. */
export const text = textCodec<string>({
  name: 'text',
  total: true,
  encode(value) {
    if (typeof value !== 'string') throw new TypeError(`a ${typeof value} is not text`)
    if (!value.isWellFormed()) throw new TypeError(ILL_FORMED)
    return value
  },
  decode: (stored) => stored,
})
