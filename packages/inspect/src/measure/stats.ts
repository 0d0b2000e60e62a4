import { operation, type Operation, Progress, type Steps } from '../operation/operation.ts'
import type { Connection, Schema } from 'keyspec'
import type { Stratum } from './estimate.ts'
import { generalSegments } from '../match/guess.ts'
import { escapeKey } from '../match/key-name.ts'
import { keptForRename } from '../match/own-key.ts'
import {
  findKeys,
  type FoundKey,
  type Selection,
  type SelectionOptions,
  selectKeys,
} from '../scan/selection.ts'
import { countOf, isConnection, type KeySource, sourceOf } from '../scan/source.ts'
import type { KeyStats } from './tally.ts'
import { Groups } from './groups.ts'
import type { Fact, KeyFacts, ScanOptions, ScanStep } from '../scan/scan.ts'

/** What is counted, and how. */
export interface StatsOptions extends SelectionOptions, Omit<ScanOptions, 'facts' | 'prefix' | 'sample'> {
  /** What keys are told apart by: their entry, unless told, or what their names begin with. */
  readonly by?: 'entry' | 'prefix' | undefined
  /** How many pieces of a name between colons are its prefix; 1 unless told. */
  readonly depth?: number | undefined
  /** Look at about so many keys of the server, taken at random; 10,000 unless told, where there are twice as many. */
  readonly sample?: number | undefined
  /** Look at all keys, however many there are. */
  readonly exact?: boolean | undefined
  /** Ask of each key its type, its time to live and its memory alone: encodings and idle times stay unknown. */
  readonly brief?: boolean | undefined
  /** How many of the biggest keys are named; 10 unless told. */
  readonly top?: number | undefined
}

/** Keys that belong together. */
export interface StatsGroup extends KeyStats {
  /** The path of the entry or the beginning of the names, as `escapeKey`; `undefined` for those of no entry or, by prefix, for the rest. */
  readonly name: string | undefined
}

/** One of the biggest keys. */
export interface BigKey {
  readonly key: Buffer
  readonly type: string
  readonly bytes: number
  /** The path of its entry. */
  readonly entry: string | undefined
}

/** What a server holds. */
export interface Stats {
  /** Whether all keys were looked at, so that nothing is estimated. */
  readonly exact: boolean
  /** How many keys were looked at. */
  readonly looked: number
  /** All keys of the server, the chosen ones among them. */
  readonly of: number
  /** All that was chosen. */
  readonly all: KeyStats
  /** Largest in memory first. */
  readonly groups: readonly StatsGroup[]
  /** The biggest keys of those looked at, biggest first. */
  readonly biggest: readonly BigKey[]
}

/**
 * How many keys there are, what they take and what they are like, by entry or by prefix. Of a large server a random sample
 * is looked at and everything is an estimate; see `estimatedCount` and `estimatedTotal` for the methods. The number of
 * groups is bounded: when there are too many prefixes, the rarest go together. What Keyspec itself keeps while an entry is renamed
 * belongs to no group by entry. Keys may come from another source than a
 * connection (see `KeySource`): those are all looked at. It counts the keys that were looked at.
 */
export function stats(
  schema: Schema,
  from: Connection | KeySource,
  options: StatsOptions = {},
): Operation<Stats> {
  return operation(() => counting(schema, from, options))
}

