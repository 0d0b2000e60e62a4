import { SchemaError } from './errors.ts'
import type { Kind, KeySpec } from './kind/kind.ts'
import { keyReader, prefixed, wholePattern } from './kind/key-name.ts'
import { overlaps } from './overlap.ts'
import type { Pattern } from './pattern.ts'

/** A plain record of kinds; schemas nest through `mount`. */
export interface Schema {
  readonly [entry: string]: Kind | Mount<Schema>
}

/** A schema under a prefix of its own. */
export interface Mount<S extends Schema> {
  readonly prefix: string
  readonly schema: S
}

/** Puts a schema under a prefix, as one entry of another: `{ tutor: mount('tutor:', tutor) }` gives `keys.tutor.session`. */
export function mount<const S extends Schema>(prefix: string, schema: S): Mount<S> {
  return { prefix, schema }
}

/** One pattern that an entry owns, with the prefixes it stands under. */
export interface OwnedPattern {
  /** The entry's path: `tutor.session`. */
  readonly entry: string
  readonly kind: Kind
  readonly spec: KeySpec
  /** The whole pattern, prefixes included. */
  readonly pattern: Pattern
  /** Whether this is an old name of the entry's keys. */
  readonly legacy: boolean
  /** What stands before the pattern: of the keyspace, and of what it is mounted at. */
  readonly before: string
}

/**
 * Every pattern that a schema owns, old names among them, in the order declared.
 *
 * @param options `cluster`: the patterns as they are on a cluster; see `KeySpec.onCluster`.
 */
export function* patternsOf(
  schema: Schema,
  prefix = '',
  { cluster = false }: { readonly cluster?: boolean } = {},
): Generator<OwnedPattern> {
  for (const { entry, kind, prefix: before } of kindsOf(schema, prefix)) {
    for (const spec of kind.keys) {
      yield { entry, kind, spec, pattern: wholePattern(spec, before, cluster), legacy: false, before }
      for (const old of spec.renamedFrom)
        yield { entry, kind, spec, pattern: prefixed(old, before), legacy: true, before }
    }
  }
}

/** What a schema owns on one server and on a cluster: for tools that are given a key, and need not know where it is from. */
export function* ownedAnywhere(schema: Schema, prefix = ''): Generator<OwnedPattern> {
  yield* patternsOf(schema, prefix)
  for (const each of patternsOf(schema, prefix, { cluster: true })) {
    const { spec, legacy, pattern, before } = each
    if (!legacy && pattern.text !== before + spec.pattern.text) yield each
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
export function isMounted(member: Kind | Mount<Schema>): member is Mount<Schema> {
  return 'schema' in member
}

/** What a proof needs to know of where the schema is opened. */
export interface ValidateOptions {
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

/** Everything that `validate` would throw for, one by one. */
export function* conflicts(
  schema: Schema,
  { prefix = '', cluster = false }: ValidateOptions = {},
): Generator<Conflict> {
  if (/[<>]/.test(prefix)) {
    const message = `the prefix "${prefix}" is a fixed text: it cannot hold a placeholder`
    yield { code: 'prefix', entry: '', pattern: prefix, message }
    return
  }
  for (const [a, b, example] of overlaps([...patternsOf(schema, prefix, { cluster })])) {
    if (areApart(a, b, example)) continue
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
    const tagOf = ({ hashTag, text }: Pattern) => hashTag ?? text
    const tags = new Set(kind.keys.map((spec) => tagOf(wholePattern(spec, before, true))))
    const moving = kind.keys.find(
      (spec) =>
        (spec.phase === 1 || spec.phase === 2) &&
        spec.external === undefined &&
        spec.renamedFrom.some(
          (old) => tagOf(prefixed(old, before)) !== tagOf(prefixed(spec.pattern, before)),
        ),
    )
    if (
      moving !== undefined &&
      (moving.renamedFrom.length > 1 || tags.size < kind.keys.length || kind.together)
    ) {
      const why =
        moving.renamedFrom.length > 1
          ? 'a rename between slots can have one old name only: finish the older rename first'
          : 'several of its keys are touched in one step: give the old and the new patterns the same {hash tag}'
      yield {
        code: 'slots',
        entry,
        pattern: moving.pattern.text,
        message: `${entry} ("${moving.pattern.text}", was "${moving.renamedFrom[0]!.text}") would change its slot on a cluster; ${why}`,
      }
    }
    if (!kind.together || tags.size < 2) continue
    const patterns = kind.keys.map((spec) => `"${spec.pattern.text}"`).join(', ')
    const first = prefixed(kind.keys[0]!.pattern, before)
    const other = first.hashTag === undefined ? `, or put "{${first.text}}" into all but the first` : ''
    yield {
      code: 'slots',
      entry,
      pattern: kind.keys[0]!.pattern.text,
      message: `${entry} touches ${patterns} in one step, which a cluster allows in one slot only: give them the same {hash tag}${other}`,
    }
  }
}

/** Patterns of one external program may meet, if a param codec says which of them a key is: the program keeps them apart. */
function areApart(a: OwnedPattern, b: OwnedPattern, example: string): boolean {
  const { external } = a.spec
  if (external === undefined || b.spec.external?.by !== external.by) return false
  return [a, b].some(({ pattern, spec }) => keyReader(pattern, spec.params)(example) === undefined)
}

/**
 * Proves, without any I/O, that no key can belong to two entries, and for a cluster that what one verb touches stays in
 * one slot. The `SchemaError` names every conflict, with a key that both entries could own.
 */
export function validate(schema: Schema, options: ValidateOptions = {}): void {
  const messages = Array.from(conflicts(schema, options), ({ message }) => message)
  if (messages.length > 0) throw new SchemaError(messages.join('\n'))
}
