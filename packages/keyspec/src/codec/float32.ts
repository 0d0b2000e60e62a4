import { endianness } from 'node:os'
import { type Codec, bytesCodec } from './codec.ts'

const LITTLE_ENDIAN = endianness() === 'LE'

/**
 * A vector of so many IEEE 754 single-precision numbers, packed little-endian: what Python's `struct.pack('<…f')` and
 * numpy's `<f4` write. Reading shares the reply's memory where it is aligned, and copies it where not.
 */
export function float32(dimensions: number): Codec<Float32Array, Float32Array | readonly number[]> {
  const length = dimensions * 4
  return bytesCodec<Float32Array, Float32Array | readonly number[]>({
    name: `float32(${dimensions})`,
    encode(value) {
      if (value.length !== dimensions)
        throw new RangeError(`it has ${value.length} dimensions, not ${dimensions}`)
      const vector = value instanceof Float32Array ? value : Float32Array.from(value)
      const packed = Buffer.from(vector.buffer, vector.byteOffset, length)
      return LITTLE_ENDIAN ? packed : Buffer.from(packed).swap32()
    },
    decode(stored) {
      if (stored.length !== length) throw new RangeError(`it has ${stored.length} bytes, not ${length}`)
      if (LITTLE_ENDIAN && stored.byteOffset % 4 === 0) {
        return new Float32Array(stored.buffer, stored.byteOffset, dimensions)
      }
      const copy = new Uint8Array(length)
      copy.set(stored)
      if (!LITTLE_ENDIAN) Buffer.from(copy.buffer).swap32()
      return new Float32Array(copy.buffer)
    },
  })
}
