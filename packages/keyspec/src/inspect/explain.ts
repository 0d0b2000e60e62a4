import { type Connection, NO_KEY, ONE_KEY_BYTES } from '../connection/connection.ts'
import { KeyError } from '../errors.ts'
import { keyReader } from '../kind/entry.ts'
import type { ForeignKey } from '../kind/kind.ts'
import { owned as ownedBy, type Owned, type Schema } from '../schema.ts'
import { type Decoded, decoderOf } from './decoded.ts'
import { evictionOf } from './eviction.ts'
import { type Fault, faultsOf, whereUndecodable } from './fault.ts'
import { FaultGroup, type FindingCode } from './finding.ts'
import { textOf } from './key-name.ts'
import { matcher } from './matcher.ts'
import { type Near, nearest } from './nearest.ts'
import { type Peeked, peeker } from './peek.ts'
import { look, type SeenKey } from './walk.ts'

/** How much is told of a key. */
export interface ExplainOptions {
  /** The keyspace's prefix. */
  readonly prefix?: string | undefined
  /** Whether the value is read; unless told otherwise it is. */
  readonly value?: boolean | undefined
  /** How many elements of a collection; 10 unless told. */
  readonly most?: number | undefined
}

/** All that is known of a key. */
export interface Explanation {
  readonly key: Buffer
  /** The pattern that owns it, an old one perhaps; `undefined` where none does. */
  readonly owned: Owned | undefined
  /** The values of its placeholders, as their codecs read them. */
  readonly params: Readonly<Record<string, unknown>>
  /** Of a key with an old name: the name that it is to have. */
  readonly becomes: string | undefined
  /** What another program keeps here; `undefined` where it is ours, or not known to be kept. */
  readonly foreign: ForeignKey | undefined
  /** What the server says of it; `undefined` where there is no such key. */
  readonly seen: SeenKey | undefined
  readonly value: ExplainedValue | undefined
  /** What is wrong with it. */
  readonly faults: readonly { readonly code: FindingCode; readonly message: string }[]
  /** Where no pattern owns it: those that come near, and why they do not. */
  readonly nearest: readonly Near[]
  /** On a cluster. */
  readonly slot: number | undefined
}

/** The beginning of a value. */
export interface ExplainedValue {
  /** The bytes of a string, the elements of a collection. */
  readonly count: number
  /** Its first elements; of a string the one. */
  readonly parts: readonly Decoded[]
  /** How many elements were too large to be read. */
  readonly omitted: number
  /** The beginning of a string that is too large to be read. */
  readonly head: Buffer | undefined
}

/** Says of one key whose it is, what is there, and whether it is as declared. The value is read, and bounded. */
export async function explain(
  schema: Schema,
  connection: Connection,
  key: Buffer,
  { prefix = '', value = true, most }: ExplainOptions = {},
): Promise<Explanation> {
  const name = textOf(key)
  const owned = name === undefined ? undefined : matcher(schema, prefix).match(name)
  const [[seen], eviction, slot] = await Promise.all([
    look(connection, [key], ['ttl', 'memory', 'encoding', 'idle']),
    evictionOf(connection),
    connection.cluster ? connection.send(['CLUSTER', 'KEYSLOT', key], NO_KEY) : undefined,
  ])
  const faults: Fault[] =
    seen === undefined || owned === undefined ? [] : [...faultsOf(seen, owned, eviction)]
  const isOurs =
    owned !== undefined &&
    owned.spec.foreign === undefined &&
    !faults.some(({ code }) => code === 'wrong-type')
  const read =
    value && seen !== undefined ? await valueOf(connection, key, isOurs ? owned : undefined, most) : undefined
  const failed = read?.parts.find((part) => part.failed)
  if (failed !== undefined && owned !== undefined)
    faults.push({ code: 'undecodable', owned, detail: whereUndecodable(failed) })
  const texts = owned?.pattern.parse(name!)
  return {
    key,
    owned,
    params:
      owned === undefined
        ? {}
        : (keyReader<Record<string, unknown>>(owned.pattern, owned.spec.params)(name!) ?? {}),
    becomes: owned?.legacy === true ? newName(schema, prefix, owned, texts!) : undefined,
    foreign: texts === undefined ? undefined : owned!.spec.foreign?.describe(texts),
    seen,
    value: read,
    faults: faults.map((fault) => {
      const group = new FaultGroup(fault)
      group.add(key, fault.amount)
      return { code: fault.code, message: group.finding().message }
    }),
    nearest: owned === undefined && name !== undefined ? nearest(schema, prefix, name) : [],
    slot: slot as number | undefined,
  }
}

const HEAD_BYTES = 2048

async function valueOf(
  connection: Connection,
  key: Buffer,
  owned: Owned | undefined,
  most: number | undefined,
): Promise<ExplainedValue> {
  const peeked = await peeker({ most }).alone(connection, key)
  const { type, count, omitted } = peeked
  const isTooLarge = type === 'string' && omitted > 0
  const head = isTooLarge
    ? await connection.send(['GETRANGE', key, '0', String(HEAD_BYTES - 1)], ONE_KEY_BYTES)
    : undefined
  return {
    count,
    omitted,
    parts: [...(owned === undefined ? undecoded(peeked) : decoderOf(owned.spec.codec)(peeked))],
    head: head instanceof Buffer ? head : undefined,
  }
}

/** The parts of a value that no codec of ours reads. */
function* undecoded(peeked: Peeked): Generator<Decoded> {
  // Every field has a codec that takes all bytes, so that its parts come apart as if they were ours.
  const raw = {
    name: 'bytes',
    bytes: true,
    encode: (value: Buffer) => value,
    decode: (stored: Buffer) => stored,
  }
  const isByField = peeked.type === 'hash' || peeked.type === 'stream'
  for (const { stored, field, id, score } of decoderOf(isByField ? { '*': raw } : raw)(peeked)) {
    yield {
      stored,
      codec: undefined,
      failed: false,
      ...(field === undefined ? {} : { field }),
      ...(id === undefined ? {} : { id }),
      ...(score === undefined ? {} : { score }),
    }
  }
}

function newName(schema: Schema, prefix: string, old: Owned, texts: readonly string[]): string | undefined {
  const present = [...ownedBy(schema, prefix)].find(
    ({ spec, entry, legacy }) => !legacy && spec === old.spec && entry === old.entry,
  )!
  const byName = new Map(old.pattern.params.map((name, at) => [name, texts[at]!]))
  try {
    return present.pattern.format(present.pattern.params.map((name) => byName.get(name)!))
  } catch (error) {
    if (error instanceof KeyError) return undefined
    throw error
  }
}
