import { bytesCodec } from './codec.ts'

/** Bytes, untouched. */
export const bytes = bytesCodec<Buffer, Uint8Array>({
  name: 'bytes',
  total: true,
  encode(value) {
    if (!(value instanceof Uint8Array)) throw new TypeError(`${typeof value} is not bytes: give a Uint8Array`)
    return value
  },
  decode: (stored) => stored,
})
