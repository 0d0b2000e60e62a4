import { nodeCrypto } from './builtin.ts'
import { isWrittenYear } from './calendar.ts'
import { ArgumentRangeError } from './errors.ts'
import { canonicalAddress } from './ip-address.ts'
import { ILL_FORMED, type Params } from './pattern.ts'

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

/** A UTC hour as `2024-09-17_14`, from any instant in it; reads back as the start of the hour. Years 0000 to 9999. */
const hour: ParamCodec<Date> = {
  name: 'hour',
  encode(date) {
    const iso = isoOf(date)
    return `${iso.slice(0, 10)}_${iso.slice(11, 13)}`
  },
  decode(text) {
    if (!/^\d{4}-\d\d-\d\d_\d\d$/.test(text)) return undefined
    const date = new Date(`${text.slice(0, 10)}T${text.slice(11)}:00:00Z`)
    return Number.isNaN(date.getTime()) || hour.encode(date) !== text ? undefined : date
  },
}

/** A UTC day as `2024-09-17`; reads back as its start. Years 0000 to 9999. */
const day: ParamCodec<Date> = {
  name: 'day',
  encode: (date) => isoOf(date).slice(0, 10),
  decode(text) {
    if (!/^\d{4}-\d\d-\d\d$/.test(text)) return undefined
    const date = new Date(`${text}T00:00:00Z`)
    return Number.isNaN(date.getTime()) || day.encode(date) !== text ? undefined : date
  },
}

function isoOf(date: Date): string {
  if (!(date instanceof Date) || !isWrittenYear(date))
    throw new RangeError('it is not a valid Date of the years 0000 to 9999')
  return date.toISOString()
}

/** A whole number, so that `007` or `1e3` in a key is not taken for one. */
const integer: ParamCodec<number> = {
  name: 'integer',
  encode(value) {
    if (!Number.isSafeInteger(value)) throw new RangeError('it is not a whole number within ±(2^53 − 1)')
    return String(value)
  },
  decode(text) {
    const value = Number(text)
    return Number.isSafeInteger(value) && String(value) === text ? value : undefined
  },
}

/**
 * An address of IPv4 or IPv6, as `request.socket.remoteAddress` gives it. One address has one key, however it is spelled:
 * IPv6 stands as RFC 5952 spells it, with `-` in place of `:` (`2001-db8--1`), and an IPv4-mapped address
 * (`::ffff:192.0.2.1`) as the IPv4 address. Reads back as the address.
 */
const ip: ParamCodec<string> = {
  name: 'ip',
  encode(address) {
    const canonical = typeof address === 'string' ? canonicalAddress(address) : undefined
    if (canonical === undefined) throw new RangeError('it is not an address of IPv4 or IPv6')
    return canonical.replaceAll(':', '-')
  },
  decode(text) {
    // A zone (`fe80--1%eth-0`) may have a `-` of its own.
    const zone = text.indexOf('%')
    const address =
      zone === -1 ? text.replaceAll('-', ':') : text.slice(0, zone).replaceAll('-', ':') + text.slice(zone)
    const canonical = canonicalAddress(address)
    return canonical !== undefined && canonical === address && !text.includes(':') ? canonical : undefined
  },
}

/** The text to hash, for texts whose spelling should not matter. */
export type Normalise = (text: string) => string

/**
 * The first `digits` hexadecimal digits of the SHA-256 (FIPS 180-4) of a text or of bytes. One way: a key parses to the
 * digest itself, which can be given back as `{ digest }` to address the same key. Text that is not well-formed Unicode is
 * refused, since every lone surrogate has the same bytes.
 */
function digest(
  digits = 64,
  normalise: Normalise = (text) => text,
): ParamCodec<string | Uint8Array | Digest, Digest> {
  if (!Number.isInteger(digits) || digits < 8 || digits > 64)
    throw new ArgumentRangeError('a digest has 8 to 64 hex digits')
  const shape = new RegExp(`^[0-9a-f]{${digits}}$`)
  return {
    name: `digest(${digits})`,
    encode(value) {
      if (typeof value === 'object' && 'digest' in value) {
        if (typeof value.digest !== 'string' || !shape.test(value.digest))
          throw new RangeError(`its digest is not ${digits} hexadecimal digits`)
        return value.digest
      }
      const hashed = typeof value === 'string' ? normalise(value) : value
      if (typeof hashed === 'string' ? !hashed.isWellFormed() : !(hashed instanceof Uint8Array))
        throw new TypeError(
          typeof hashed === 'string' ? ILL_FORMED : `a ${typeof hashed} is neither text nor bytes`,
        )
      const hash = nodeCrypto().createHash('sha256').update(hashed)
      return hash.digest('hex').slice(0, digits)
    },
    decode: (text) => (shape.test(text) ? { digest: text } : undefined),
  }
}

/** A hash that already is one. */
export interface Digest {
  readonly digest: string
}

/** The param codecs, in one namespace, since a codec of a value may have the same name: `param.integer`, `param.day`. */
export const param = { day, digest, hour, integer, ip } as const
