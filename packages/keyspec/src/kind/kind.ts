import type { Codec } from '../codec/codec.ts'
import type { Connection, Subscriber } from '../connection/connection.ts'
import type { Watch } from '../connection/invalidations-watch.ts'
import type { ParamCodec, ParamCodecs } from '../param.ts'
import { type Params, type Pattern, pattern as parsePattern } from '../pattern.ts'
import { SchemaError } from '../errors.ts'
import { bytesIn, type Size } from '../size.ts'
import { type Fingerprint, fingerprintOf, type FingerprintOptions } from './fingerprint.ts'
import { type Lifetime, type LifetimeOptions, lifetime } from './lifetime.ts'

/** What `TYPE` says of a key. */
export type RedisType = 'string' | 'hash' | 'list' | 'set' | 'zset' | 'stream'

/** What a program that is not ours keeps at one of its keys. */
export interface ForeignKey {
  readonly type: RedisType
  /** In a few words: `waiting jobs`. */
  readonly about: string
}

/** Whose the keys of a pattern are, where another program writes them. */
export interface Foreign {
  /** The program: `BullMQ`. */
  readonly by: string
  /** What it keeps at the key with these values of the placeholders, or `undefined` where it is known to keep nothing. */
  describe(texts: readonly string[]): ForeignKey | undefined
}

/** What is declared of the keys of one pattern: all that the tools look at. Patterns are without the keyspace's prefix. */
export interface KeySpec {
  readonly pattern: Pattern
  /** `various` only for keys of another program, which `foreign` tells apart. */
  readonly type: RedisType | 'various'
  /** Declared so that the tools know them, and written by nothing of ours. */
  readonly foreign?: Foreign
  /** The codec of the value, of each element, or of each field by name; `'*'` for fields that are not named. */
  readonly codec: Codec<any, any> | { readonly [field: string]: Codec<any, any> }
  readonly lifetime: Lifetime
  readonly params: { readonly [name: string]: ParamCodec<any, any> }
  /** The patterns it had before: reads fall back to them, and move the key. */
  readonly was: readonly Pattern[]
  readonly about: string | undefined
  /** The placeholder that stands for a person. */
  readonly subject: string | undefined
  /** Who answers for these keys. */
  readonly owner?: string | undefined
  /** How much memory one key may take, in bytes. */
  readonly budgetBytes?: number | undefined
  /** Whether the server may evict these keys when its memory is full. */
  readonly evictable: boolean
  /** What the values depend on, beside what they are made from. */
  readonly fingerprint?: Fingerprint | undefined
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
  /** The instant that scripts take for the server's clock, in ms: for tests only. */
  readonly now?: (() => number) | undefined
}

/** An entry of a schema: what it owns in Redis, and the typed access to it. */
export interface Kind<out Handle = unknown> {
  readonly keys: readonly KeySpec[]
  /** Whether one verb touches several of its keys at once, so that on a cluster they must share a slot. */
  readonly together: boolean
  open(opening: Opening): Handle
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
  /** The patterns this entry had before, with the same placeholders. */
  readonly was?: readonly string[]
  /** Codecs for placeholders that do not hold plain text. */
  readonly params?: C
  /** Who answers for these keys: a team or a program, for the manifest and the documentation. */
  readonly owner?: string
  /** How much memory one key may take; an audit reports those that take more. */
  readonly budget?: Size
  /** Whether the server may evict these keys when its memory is full; unless said, those that expire by themselves. */
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
  const { about, subject, was = [], params = {}, owner, budget, evictable, fingerprint } = options
  for (const name of [...Object.keys(params), ...(subject === undefined ? [] : [subject])]) {
    if (!pattern.params.includes(name)) throw new SchemaError(`"${text}" has no placeholder <${name}>`)
  }
  const old = was.map((before) => parsePattern(before))
  for (const before of old) {
    if ([...before.params].sort().join() !== [...pattern.params].sort().join()) {
      throw new SchemaError(
        `"${text}" was "${before.text}": both need the same placeholders, or keys could not be moved`,
      )
    }
  }
  return {
    pattern,
    type,
    codec,
    lifetime: lives,
    params: params as KeySpec['params'],
    was: old,
    about,
    subject,
    owner,
    budgetBytes: budget === undefined ? undefined : bytesIn(budget),
    evictable: evictable ?? lives.ttlMs !== 'forever',
    fingerprint: fingerprint === undefined ? undefined : fingerprintOf(fingerprint),
  }
}
