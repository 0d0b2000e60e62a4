import type { Codec } from '../codec/codec.ts'
import type { Connection, Subscriber } from '../connection/connection.ts'
import type { Watch } from '../connection/tracking/invalidations-watch.ts'
import type { Replicating } from '../connection/replication.ts'
import type { ParamCodec, ParamCodecs } from '../param.ts'
import { type Params, type Pattern, pattern as parsePattern, requireSamePlaceholders } from '../pattern.ts'
import { SchemaError } from '../errors.ts'
import type { RedisType } from '../script/proof.ts'
import { bytesIn, type Size } from '../size.ts'
import { type Fingerprint, fingerprintOf, type FingerprintOptions } from './fingerprint.ts'
import { type Lifetime, type LifetimeOptions, lifetime } from './lifetime.ts'

export type { RedisType } from '../script/proof.ts'

/** What a program that is not ours keeps at one of its keys. */
export interface ExternalKey {
  readonly type: RedisType
  /** In a few words: `waiting jobs`. */
  readonly about: string
}

/** Whose the keys of a pattern are, where another program writes them. */
export interface External {
  /** The program: `BullMQ`. */
  readonly by: string
  /** What it keeps at the key with these values of the placeholders, or `undefined` where it is known to keep nothing. */
  describe(texts: readonly string[]): ExternalKey | undefined
}

/** How a key disagrees with the other keys of its entry: in fixed words that name no value, and by how many. */
export interface Disagreement {
  readonly detail: string
  readonly amount: number
}

/** What is declared of the keys of one pattern: all that the tools look at. Patterns are without the keyspace's prefix. */
export interface KeySpec {
  readonly pattern: Pattern
  /**
   * The whole pattern of these keys on a cluster, from what stands before it; for keys that must share the slot of another
   * key, which only its whole name decides.
   */
  readonly onCluster?: (before: string) => Pattern
  /** `various` only for keys of another program, which `external` tells apart. */
  readonly type: RedisType | 'various'
  /** Declared so that the tools know them, and written by nothing of ours. */
  readonly external?: External
  /** The codec of the value, of each element, or of each field by name; `'*'` for fields that are not named. */
  readonly codec: Codec<any, any> | { readonly [field: string]: Codec<any, any> }
  readonly lifetime: Lifetime
  readonly params: { readonly [name: string]: ParamCodec<any, any> }
  /** The patterns it had before. */
  readonly renamedFrom: readonly Pattern[]
  /** How far the rename from those patterns has come; `undefined` if there are none. */
  readonly phase?: Phase | undefined
  readonly about: string | undefined
  /** The placeholder that stands for a person. */
  readonly subject: string | undefined
  /** Who answers for these keys. */
  readonly owner?: string | undefined
  /** How much memory one key may take, in bytes. */
  readonly budgetBytes?: number | undefined
  /** Whether the server may evict these keys when its memory is full; not where the loss of one breaks a promise. */
  readonly evictable: boolean
  /** What the values depend on, beside what they are made from. */
  readonly fingerprint?: Fingerprint | undefined
  /**
   * Compares a key of this pattern with the other keys of its entry, in one step on the server that changes nothing; for
   * keys that must agree with each other. `texts` are those of its placeholders, `prefix` is what stands before the pattern.
   */
  readonly compare?: (
    connection: Connection,
    texts: readonly string[],
    prefix: string,
  ) => Promise<readonly Disagreement[]>
}

/** What a kind is given to open itself. */
export interface Opening {
  /** The entry's path in the schema, for errors: `tutor.session`. */
  readonly name: string
  readonly connection: Connection
  /** Stands before every key. */
  readonly prefix: string
  readonly subscriber?: Subscriber | undefined
  /** Tells what changes in Redis, to those who keep copies. */
  readonly watch?: Watch | undefined
  /** For writes that replicas acknowledge. */
  readonly replicating?: Replicating | undefined
  /** The instant that scripts take for the server's clock, in ms: for tests only. */
  readonly now?: (() => number) | undefined
}

/** An entry of a schema: what it owns in Redis, and the typed access to it. */
export interface Kind<out Handle = unknown> {
  readonly keys: readonly KeySpec[]
  /** Whether one verb touches several of its keys at once, so that on a cluster they must share a slot. */
  readonly together: boolean
  /**
   * Of a recipe: the number of the form in which it keeps its data in Redis. It rises by one with each release that changes
   * the form, and programs at neighbouring layouts may run together.
   */
  readonly layout?: number
  /** Every command that its verbs run, those in scripts among them, besides `ANY_KEY`; of its type unless it says so. */
  readonly commands?: readonly string[]
  /** The keys among `keys` whose names are channels that its verbs publish on, and may listen to. */
  readonly channels?: readonly KeySpec[]
  open(opening: Opening): Handle
}

