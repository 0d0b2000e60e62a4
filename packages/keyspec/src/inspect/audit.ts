import type { Connection } from '../connection/connection.ts'
import { owned as ownedBy, type Owned, type Schema } from '../schema.ts'
import { type Decoded, decoderOf } from './decoded.ts'
import { type Eviction, evictionOf } from './eviction.ts'
import { type Fault, faultsOf, whereUndecodable } from './fault.ts'
import { FaultGroup, type Finding, joinStrays, noteStray, type Stray, strayFinding } from './finding.ts'
import { guess, Guesses } from './guess.ts'
import { matcher } from './matcher.ts'
import { pace } from './pace.ts'
import { type Peeked, peeker } from './peek.ts'
import { keysAtOnce, type SeenKey, walk, type WalkOptions } from './walk.ts'

/** How an audit goes. */
export interface AuditOptions extends Omit<WalkOptions, 'facts' | 'prefix'> {
  /** The keyspace's prefix: keys outside it are not looked at. */
  readonly prefix?: string | undefined
  /** Whether values are decoded; unless told otherwise they are. */
  readonly values?: boolean | undefined
  /** How many bytes of a value are read at the most; 1 MB unless told. What is larger is counted as not decoded. */
  readonly limitBytes?: number | undefined
  /** Yield a finding for each key as it is found, rather than one for all that are alike at the end. */
  readonly each?: boolean | undefined
  /** Called after each step. */
  readonly onProgress?: ((so: Audited) => void) | undefined
}

/** What an audit has looked at. */
export interface Audited {
  readonly keys: number
  /** Keys whose values were read, or the beginnings of them. */
  readonly decoded: number
  /** Keys whose values, or elements of them, were too large to be read. */
  readonly notDecoded: number
  /** What the server evicts; `undefined` where it would not say. */
  readonly eviction: Eviction | undefined
}

/**
 * Holds every key under the keyspace's prefix against the schema, in one walk. Yields what it finds, worst first, and
 * returns what it has looked at. Findings hold no values. Memory is bounded, however many keys there are.
 *
 * Of a collection the first elements are decoded, 10 or so. Reading a value counts as a use of its key for the server.
 */
export async function* audit(
  schema: Schema,
  connection: Connection,
  options: AuditOptions = {},
): AsyncGenerator<Finding, Audited> {
  const { prefix = '', values = true, each = false, onProgress } = options
  const { match } = matcher(schema, prefix)
  const hasBudget = [...ownedBy(schema, prefix)].some(({ spec }) => spec.budgetBytes !== undefined)
  const eviction = await evictionOf(connection)
  const read = valueReader(connection, options)
  const groups = new Map<string, FaultGroup>()
  const strays = new Guesses<Stray>(() => ({ count: 0, samples: [] }), joinStrays)
  const prefixBytes = Buffer.byteLength(prefix)
  const so = { keys: 0, decoded: 0, notDecoded: 0, eviction }

  const note = (fault: Fault, key: Buffer): Finding | undefined => {
    const id = JSON.stringify([
      fault.code,
      fault.owned.entry,
      fault.code === 'evictable' ? '' : fault.owned.pattern.text,
      fault.detail,
    ])
    const alone = each && fault.code !== 'evictable'
    const group = (alone ? undefined : groups.get(id)) ?? new FaultGroup(fault)
    group.add(key, fault.amount)
    if (alone) return group.finding()
    groups.set(id, group)
    return undefined
  }

  const facts = ['ttl', ...(hasBudget ? (['memory'] as const) : [])] as const
  for await (const batch of walk(connection, { ...options, prefix, facts })) {
    const readable: Known[] = []
    for (const seen of batch) {
      so.keys += 1
      const owned = seen.name === undefined ? undefined : match(seen.name)
      if (owned === undefined) {
        const rest = seen.key.subarray(prefixBytes)
        if (each) {
          const stray: Stray = { count: 0, samples: [] }
          noteStray(stray, seen.key)
          yield strayFinding(prefix, guess(rest), stray)
        } else noteStray(strays.at(rest), seen.key)
        continue
      }
      let sound = true
      for (const fault of faultsOf(seen, owned, eviction)) {
        sound &&= fault.code !== 'wrong-type' && fault.code !== 'foreign-shape'
        const finding = note(fault, seen.key)
        if (finding !== undefined) yield finding
      }
      if (values && sound && owned.spec.foreign === undefined) readable.push({ seen, owned })
    }
    for await (const { known, failed, omitted } of read(readable)) {
      so.decoded += 1
      if (omitted) so.notDecoded += 1
      if (failed === undefined) continue
      const finding = note(
        { code: 'undecodable', owned: known.owned, detail: whereUndecodable(failed) },
        known.seen.key,
      )
      if (finding !== undefined) yield finding
    }
    onProgress?.(so)
  }
  const found = [...groups.values()].map((group) => group.finding())
  for (const [pattern, stray] of strays) found.push(strayFinding(prefix, pattern, stray))
  yield* found.sort(worstFirst)
  return so
}

interface Known {
  readonly seen: SeenKey
  readonly owned: Owned
}

/** Reads and decodes the values of a batch, as few commands at a time as they fit in, and rests between them. */
function valueReader(connection: Connection, { maxLoad, signal, limitBytes }: AuditOptions) {
  const rest = pace(maxLoad, signal)
  // A value costs about twice what the facts of a key cost.
  const atOnce = keysAtOnce(maxLoad) / 2
  const peek = peeker({ limitBytes })
  const decoders = new Map<Owned, (peeked: Peeked) => Generator<Decoded>>()
  const decoder = (owned: Owned) => {
    let found = decoders.get(owned)
    if (found === undefined) decoders.set(owned, (found = decoderOf(owned.spec.codec)))
    return found
  }
  return async function* (known: readonly Known[]) {
    for (let at = 0; at < known.length;) {
      const names = known.slice(at, at + atOnce).map(({ seen }) => seen.name!)
      const peeked = await rest(() => peek.some(connection, names))
      for (const [index, value] of peeked.entries()) {
        const each = known[at + index]!
        // It has gone, or become something else, since it was seen.
        if (value.type !== each.seen.type) continue
        let failed: Decoded | undefined
        for (const part of decoder(each.owned)(value)) if (part.failed) failed ??= part
        yield { known: each, failed, omitted: value.omitted > 0 }
      }
      at += peeked.length
    }
  }
}

function worstFirst(a: Finding, b: Finding): number {
  if (a.severity !== b.severity) return a.severity === 'error' ? -1 : 1
  return b.count - a.count || (a.pattern ?? '').localeCompare(b.pattern ?? '')
}
