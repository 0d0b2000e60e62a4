import type { StandardSchemaV1 } from '@standard-schema/spec'

/**
 * Between a value and what Redis holds. `encode` gives text or bytes and throws on a value that is not one of its own;
 * `decode` takes text, or a `Buffer` when `bytes` is true, and throws on what it cannot read.
 */
export interface Codec<T, In = T> {
  readonly name: string
  /** Whether `decode` wants the bytes as they are instead of UTF-8 text. */
  readonly bytes: boolean
  /** Whether `decode` reads whatever is stored, so that no value can be wrong: an audit need not look at them. */
  readonly total?: boolean
  /** What validates the value, where something does: the tools describe it in JSON Schema where it can say so. */
  readonly schema?: StandardSchemaV1
  encode(value: In): string | Uint8Array
  decode(stored: string & Buffer): T
}

/** A codec over text; `decode` sees a string. */
export function textCodec<T, In = T>(codec: {
  readonly name: string
  readonly total?: boolean
  readonly schema?: StandardSchemaV1
  encode(value: In): string
  decode(stored: string): T
}): Codec<T, In> {
  return { bytes: false, ...codec }
}

/** A codec over bytes; `decode` sees a `Buffer` that is its own to keep. */
export function bytesCodec<T, In = T>(codec: {
  readonly name: string
  readonly total?: boolean
  encode(value: In): Uint8Array
  decode(stored: Buffer): T
}): Codec<T, In> {
  return { bytes: true, ...codec }
}
