import { type Codec, bytesCodec } from './codec.ts'

const LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

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
      const vector = value instanceof Float32Array ? value : single(value)
      const packed = Buffer.from(vector.buffer, vector.byteOffset, length)
      return LITTLE_ENDIAN ? packed : Buffer.from(packed).swap32()
    },
    decode(stored) {
      if (stored.length !== length) throw new RangeError(`it has ${stored.length} bytes, not ${length}`)
      if (LITTLE_ENDIAN && stored.byteOffset % 4 === 0) {
        return new Float32Array(stored.buffer, stored.byteOffset, dimensions)
      }
      // Memory of its own, which begins at an aligned place, and is not zeroed since all of it is written.
      const copy = Buffer.allocUnsafeSlow(length)
      copy.set(stored)
      if (!LITTLE_ENDIAN) copy.swap32()
      return new Float32Array(copy.buffer, copy.byteOffset, dimensions)
    },
  })
}

/** Text, a hole or a number above 3.4e38 would be packed as NaN or as infinity. */
function single(value: readonly number[]): Float32Array {
  const vector = Float32Array.from(value)
  for (let at = 0; at < vector.length; at += 1) {
    if (typeof value[at] !== 'number') throw new TypeError(`its element ${at} is not a number`)
    if (!Number.isFinite(vector[at]) && Number.isFinite(value[at]))
      throw new RangeError(`its element ${at} is beyond single precision`)
  }
  return vector
}
