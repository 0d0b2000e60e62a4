import type { Codec } from '../codec/codec.ts'
import type { Reply } from '../connection/connection.ts'
import { ArgumentTypeError } from '../errors.ts'

/** The codecs of a hash or a stream by field; `'*'` stands for every field that is not named. */
export interface FieldCodecs {
  readonly [field: string]: Codec<any, any>
}

/** Fields of any name, all of one codec: `hash('jobs', fields(json(Job)), …)`. */
export function fields<T, In>(codec: Codec<T, In>): { readonly '*': Codec<T, In> } {
  return { '*': codec }
}

/** The names that a field may have. */
export type FieldName<F> = '*' extends keyof F ? string : keyof F & string

type CodecAt<F, N> = N extends keyof F ? F[N] : F extends { readonly '*': infer C } ? C : never

/** What one reads of a field. */
export type FieldValue<F, N> = CodecAt<F, N> extends Codec<infer T, any> ? T : never

/** What one writes to a field. */
export type FieldInput<F, N> = CodecAt<F, N> extends Codec<any, infer In> ? In : never

/** What one reads: the fields that are there, since another program may have written fewer. */
export type FieldValues<F> = { readonly [N in FieldName<F>]?: FieldValue<F, N> }

/** What one writes: some of the fields; one that is `undefined` is left alone. */
export type FieldInputs<F> = { readonly [N in FieldName<F>]?: FieldInput<F, N> | undefined }

/** The fields whose values are numbers. */
export type NumberField<F> = {
  [N in FieldName<F>]: FieldInput<F, N> extends number ? N : never
}[FieldName<F>]

/** The codecs of an entry, looked up by field. */
export interface Fields {
  /** A codec among them wants bytes. */
  readonly bytes: boolean
  /** The codec of a field, or `undefined` where it is none of ours. */
  at(field: string): Codec<any, any> | undefined
  /** The same, or a `TypeError` that names the key. */
  of(key: string, field: string): Codec<any, any>
}

/** Makes the codecs of an entry ready to be looked up. */
export function fieldsOf(codecs: FieldCodecs): Fields {
  // A Map, since a field may be called `constructor`.
  const byName = new Map(Object.entries(codecs))
  const others = byName.get('*')
  const at = (field: string) => byName.get(field) ?? others
  return {
    bytes: [...byName.values()].some((codec) => codec.bytes),
    at,
    of(key, field) {
      const codec = at(field)
      if (codec !== undefined && field.isWellFormed()) return codec
      throw new ArgumentTypeError(
        `${key}: ${JSON.stringify(field)} is not a field: ${
          codec === undefined
            ? `declared are ${[...byName.keys()].join(', ')}`
            : 'it is not well-formed Unicode'
        }`,
      )
    },
  }
}

/** Field and value in turn, as HSET and XADD take them; fields that are `undefined` are left out. */
export function encodeFields(
  key: string,
  fields: Fields,
  values: { readonly [field: string]: unknown },
  encode: (codec: Codec<any, any>, value: unknown, where: string) => string | Uint8Array,
): (string | Uint8Array)[] {
  return Object.entries(values).flatMap(([field, value]) =>
    value === undefined ? [] : [field, encode(fields.of(key, field), value, whereOf(field))],
  )
}

/** The values of a flat reply of field and value in turn; fields that are none of ours are passed over. */
export function decodeFields(
  fields: Fields,
  reply: readonly Reply[],
  decode: (codec: Codec<any, any>, stored: Reply, where: string) => unknown,
): Record<string, unknown> {
  const entries: [string, unknown][] = []
  for (let at = 0; at < reply.length; at += 2) {
    const field = String(reply[at])
    const codec = fields.at(field)
    if (codec !== undefined) entries.push([field, decode(codec, reply[at + 1]!, whereOf(field))])
  }
  // Not by assignment, since a field may be called `__proto__`.
  return Object.fromEntries(entries)
}

/** A field in an error's words. */
export function whereOf(field: string): string {
  return `field ${JSON.stringify(field)}`
}
