import { SchemaError } from './errors.ts'
import type { Kind, KeySpec } from './kind/kind.ts'
import { prefixed } from './kind/entry.ts'
import { overlaps } from './overlap.ts'
import type { Pattern } from './pattern.ts'

/** A plain record of kinds; schemas nest through `mount`. */
export interface Schema {
  readonly [entry: string]: Kind | Mounted<Schema>
}

/** A schema under a prefix of its own. */
export interface Mounted<S extends Schema> {
  readonly prefix: string
  readonly schema: S
}

/** Puts a schema under a prefix, as one entry of another: `{ tutor: mount('tutor:', tutor) }` gives `keys.tutor.session`. */
export function mount<const S extends Schema>(prefix: string, schema: S): Mounted<S> {
  return { prefix, schema }
}

/** One pattern that an entry owns, with the prefixes it stands under. */
export interface Owned {
  /** The entry's path: `tutor.session`. */
  readonly entry: string
  readonly kind: Kind
  readonly spec: KeySpec
  /** The whole pattern, prefixes included. */
  readonly pattern: Pattern
  /** Whether this is an old name of the entry's keys. */
  readonly legacy: boolean
}

/** Every pattern that a schema owns, old names among them, in the order declared. */
export function* owned(schema: Schema, prefix = ''): Generator<Owned> {
  for (const { entry, kind, prefix: before } of kindsOf(schema, prefix)) {
    for (const spec of kind.keys) {
      yield { entry, kind, spec, pattern: prefixed(spec.pattern, before), legacy: false }
      for (const old of spec.was) yield { entry, kind, spec, pattern: prefixed(old, before), legacy: true }
    }
  }
}

/** Every kind of a schema, with its path and the prefix it stands under. */
function* kindsOf(
  schema: Schema,
  prefix = '',
  path = '',
): Generator<{ entry: string; kind: Kind; prefix: string }> {
  for (const [name, member] of Object.entries(schema)) {
    const entry = path === '' ? name : `${path}.${name}`
    if (isMounted(member)) yield* kindsOf(member.schema, prefix + member.prefix, entry)
    else yield { entry, kind: member, prefix }
  }
}

/** Whether a member of a schema is a mounted schema rather than a kind. */
export function isMounted(member: Kind | Mounted<Schema>): member is Mounted<Schema> {
  return 'schema' in member
}

/** What a proof needs to know of where the schema is opened. */
export interface ProofOptions {
  readonly prefix?: string
  readonly cluster?: boolean
}

/** Why a schema cannot be opened. */
export interface Conflict {
  readonly code: 'prefix' | 'overlap' | 'slots'
  readonly entry: string
  readonly pattern: string
  /** The other entry, where two are in each other's way. */
  readonly other?: string
  /** A key that both could own. */
  readonly example?: string
  readonly message: string
}

/** Everything that `prove` would throw for, one by one. */
export function* conflicts(
  schema: Schema,
  { prefix = '', cluster = false }: ProofOptions = {},
): Generator<Conflict> {
  if (/[<>]/.test(prefix)) {
    const message = `the prefix "${prefix}" is a fixed text: it cannot hold a placeholder`
    yield { code: 'prefix', entry: '', pattern: prefix, message }
    return
  }
  for (const [a, b, example] of overlaps([...owned(schema, prefix)])) {
    yield {
      code: 'overlap',
      entry: a.entry,
      pattern: a.pattern.text,
      other: b.entry,
      example,
      message: `${a.entry} ("${a.pattern.text}") and ${b.entry} ("${b.pattern.text}") could both own the key "${example}"`,
    }
  }
  if (!cluster) return
  for (const { entry, kind, prefix: before } of kindsOf(schema, prefix)) {
    const tags = new Set(kind.keys.map((spec) => prefixed(spec.pattern, before).hashTag ?? spec.pattern.text))
    if (!kind.together || tags.size < 2) continue
    const patterns = kind.keys.map((spec) => `"${spec.pattern.text}"`).join(', ')
    yield {
      code: 'slots',
      entry,
      pattern: kind.keys[0]!.pattern.text,
      message: `${entry} touches ${patterns} in one step, which a cluster allows in one slot only: give them the same {hash tag}`,
    }
  }
}

/**
 * Proves, without any I/O, that no key can belong to two entries, and for a cluster that what one verb touches stays in
 * one slot. The `SchemaError` names every conflict, with a key that both entries could own.
 */
export function prove(schema: Schema, options: ProofOptions = {}): void {
  const messages = Array.from(conflicts(schema, options), ({ message }) => message)
  if (messages.length > 0) throw new SchemaError(messages.join('\n'))
}
