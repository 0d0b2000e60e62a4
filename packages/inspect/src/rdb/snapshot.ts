import type { Connection } from 'keyspec'
import { evictionOf } from '../scan/eviction.ts'
import type { KeySource } from '../scan/source.ts'
import { SnapshotParser } from './parser.ts'
import type { SnapshotFacts } from './snapshot-facts.ts'
import { peekStored } from './peek-stored.ts'
import { readSnapshot } from './read-snapshot.ts'
import type { SnapshotKey } from './snapshot-key.ts'

/** The bytes of one snapshot: a file, or what a server sends to a replica. */
export interface SnapshotPart {
  /** Begins with its first byte; may be called once. */
  open(): AsyncIterable<Uint8Array>
  /** Whether something may follow it, as it does where a server goes on to speak. */
  readonly goesOn?: boolean
}

/** How a snapshot is looked at. */
export interface SnapshotSourceOptions {
  /** The number of the database; 0 unless told. Keys of others are left out, and counted. */
  readonly database?: number | undefined
  /** How many bytes of a value are kept until it has been looked at; 1 MB unless told, 0 where no value is to be read. */
  readonly valueBytes?: number | undefined
  /** The server that it is of, asked for what it evicts, which no snapshot tells. */
  readonly connection?: Connection | undefined
}

/** Keys from snapshots, for `audit` and `stats`: their `bytes` are what they take in the snapshot, not in memory. */
export interface SnapshotSource extends KeySource {
  /** What is known of each part, as far as it has been read. */
  readonly facts: readonly SnapshotFacts[]
}

/**
 * Keys from RDB snapshots (Redis up to 8.0, Valkey up to 9.0), one after another: of a cluster one for each master. They are
 * read once, from the first byte to the last; memory stays flat, whatever their size. A `SnapshotError` says what is wrong
 * with one: whether it is whole and undamaged is known only at its end.
 *
 * @example
 * const source = snapshotSource([{ open: () => createReadStream('dump.rdb') }])
 * for await (const { findings } of audit(schema, source)) for (const { message } of findings) console.log(message)
 */
export function snapshotSource(
  parts: readonly SnapshotPart[],
  { database, valueBytes = DEFAULT_LIMIT, connection }: SnapshotSourceOptions = {},
): SnapshotSource {
  const facts: SnapshotFacts[] = []
  return {
    facts,
    sizes: async () => parts.map((_, at) => sizeOf(facts[at])),
    async *steps({ prefix, signal }) {
      for (const [master, { open, goesOn = false }] of parts.entries()) {
        const parser = new SnapshotParser({ database, prefix, valueBytes })
        facts.push(parser.facts)
        for await (const keys of readSnapshot(open(), parser, goesOn)) {
          yield { keys, master }
          signal?.throwIfAborted()
        }
      }
    },
    async *values(keys, { limitBytes = DEFAULT_LIMIT }) {
      for (let at = 0; at < keys.length; at += VALUES_AT_ONCE)
        yield keys
          .slice(at, at + VALUES_AT_ONCE)
          .map((key) => peekStored(key as SnapshotKey, MOST_ELEMENTS, limitBytes))
    },
    eviction: async () => (connection === undefined ? undefined : evictionOf(connection)),
  }
}

/** Returns how many keys a part shows; `undefined` before it is read, or where it does not say. */
function sizeOf(facts: SnapshotFacts | undefined): number | undefined {
  return facts === undefined || facts.size === 0 ? undefined : facts.size - facts.expired
}

// As a server is asked.
const DEFAULT_LIMIT = 2 ** 20
const MOST_ELEMENTS = 10
// Values may be packed, and so take more memory than they did in the snapshot.
const VALUES_AT_ONCE = 64
