import { operation, type Operation, Progress, type Step, type Steps } from '../operation/operation.ts'
import type { Connection, Schema } from 'keyspec'
import { NO_KEY, nodeCrypto, patternsOf } from 'keyspec/extend'
import { type ArchiveHeader, type ArchiveRecord } from './archive/archive.ts'
import { ahead } from './archive/ahead.ts'
import { dumpChosen } from './archive/dump.ts'
import { writeArchive } from './archive/write.ts'
import { addKey, type EntrySum, type Sum } from './sum.ts'
import type { Selection } from '../scan/selection.ts'

/** How an export goes. */
export interface ExportOptions {
  readonly schema: Schema
  /** The keyspace's prefix. */
  readonly prefix?: string
  /** The version of Keyspec, for the header. */
  readonly keyspec: string
  /** The largest part of the server's time to take: 0.1 unless told. */
  readonly maxLoad?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** What was exported. */
export interface ExportResult {
  readonly keys: number
  /** Keys that were found and gone before their turn came. */
  readonly gone: number
  /** The sum of the keys and of their values as the server dumped them. */
  readonly bytes: number
  /** The same for each entry. */
  readonly entries: readonly EntrySum[]
}

/** Some more bytes of an export. */
export interface ExportStep extends Step<ExportResult> {
  readonly bytes: Buffer
}

/**
 * Exports the chosen keys: the bytes of one file, made as they are read. Each key is as it was at one moment, its value
 * with its expiry; two keys may be of different moments, since the server goes on meanwhile. The bytes are in the steps: an
 * export that is only awaited is counted and thrown away. It counts the keys that were packed.
 */
export function exportKeys(
  connection: Connection,
  selection: Selection,
  options: ExportOptions,
): Operation<ExportResult, ExportStep> {
  return operation(() => exporting(connection, selection, options))
}

async function* exporting(
  connection: Connection,
  selection: Selection,
  options: ExportOptions,
): Steps<ExportResult, ExportStep> {
  const { schema, prefix = '', keyspec, maxLoad, signal } = options
  const sums = { keys: 0, gone: 0, bytes: 0 }
  const entries = new Map<string | undefined, Sum>()
  const result = (): ExportResult => ({
    ...sums,
    entries: [...entries].map(([entry, sum]) => ({ entry, ...sum })),
  })
  const progress = new Progress(result)
  const header: ArchiveHeader = {
    createdAtMs: Date.now(),
    keyspec,
    server: await serverName(connection),
    title: selection.title,
    prefix,
    entries: [...new Set([...patternsOf(schema)].map(({ entry }) => entry))],
    schema: schemaDigest(schema),
  }

  async function* records(): AsyncGenerator<readonly ArchiveRecord[]> {
    // Where the server is not to rest, the next step is on its way while this one is packed.
    for await (const { keys, gone } of ahead(
      dumpChosen(connection, selection, { maxLoad, signal }),
      maxLoad === 1,
    )) {
      const batch = keys.map((key) => ({ ...key, entry: selection.owner(key.name)?.entry }))
      sums.gone += gone
      for (const { key, dump, entry } of batch) {
        const size = key.length + dump.length
        addKey(entries, entry, size)
        sums.keys += 1
        sums.bytes += size
      }
      yield batch
    }
  }

  for await (const bytes of writeArchive(header, records()))
    yield progress.step(sums.keys, undefined, { bytes })
  return result()
}

/** A digest of what a schema declares of its keys: of two exports with the same one, the keys mean the same. */
export function schemaDigest(schema: Schema): string {
  const lines = [...patternsOf(schema)].map(
    ({ entry, spec, pattern, legacy }) =>
      `${entry} ${pattern.text} ${spec.type} ${legacy} ${spec.lifetime.ttlMs}`,
  )
  return nodeCrypto().createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16)
}

async function serverName(connection: Connection): Promise<string> {
  const info = String(await connection.send(['INFO', 'server'], NO_KEY))
  const valkey = /^valkey_version:(\S+)/m.exec(info)?.[1]
  return valkey === undefined ? `Redis ${/^redis_version:(\S+)/m.exec(info)?.[1] ?? ''}` : `Valkey ${valkey}`
}