async function* counting(schema: Schema, from: Connection | KeySource, options: StatsOptions): Steps<Stats> {
  const { by = 'entry', depth = 1, sample, exact = false, brief = false, top = 10 } = options
  const facts = brief ? BRIEF_FACTS : FACTS
  const selection = selectKeys(schema, options)
  const source = sourceOf(from)
  const sizes = await source.sizes()
  const of = sizes.reduce<number>((sum, size = 0) => sum + size, 0)
  const isWhole =
    !isConnection(from) || exact || selection.scanned === undefined || of <= (sample ?? DEFAULT_SAMPLE * 2)
  const nameOf =
    by === 'entry'
      ? entryNamer(selection)
      : prefixNamer((options.prefix ?? '') + (options.under ?? ''), depth)

  const groups = new Groups()
  const biggest: BigKey[] = []
  const looked: number[] = sizes.map(() => 0)
  let seenKeys = 0
  const result = (): Stats => {
    // More may have come since the servers were asked how many they have.
    const strata = looked.map((sampled, at): Stratum => ({
      sampled,
      size: isWhole ? sampled : Math.max(sampled, sizes[at] ?? 0),
    }))
    const all = groups.together()
    return {
      exact: isWhole,
      looked: seenKeys,
      of: isWhole ? Math.max(of, seenKeys) : of,
      all: all.tallied(strata, all),
      groups: [...groups.named()]
        .map(([name, tally]): StatsGroup => ({ name, ...tally.tallied(strata, all) }))
        .sort((a, b) => b.bytes.value - a.bytes.value),
      biggest: [...biggest],
    }
  }
  const progress = new Progress(result)
  // How many of all keys are chosen is known only at the end.
  const isNarrowed = selection.patterns.length > 0 || selection.scanned !== ''
  const total = async () => {
    if (!isWhole) return Math.min(of, sample ?? DEFAULT_SAMPLE)
    if (isNarrowed) return undefined
    return isConnection(from) ? of : countOf(source)
  }
  const step = isWhole
    ? wholly(selection, from, options, facts)
    : source.steps({ ...options, prefix: '', sample: sample ?? DEFAULT_SAMPLE, facts })
  for await (const { keys, master } of step) {
    looked[master] = (looked[master] ?? 0) + keys.length
    seenKeys += keys.length
    for (const seen of keys) {
      if (!isWhole && !selection.has(seen.name)) continue
      const name = nameOf(seen)
      if (by === 'entry' && name === undefined && keptForRename(seen.key) !== undefined) continue
      groups.at(name).add(seen, master)
      noteBig(biggest, top, seen, () => selection.owner(seen.name)?.entry)
    }
    yield progress.step(seenKeys, await total())
  }

  return result()
}

const BRIEF_FACTS: readonly Fact[] = ['ttl', 'memory']
const FACTS: readonly Fact[] = [...BRIEF_FACTS, 'encoding', 'idle']
const DEFAULT_SAMPLE = 10_000

async function* wholly(
  selection: Selection,
  from: Connection | KeySource,
  options: StatsOptions,
  facts: readonly Fact[],
): AsyncGenerator<ScanStep> {
  const { prefix = '', under = '', count, maxLoad, signal } = options
  // Where nothing is estimated, it does not matter which master a key is on.
  if (isConnection(from)) {
    for await (const keys of findKeys(selection, from, { count, maxLoad, signal, facts }))
      yield { keys, master: 0 }
    return
  }
  for await (const { keys } of from.steps({ prefix: prefix + under, signal, facts }))
    yield { keys: keys.filter(({ name }) => selection.has(name)), master: 0 }
}

function entryNamer(selection: Selection): (seen: KeyFacts | FoundKey) => string | undefined {
  // What was found by the selection has been told whose it is.
  return (seen) => ('owned' in seen ? seen.owned : selection.owner(seen.name))?.entry
}

function prefixNamer(start: string, depth: number): (seen: KeyFacts) => string {
  const skipped = Buffer.byteLength(start)
  const before = escapeKey(start)
  return ({ key }) => {
    const segments = generalSegments(key.subarray(skipped))
    const head = segments.slice(0, depth).join(':')
    return before + head + (segments.length > depth ? ':' : '')
  }
}

/** Keeps the biggest, biggest first. */
function noteBig(biggest: BigKey[], top: number, seen: KeyFacts, entry: () => string | undefined): void {
  const { bytes = 0 } = seen
  if (biggest.length >= top && bytes <= (biggest.at(-1)?.bytes ?? Infinity)) return
  const { key, type } = seen // not before: a snapshot cuts each out of what it read
  // SCAN may show a key twice.
  if (biggest.some((other) => other.key.equals(key))) return
  const at = biggest.findIndex((other) => other.bytes < bytes)
  biggest.splice(at === -1 ? biggest.length : at, 0, { key, type, bytes, entry: entry() })
  if (biggest.length > top) biggest.pop()
}