/**
 * How far a rename has come. Programs at neighbouring phases may run together.
 *
 * 1. Uses the new name if the key exists there. Else reads and writes the old name, and never creates the new one.
 * 2. Moves a key to its new name when a verb touches it. All programs must be at 1 or 2 by then.
 * 3. Uses the new name only. The old pattern stays declared, so that the tools know its keys.
 */
export type Phase = 1 | 2 | 3

/** The rename of an entry; see `Phase`. */
export interface RenamedFrom {
  /** The pattern it had before; several, newest first, if it had several names. */
  readonly pattern: string | readonly string[]
  readonly phase: Phase
}

/** What every entry declares beside its pattern and codec. `ttl` is required. */
export type EntryOptions<P extends string, C extends ParamCodecs<P> = {}> = LifetimeOptions &
  Description<P, C>

/** What an entry says of itself, beside its lifetime. */
export interface Description<P extends string, C extends ParamCodecs<P> = {}> {
  /** One sentence for the documentation. */
  readonly about?: string
  /** The placeholder that stands for a person, so that everything about them can be found and erased. */
  readonly subject?: Params<P>
  /**
   * The rename of this entry: the pattern it had before, with the same placeholders, and the phase of the rename.
   *
   * @example
   * renamedFrom: { pattern: 'sess:<userId>', phase: 1 }
   */
  readonly renamedFrom?: RenamedFrom
  /** Codecs for placeholders that do not hold plain text. */
  readonly params?: C
  /** Who answers for these keys: a team or a program, for the manifest and the documentation. */
  readonly owner?: string
  /** How much memory one key may take; an audit reports those that take more. */
  readonly budget?: Size
  /**
   * Whether the server may evict these keys when its memory is full. Defaults to whether they expire by themselves; to false
   * for locks, fences, sequences and watermarks, whose loss breaks a promise.
   */
  readonly evictable?: boolean
  /** What the values depend on beside their placeholders: when it changes and the version does not, `keyspec check` fails. */
  readonly fingerprint?: FingerprintOptions
}

/** Checks what was declared of one pattern, and makes it the `KeySpec` that the tools read. */
export function keySpec(
  text: string,
  type: RedisType,
  codec: KeySpec['codec'],
  options: LifetimeOptions & Description<any, any>,
): KeySpec {
  const pattern = parsePattern(text)
  const lives = lifetime(text, options)
  const { about, subject, renamedFrom, params = {}, owner, budget, evictable, fingerprint } = options
  for (const name of [...Object.keys(params), ...(subject === undefined ? [] : [subject])]) {
    if (!pattern.params.includes(name)) throw new SchemaError(`"${text}" has no placeholder <${name}>`)
  }
  const old = renamedFrom === undefined ? [] : oldPatterns(text, renamedFrom)
  for (const before of old)
    requireSamePlaceholders(before, pattern, `"${text}" was "${before.text}", and keys are moved`)
  return {
    pattern,
    type,
    codec,
    lifetime: lives,
    params: params as KeySpec['params'],
    renamedFrom: old,
    phase: old.length === 0 ? undefined : renamedFrom?.phase,
    about,
    subject,
    owner,
    budgetBytes: budget === undefined ? undefined : bytesIn(budget),
    evictable: evictable ?? lives.ttlMs !== 'forever',
    fingerprint: fingerprint === undefined ? undefined : fingerprintOf(fingerprint),
  }
}

/** The old patterns of a rename. Throws a `SchemaError` for another form, which plain JavaScript could give. */
function oldPatterns(text: string, renamedFrom: RenamedFrom): Pattern[] {
  const { pattern, phase } = renamedFrom as Partial<RenamedFrom>
  const form = `"${text}": renamedFrom must be { pattern: 'old:<id>', phase: 1 }`
  if (pattern === undefined) throw new SchemaError(`${form}: it names no pattern`)
  if (phase !== 1 && phase !== 2 && phase !== 3)
    throw new SchemaError(`${form}: the phase must be 1, 2 or 3, not ${String(phase)}`)
  return (typeof pattern === 'string' ? [pattern] : pattern).map((before) => parsePattern(before))
}
