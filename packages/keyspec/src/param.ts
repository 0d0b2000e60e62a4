import { nodeCrypto } from './builtin.ts'
import type { Params } from './pattern.ts'

/** How a value stands in a key: `encode` writes its text, `decode` reads it (`undefined`: not such a text). */
export interface ParamCodec<In, Out = In> {
  readonly name: string
  encode(value: In): string
  decode(text: string): Out | undefined
}

/** What a placeholder without a param codec takes. */
export type ParamText = string | number | bigint

/** The param codecs an entry may declare: one for any of its placeholders. */
export type ParamCodecs<P extends string> = { readonly [N in Params<P>]?: ParamCodec<any, any> }

/** What one writes for each placeholder of a pattern: `{ userId: string | number | bigint }`. */
export type ParamValues<P extends string, C = {}> = {
  readonly [N in Params<P>]: N extends keyof C
    ? C[N] extends ParamCodec<infer In, any>
      ? In
      : ParamText
    : ParamText
}

/** What one reads for each placeholder of a key: its text, or what its codec made of it. */
export type ParamTexts<P extends string, C = {}> = {
  readonly [N in Params<P>]: N extends keyof C
    ? C[N] extends ParamCodec<any, infer Out>
      ? Out
      : string
    : string
}

/** A UTC hour as `2024-09-17_14`, from any instant in it; reads back as the start of the hour. */
export const hour: ParamCodec<Date> = {
  name: 'hour',
  encode: (date) => `${date.toISOString().slice(0, 10)}_${date.toISOString().slice(11, 13)}`,
  decode(text) {
    if (!/^\d{4}-\d\d-\d\d_\d\d$/.test(text)) return undefined
    const date = new Date(`${text.slice(0, 10)}T${text.slice(11)}:00:00Z`)
    return Number.isNaN(date.getTime()) || hour.encode(date) !== text ? undefined : date
  },
}

/** A UTC day as `2024-09-17`; reads back as its start. */
export const day: ParamCodec<Date> = {
  name: 'day',
  encode: (date) => date.toISOString().slice(0, 10),
  decode(text) {
    if (!/^\d{4}-\d\d-\d\d$/.test(text)) return undefined
    const date = new Date(`${text}T00:00:00Z`)
    return Number.isNaN(date.getTime()) || day.encode(date) !== text ? undefined : date
  },
}

/** A whole number, so that `007` or `1e3` in a key is not taken for one. */
export const number: ParamCodec<number> = {
  name: 'number',
  encode(value) {
    if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not a whole number`)
    return String(value)
  },
  decode(text) {
    const value = Number(text)
    return Number.isSafeInteger(value) && String(value) === text ? value : undefined
  },
}

/** The text to hash, for texts whose spelling should not matter. */
export type Normalise = (text: string) => string

/**
 * The first `digits` hexadecimal digits of the SHA-256 (FIPS 180-4) of a text or of bytes. One way: a key parses to the
 * digest itself, which can be given back as `{ digest }` to address the same key.
 */
export function digest(
  digits = 64,
  normalise: Normalise = (text) => text,
): ParamCodec<string | Uint8Array | Digest, Digest> {
  if (!Number.isInteger(digits) || digits < 8 || digits > 64)
    throw new RangeError('a digest has 8 to 64 hex digits')
  const shape = new RegExp(`^[0-9a-f]{${digits}}$`)
  return {
    name: `digest(${digits})`,
    encode(value) {
      if (typeof value === 'object' && 'digest' in value) {
        if (!shape.test(value.digest))
          throw new RangeError(`${value.digest} is not ${digits} hexadecimal digits`)
        return value.digest
      }
      const hash = nodeCrypto()
        .createHash('sha256')
        .update(typeof value === 'string' ? normalise(value) : value)
      return hash.digest('hex').slice(0, digits)
    },
    decode: (text) => (shape.test(text) ? { digest: text } : undefined),
  }
}

/** A hash that already is one. */
export interface Digest {
  readonly digest: string
}
