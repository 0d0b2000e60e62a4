import { SchemaError } from '../../errors.ts'
import type { ParamCodec } from '../../param.ts'

/** `LastParam<'rate:<userId>:<endpoint>'>` is `'endpoint'`. */
export type LastParam<P extends string> = P extends `${string}<${infer Name}>${infer Rest}`
  ? Rest extends `${string}<${string}>${string}`
    ? LastParam<Rest>
    : Name extends `${infer Bare}*`
      ? Bare
      : Name
  : never

/** A limit for each value of a pattern's last placeholder. */
export type Limits = { readonly [value: string]: number }

/** The param codecs of a limiter: with `limits`, its last placeholder takes one of their names and nothing else. */
export type LimitedBy<P extends string, C, L extends Limits> = [keyof L] extends [never]
  ? C
  : Omit<C, LastParam<P>> & { readonly [N in LastParam<P>]: ParamCodec<keyof L & string> }

/** The codec of a placeholder that takes one of these names. */
export function oneOf(limits: Limits): ParamCodec<string> {
  const names = Object.keys(limits)
  const known = (text: string) => Object.hasOwn(limits, text)
  return {
    name: `one of ${names.join(', ')}`,
    encode(value) {
      if (!known(value)) throw new RangeError('no limit is declared for it')
      return value
    },
    decode: (text) => (known(text) ? text : undefined),
  }
}

/** Refuses a limit that is not a whole number above 0. */
export function checkLimit(pattern: string, limit: number): void {
  if (Number.isSafeInteger(limit) && limit > 0) return
  throw new SchemaError(`"${pattern}": a limit is a whole number above 0, not ${String(limit)}`)
}
