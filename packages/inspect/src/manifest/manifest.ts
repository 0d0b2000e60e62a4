import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Codec, KeySpec, Lifetime, Phase, Schema } from 'keyspec'
import { type Fingerprint, type OwnedPattern, patternsOf, type RedisType } from 'keyspec/extend'
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
  /** Of a recipe: the number of the form in which it keeps its data. A manifest of before the number stands for 1. */
  readonly layout?: number
  /** Every pattern that it owns, in the order declared. */
  readonly keys: readonly ManifestKey[]
}

/** What is declared of the keys of one pattern. */
export interface ManifestKey {
  readonly pattern: string
  /** A key of this pattern, the prefix of the keyspace before it. */
  readonly example: string
  /** The patterns it had before: still read, and moved. */
  readonly renamedFrom: readonly string[]
  /** How far the rename from them has come; none if there are no old names, or another program writes the keys. */
  readonly phase?: Phase
  readonly type: RedisType | 'various'
  readonly about?: string
  /** The program that writes these keys, where it is not ours. */
  readonly external?: { readonly by: string }
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
  const entries = new Map<string, { together: boolean; layout?: number; keys: ManifestKey[] }>()
  for (const each of patternsOf(schema)) {
    if (each.legacy) continue
    const { together, layout } = each.kind
    const facts = { together, ...(layout === undefined ? {} : { layout }) }
    const entry = entries.get(each.entry) ?? { ...facts, keys: [] }
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

function keyOf(
  each: OwnedPattern,
  prefix: string,
  jsonSchemaOf: ManifestOptions['jsonSchemaOf'],
): ManifestKey {
  const { spec, pattern } = each
  const before = pattern.text.slice(0, pattern.text.length - spec.pattern.text.length)
  return {
    pattern: pattern.text,
    example: prefix + exampleKey(pattern, spec.params),
    renamedFrom: spec.renamedFrom.map(({ text }) => before + text),
    ...(spec.phase === undefined || spec.external !== undefined ? {} : { phase: spec.phase }),
    type: spec.type,
    ...(spec.about === undefined ? {} : { about: spec.about }),
    ...(spec.external === undefined ? valuesOf(spec, jsonSchemaOf) : { external: { by: spec.external.by } }),
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
