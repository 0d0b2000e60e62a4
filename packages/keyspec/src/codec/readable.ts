import type { Codec } from './codec.ts'

/** A stored form as its codec reads it: a text, or bytes of the reader's own. */
export function readable(codec: Codec<any, any>, stored: string | Uint8Array): string | Buffer {
  if (codec.bytes)
    return Buffer.from(Uint8Array.from(typeof stored === 'string' ? Buffer.from(stored) : stored).buffer)
  if (typeof stored === 'string') return stored
  return Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength).toString()
}
