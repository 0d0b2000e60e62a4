import { operation, type Operation, Progress, type Steps } from '../operation/operation.ts'
import type { Connection } from 'keyspec'
import { ahead } from './archive/ahead.ts'
import { type ArchiveRecord, dumpVersionOf } from './archive/archive.ts'
import { BATCH_BYTES, KEYS_AT_ONCE } from './archive/dump.ts'
import { existing } from './archive/existing.ts'
import { type ArchiveSource, readArchive } from './archive/read.ts'
import { ImportError, isPast, restoreKeys, serverClock, tryOut } from './archive/restore.ts'
import { escapeKey } from '../match/key-name.ts'
import { throttle } from '../scan/throttle.ts'

/** Another beginning for the keys of an export: `{ strip: 'doc:', add: 'cache:doc:' }`. */
export interface Rename {
  readonly strip?: string | undefined
  readonly add?: string | undefined
}

/** How an import goes. */
export interface ImportOptions extends Rename {
  /** What becomes of a key that is there already: it stays unless this is `replace`. */
  readonly onConflict?: 'keep' | 'replace' | undefined
  /** The largest part of the server's time to take: 0.1 unless told. */
  readonly maxLoad?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** What an import would do. */
export interface ImportPreview {
  readonly records: number
  /** Keys that are not there. */
  readonly fresh: number
  /** Keys that are there already. */
  readonly existing: number
  /** Keys that have expired since the export, by the server's clock: they are left out. */
  readonly expired: number
  /** The first few of those that exist. */
  readonly samples: readonly Buffer[]
}

/**
 * What an import would meet, as it looks: nothing is written. Rejects with an `ImportError` where a key does not begin with
 * what is to be stripped, or where the server is too old for the values. It counts the records that were read.
 */
export function previewImport(
  connection: Connection,
  source: ArchiveSource,
  options: ImportOptions = {},
): Operation<ImportPreview> {
  return operation(() => lookedFor(connection, source, options))
}

async function* lookedFor(
  connection: Connection,
  source: ArchiveSource,
  { strip, add, maxLoad, signal }: ImportOptions,
): Steps<ImportPreview> {
  const sums = { records: 0, fresh: 0, existing: 0, expired: 0 }
  const samples: Buffer[] = []
  const result = (): ImportPreview => ({ ...sums, samples: [...samples] })
  const progress = new Progress(result)
  const named = renaming({ strip, add })
  const rest = throttle(maxLoad, signal)
  const now = await serverClock(connection)
  let tried = 0
  for await (const records of batches(source, maxLoad)) {
    for (const { key, dump } of records) {
      const version = dumpVersionOf(dump)
      if (version <= tried) continue
      tried = version
      await tryOut(connection, named(key), dump)
    }
    const alive = records.filter((record) => !isPast(record, now()))
    const keys = alive.map(({ key }) => named(key))
    const there = await rest(() => existing(connection, keys))
    sums.records += records.length
    sums.expired += records.length - alive.length
    sums.existing += there.length
    sums.fresh += keys.length - there.length
    for (const key of there) if (samples.length < SAMPLES) samples.push(Buffer.from(key))
    yield progress.step(sums.records)
  }
  return result()
}

/** What was imported. */
export interface ImportResult {
  readonly records: number
  readonly restored: number
  /** Keys that were there, and were left as they were. */
  readonly kept: number
  /** Keys that had expired by the server's clock. */
  readonly expired: number
  /** The first few of those that were kept. */
  readonly samples: readonly Buffer[]
}

/**
 * Writes the keys of an export, each with the expiry it had, in batches of a bounded size; what is there already is kept,
 * unless it is to be replaced. Read the export through first (`inspectArchive`): this writes as it reads. Doing it again
 * after it was stopped, with `keep`, writes what is missing. It counts the records that had their turn.
 */
export function importKeys(
  connection: Connection,
  source: ArchiveSource,
  options: ImportOptions = {},
): Operation<ImportResult> {
  return operation(() => importing(connection, source, options))
}

async function* importing(
  connection: Connection,
  source: ArchiveSource,
  { strip, add, onConflict = 'keep', maxLoad, signal }: ImportOptions,
): Steps<ImportResult> {
  const sums = { records: 0, restored: 0, kept: 0, expired: 0 }
  const samples: Buffer[] = []
  const result = (): ImportResult => ({ ...sums, samples: [...samples] })
  const progress = new Progress(result)
  const named = renaming({ strip, add })
  const rest = throttle(maxLoad, signal)
  const now = await serverClock(connection)
  for await (const records of ahead(batches(source, maxLoad), maxLoad === 1)) {
    const alive = records.filter((record) => !isPast(record, now()))
    const renamed = alive.map(({ key, expiresAtMs, dump }) => ({ key: named(key), expiresAtMs, dump }))
    const kept = await rest(() => restoreKeys(connection, renamed, onConflict === 'replace'))
    sums.records += records.length
    sums.expired += records.length - alive.length
    sums.kept += kept.length
    sums.restored += alive.length - kept.length
    for (const key of kept) if (samples.length < SAMPLES) samples.push(Buffer.from(key))
    yield progress.step(sums.records)
  }
  return result()
}

const SAMPLES = 5
const FEW_KEYS_AT_ONCE = 100

/** The records of an export, in batches of a bounded number and size. */
async function* batches(
  source: ArchiveSource,
  maxLoad: number | undefined,
): AsyncGenerator<readonly ArchiveRecord[]> {
  const most = maxLoad === 1 ? KEYS_AT_ONCE : FEW_KEYS_AT_ONCE
  for await (const part of readArchive(source)) {
    if (!('records' in part)) continue
    let batch: ArchiveRecord[] = []
    let size = 0
    for (const record of part.records) {
      batch.push(record)
      size += record.dump.length
      if (batch.length < most && size < BATCH_BYTES) continue
      yield batch
      batch = []
      size = 0
    }
    if (batch.length > 0) yield batch
  }
}

function renaming({ strip = '', add = '' }: Rename): (key: Buffer) => Buffer {
  if (strip === '' && add === '') return (key) => key
  const [before, after] = [Buffer.from(strip), Buffer.from(add)]
  return (key) => {
    const rest = key.subarray(before.length)
    if (!key.subarray(0, before.length).equals(before))
      throw new ImportError(
        `${escapeKey(key)} does not begin with "${escapeKey(strip)}", which is to be stripped`,
        escapeKey(key),
      )
    return Buffer.concat([after, rest])
  }
}
