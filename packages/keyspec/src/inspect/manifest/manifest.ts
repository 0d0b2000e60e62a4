import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Codec } from '../../codec/codec.ts'
import type { Fingerprint } from '../../kind/fingerprint.ts'
import type { KeySpec, RedisType } from '../../kind/kind.ts'
import type { Lifetime } from '../../kind/lifetime.ts'
import { owned, type Owned, type Schema } from '../../schema.ts'
import { exampleKey } from './example-key.ts'
import { type JsonSchema, standardJsonSchema } from './json-schema.ts'

/** A schema as data: all that is declared, for other programs, for documents, and to compare with a later one. */
export interface Manifest {
  /** The form of this document. */
  readonly format: 1
  /** What stands before every key; patterns are without it. */
  readonly prefix: string
  /** By their paths. */
  readonly entries: readonly ManifestEntry[]
}

/** One entry: the keys of one kind or recipe. */
export interface ManifestEntry {
  readonly entry: string
  /** Whether one verb touches several of its keys at once, so that on a cluster they share a slot. */
  readonly together: boolean
  /** Every pattern that it owns, in the order declared. */
  readonly keys: readonly ManifestKey[]
}

/** What is declared of the keys of one pattern. */
export interface ManifestKey {
  readonly pattern: string
  /** A key of this pattern, the prefix of the keyspace before it. */
  readonly example: string
  /** The patterns it had before: still read, and moved. */
  readonly was: readonly string[]
  readonly type: RedisType | 'various'
  readonly about?: string
  /** The program that writes these keys, where it is not ours. */
  readonly foreign?: { readonly by: string }
  /** The value, or each element. */
  readonly value?: ManifestValue
  /** The fields of a hash, by name; `*` for those that are not named. */
  readonly fields?: { readonly [field: string]: ManifestValue }
  readonly lifetime: Lifetime
  /** The placeholders, in the order they stand, and the codec of each; `text` where it has none. */
  readonly params: { readonly [name: string]: string }
  readonly subject?: string
  readonly owner?: string
  readonly budgetBytes?: number
  readonly evictable: boolean
  readonly fingerprint?: Fingerprint
}

/** How a value stands in Redis. */
export interface ManifestValue {
  /** The name of its codec: `json`. */
  readonly codec: string
  /** JSON Schema (2020-12) of what may be written, where a schema validates it and can say so. */
  readonly jsonSchema?: JsonSchema
  /** Why there is none, where a schema validates it and cannot say so. */
  readonly note?: string
}

/** What can be said of a manifest. */
export interface ManifestOptions {
  readonly prefix?: string
  /** The JSON Schema of a schema whose library does not offer Standard JSON Schema; may throw where there is none. */
  readonly jsonSchemaOf?: (schema: StandardSchemaV1) => JsonSchema | undefined
}

/** The manifest of a schema. The same schema gives the same manifest: it holds no date and no name of a machine. */
export function manifest(schema: Schema, { prefix = '', jsonSchemaOf }: ManifestOptions = {}): Manifest {
  const entries = new Map<string, { together: boolean; keys: ManifestKey[] }>()
  for (const each of owned(schema)) {
    if (each.legacy) continue
    const entry = entries.get(each.entry) ?? { together: each.kind.together, keys: [] }
    entries.set(each.entry, entry)
    entry.keys.push(keyOf(each, prefix, jsonSchemaOf))
  }
  return {
    format: 1,
    prefix,
    entries: [...entries]
      .map(([entry, rest]) => ({ entry, ...rest }))
      .sort((a, b) => (a.entry < b.entry ? -1 : 1)),
  }
}

function keyOf(each: Owned, prefix: string, jsonSchemaOf: ManifestOptions['jsonSchemaOf']): ManifestKey {
  const { spec, pattern } = each
  const before = pattern.text.slice(0, pattern.text.length - spec.pattern.text.length)
  return {
    pattern: pattern.text,
    example: prefix + exampleKey(pattern, spec.params),
    was: spec.was.map(({ text }) => before + text),
    type: spec.type,
    ...(spec.about === undefined ? {} : { about: spec.about }),
    ...(spec.foreign === undefined ? valuesOf(spec, jsonSchemaOf) : { foreign: { by: spec.foreign.by } }),
    lifetime: spec.lifetime,
    params: Object.fromEntries(pattern.params.map((name) => [name, spec.params[name]?.name ?? 'text'])),
    ...(spec.subject === undefined ? {} : { subject: spec.subject }),
    ...(spec.owner === undefined ? {} : { owner: spec.owner }),
    ...(spec.budgetBytes === undefined ? {} : { budgetBytes: spec.budgetBytes }),
    evictable: spec.evictable,
    ...(spec.fingerprint === undefined ? {} : { fingerprint: spec.fingerprint }),
  }
}

function valuesOf(
  { codec }: KeySpec,
  jsonSchemaOf: ManifestOptions['jsonSchemaOf'],
): Pick<ManifestKey, 'value' | 'fields'> {
  if (isCodec(codec)) return { value: valueOf(codec, jsonSchemaOf) }
  return {
    fields: Object.fromEntries(
      Object.entries(codec).map(([field, each]) => [field, valueOf(each, jsonSchemaOf)]),
    ),
  }
}

function isCodec(codec: KeySpec['codec']): codec is Codec<any, any> {
  return typeof codec['decode'] === 'function'
}

function valueOf(codec: Codec<any, any>, jsonSchemaOf: ManifestOptions['jsonSchemaOf']): ManifestValue {
  const { name, schema } = codec
  if (schema === undefined) return { codec: name }
  try {
    const described = standardJsonSchema(schema) ?? jsonSchemaOf?.(schema)
    if (described !== undefined) return { codec: name, jsonSchema: described }
    return { codec: name, note: `${schema['~standard'].vendor} offers no JSON Schema` }
  } catch (error) {
    return { codec: name, note: `no JSON Schema: ${error instanceof Error ? error.message : String(error)}` }
  }
}
