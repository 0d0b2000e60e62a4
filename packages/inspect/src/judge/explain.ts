import { type Connection, type ExternalKey, KeyError, type Schema } from 'keyspec'
import { keyReader, NO_KEY, ONE_KEY_BYTES, type OwnedPattern, patternsOf as ownedBy } from 'keyspec/extend'
import { type DecodedPart, decoderOf } from './decoded.ts'
import { evictionOf } from '../scan/eviction.ts'
import { type Fault, faultsOf, whereUndecodable, type FindingCode } from './fault.ts'
import { FaultGroup } from './finding.ts'
import { numberOf } from '../scan/replies.ts'
import { decodeKey } from '../match/key-name.ts'
import { matcher } from '../match/matcher.ts'
import { keptForRename } from '../match/own-key.ts'
import { namesOf } from '../match/rename-rules.ts'
import { existsAny } from './two-names.ts'
import { nearest, type NearMatch } from '../match/nearest.ts'
import { type Peeked, peeker } from '../scan/peek.ts'
import { inspectKeys, type KeyFacts } from '../scan/scan.ts'

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
  readonly owned: OwnedPattern | undefined
  /** The values of its placeholders, as their codecs read them. */
  readonly params: Readonly<Record<string, unknown>>
  /** Of a key with an old name: the name that it is to have. */
  readonly becomes: string | undefined
  /** What another program keeps here; `undefined` where it is ours, or not known to be kept. */
  readonly external: ExternalKey | undefined
  /** What Keyspec itself keeps here while an entry is renamed, in words; `undefined` for any other key. */
  readonly ownUse: string | undefined
  /** What the server says of it; `undefined` where there is no such key. */
  readonly seen: KeyFacts | undefined
  readonly value: ExplainedValue | undefined
  /** What is wrong with it. */
  readonly faults: readonly { readonly code: FindingCode; readonly message: string }[]
  /** Where no pattern owns it: those that come near, and why they do not. */
  readonly nearest: readonly NearMatch[]
  /** On a cluster. */
  readonly slot: number | undefined
}

/** The beginning of a value. */
export interface ExplainedValue {
  /** The bytes of a string, the elements of a collection. */
  readonly count: number
  /** Its first elements; of a string the one. */
  readonly parts: readonly DecodedPart[]
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
  const name = decodeKey(key)
  const owned = name === undefined ? undefined : matcher(schema, prefix).match(name)
  const [[seen], eviction, slot] = await Promise.all([
    inspectKeys(connection, [key], ['ttl', 'memory', 'encoding', 'idle']),
    evictionOf(connection),
    connection.cluster ? numberOf(connection, ['CLUSTER', 'KEYSLOT', key], NO_KEY) : undefined,
  ])
  const faults: Fault[] =
    seen === undefined || owned === undefined ? [] : [...faultsOf(seen, owned, eviction)]
  if (seen !== undefined && owned !== undefined && owned.spec.renamedFrom.length > 0) {
    const others = namesOf(schema, prefix).of(name!, owned.pattern)
    if (
      await existsAny(
        connection,
        others.filter((other) => other !== name),
      )
    )
      faults.push({ code: 'two-names', owned })
  }
  const ownUse = owned === undefined ? keptForRename(key) : undefined
  const isOurs =
    owned !== undefined &&
    owned.spec.external === undefined &&
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
    external: texts === undefined ? undefined : owned!.spec.external?.describe(texts),
    ownUse,
    seen,
    value: read,
    faults: faults.map((fault) => {
      const group = new FaultGroup(fault)
      group.add(key, fault.amount)
      return { code: fault.code, message: group.finding().message }
    }),
    nearest:
      owned === undefined && name !== undefined && ownUse === undefined ? nearest(schema, prefix, name) : [],
    slot,
  }
}

const HEAD_BYTES = 2048

async function valueOf(
  connection: Connection,
  key: Buffer,
  owned: OwnedPattern | undefined,
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
function* undecoded(peeked: Peeked): Generator<DecodedPart> {
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

function newName(
  schema: Schema,
  prefix: string,
  old: OwnedPattern,
  texts: readonly string[],
): string | undefined {
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
