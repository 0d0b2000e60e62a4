import type { Codec } from './codec.ts'

/** Decodes a stored form, be it text or bytes, by its codec; throws what the codec throws. */
export function decodeStored<T>(codec: Codec<T, any>, stored: string | Buffer): T {
  return codec.decode((codec.bytes ? stored : String(stored)) as string & Buffer)
}

/** A stored form as its codec reads it: a text, or bytes of the reader's own. */
export function readable(codec: Codec<any, any>, stored: string | Uint8Array): string | Buffer {
  if (codec.bytes)
    return Buffer.from(Uint8Array.from(typeof stored === 'string' ? Buffer.from(stored) : stored).buffer)
  if (typeof stored === 'string') return stored
  return Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength).toString()
}
