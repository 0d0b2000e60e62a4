import { type Connection, NO_KEY, ONE_KEY } from '../connection/connection.ts'
import { ServerError } from '../connection/server-error.ts'
import { KeyspecError } from '../errors.ts'
import { type ArchiveHeader, type ArchiveRecord, dumpVersionOf } from './archive/archive.ts'
import { asArguments, BATCH_BYTES } from './archive/dump.ts'
import { type ArchiveSource, readArchive } from './archive/read.ts'
import { shown } from './key-name.ts'
import { pace, type Pace } from './pace.ts'

/** An import that cannot be done as it was asked for. */
export class ImportError extends KeyspecError {
  readonly code = 'E_IMPORT'
}

/** All that a whole export holds; see `inspectArchive`. */
export interface ArchiveContents {
  readonly header: ArchiveHeader
  readonly records: number
  /** The sum of the keys and of their values as the server dumped them. */
  readonly bytes: number
  /** How long the file is. */
  readonly fileBytes: number
  /** The largest of the values. */
  readonly largest: { readonly key: Buffer; readonly bytes: number } | undefined
  readonly types: ReadonlyMap<string, Sum>
  /** By entry, `undefined` for the keys that no entry owned. */
  readonly entries: ReadonlyMap<string | undefined, Sum>
  /** Keys that never expire. */
  readonly forever: number
  /** Keys that had expired by now. */
  readonly expired: number
  /** When the first and the last of those that expire do, in ms since the epoch. */
  readonly expiry: { readonly first: number; readonly last: number } | undefined
}

/** Keys, and their bytes. */
export interface Sum {
  readonly keys: number
  readonly bytes: number
}

/** Reads an export through from first to last byte, with no server; an `ArchiveError` says what is wrong with it. */
export async function inspectArchive(
  source: ArchiveSource,
  { nowMs = Date.now(), signal }: { readonly nowMs?: number; readonly signal?: AbortSignal } = {},
): Promise<ArchiveContents> {
  let header: ArchiveHeader | undefined
  let fileBytes = 0
  const total = { records: 0, bytes: 0, forever: 0, expired: 0 }
  const types = new Map<string, Sum>()
  const entries = new Map<string | undefined, Sum>()
  let largest: ArchiveContents['largest']
  let expiry: ArchiveContents['expiry']
  for await (const part of readArchive(source)) {
    signal?.throwIfAborted()
    if ('header' in part) header = part.header
    else if ('end' in part) fileBytes = part.end.bytes
    else {
      for (const { key, type, entry, expiresAtMs, dump } of part.records) {
        const bytes = key.length + dump.length
        total.records += 1
        total.bytes += bytes
        add(types, type, bytes)
        add(entries, entry, bytes)
        // A copy: the key is a part of its frame, which must be able to go.
        if (largest === undefined || dump.length > largest.bytes)
          largest = { key: Buffer.from(key), bytes: dump.length }
        if (expiresAtMs === undefined) total.forever += 1
        else {
          if (expiresAtMs <= nowMs) total.expired += 1
          expiry = {
            first: Math.min(expiry?.first ?? Infinity, expiresAtMs),
            last: Math.max(expiry?.last ?? 0, expiresAtMs),
          }
        }
      }
    }
  }
  return { header: header!, ...total, fileBytes, largest, types, entries, expiry }
}

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

/** What an import would do; the same object all the while, which counts up. */
export interface ImportPreview {
  records: number
  /** Keys that are not there. */
  fresh: number
  /** Keys that are there already. */
  existing: number
  /** Keys that have expired since the export, by the server's clock: they are left out. */
  expired: number
  /** The first few of those that exist. */
  readonly samples: Buffer[]
}

/**
 * What an import would meet, as it looks: nothing is written. Throws an `ImportError` where a key does not begin with what
 * is to be stripped, or where the server is too old for the values.
 */
export async function* previewImport(
  connection: Connection,
  source: ArchiveSource,
  { strip, add, maxLoad, signal }: ImportOptions = {},
): AsyncGenerator<ImportPreview> {
  const preview: ImportPreview = { records: 0, fresh: 0, existing: 0, expired: 0, samples: [] }
  const named = renaming({ strip, add })
  const rest = pace(maxLoad, signal)
  const now = await serverClock(connection)
  let tried = 0
  for await (const records of batches(source)) {
    for (const { key, dump } of records) {
      const version = dumpVersionOf(dump)
      if (version <= tried) continue
      tried = version
      await tryOut(connection, named(key), dump)
    }
    const alive = records.filter(({ expiresAtMs }) => !isPast(expiresAtMs, now()))
    const keys = alive.map(({ key }) => named(key))
    const there = await rest(() => existing(connection, keys))
    preview.records += records.length
    preview.expired += records.length - alive.length
    preview.existing += there.length
    preview.fresh += keys.length - there.length
    for (const key of there) if (preview.samples.length < SAMPLES) preview.samples.push(Buffer.from(key))
    yield preview
  }
  yield preview
}

/** What has been imported so far; the same object all the while, which counts up. */
export interface Imported {
  records: number
  restored: number
  /** Keys that were there, and were left as they were. */
  kept: number
  /** Keys that had expired by the server's clock. */
  expired: number
  /** The first few of those that were kept. */
  readonly samples: Buffer[]
}

/**
 * Writes the keys of an export, each with the expiry it had, in batches of a bounded size; what is there already is kept,
 * unless it is to be replaced. Read the export through first (`inspectArchive`): this writes as it reads. Doing it again
 * after it was stopped, with `keep`, writes what is missing.
 */
export async function* importKeys(
  connection: Connection,
  source: ArchiveSource,
  { strip, add, onConflict = 'keep', maxLoad, signal }: ImportOptions = {},
): AsyncGenerator<Imported> {
  const imported: Imported = { records: 0, restored: 0, kept: 0, expired: 0, samples: [] }
  const named = renaming({ strip, add })
  const rest = pace(maxLoad, signal)
  const now = await serverClock(connection)
  for await (const records of batches(source)) {
    const alive = records.filter(({ expiresAtMs }) => !isPast(expiresAtMs, now()))
    const kept = await restoreAll(connection, alive, named, onConflict === 'replace', rest)
    imported.records += records.length
    imported.expired += records.length - alive.length
    imported.kept += kept.length
    imported.restored += alive.length - kept.length
    for (const key of kept) if (imported.samples.length < SAMPLES) imported.samples.push(Buffer.from(key))
    yield imported
  }
  yield imported
}

const SAMPLES = 5
const BATCH_KEYS = 100

/** The records of an export, in batches of a bounded number and size. */
async function* batches(source: ArchiveSource): AsyncGenerator<readonly ArchiveRecord[]> {
  for await (const part of readArchive(source)) {
    if (!('records' in part)) continue
    let batch: ArchiveRecord[] = []
    let size = 0
    for (const record of part.records) {
      batch.push(record)
      size += record.dump.length
      if (batch.length < BATCH_KEYS && size < BATCH_BYTES) continue
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
        `${shown(key)} does not begin with "${shown(strip)}"; nothing was written`,
        shown(key),
      )
    return Buffer.concat([after, rest])
  }
}

/** The server's clock, as far as it can be told from here without asking each time. */
async function serverClock(connection: Connection): Promise<() => number> {
  const [seconds, micros] = (await connection.send(['TIME'], NO_KEY)) as [string, string]
  const from = performance.now()
  const then = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  return () => then + (performance.now() - from)
}

function isPast(expiresAtMs: number | undefined, nowMs: number): boolean {
  return expiresAtMs !== undefined && expiresAtMs <= nowMs
}

/** Which of these keys exist. */
async function existing(connection: Connection, keys: readonly Buffer[]): Promise<Buffer[]> {
  if (keys.length === 0) return []
  // Into an empty server, which is the common case, one command tells it of all.
  if (!connection.cluster) {
    const count = await connection.send(['EXISTS', ...asArguments(keys)], { firstKey: 1, keyCount: 'rest' })
    if (count === 0) return []
  }
  const found = await Promise.all(keys.map((key) => connection.send(['EXISTS', key], ONE_KEY)))
  return keys.filter((_, index) => found[index] === 1)
}

/** Restores a value that has expired since long under a name of nobody's: all is checked, and nothing is written. */
async function tryOut(connection: Connection, key: Buffer, dump: Buffer): Promise<void> {
  const nobody = Buffer.concat([key, Buffer.from(`:${Math.random().toString(36).slice(2)}`)])
  await restore(connection, nobody, 1, dump, false)
}

/** Restores records; gives the keys that were there and stayed. */
async function restoreAll(
  connection: Connection,
  records: readonly ArchiveRecord[],
  named: (key: Buffer) => Buffer,
  replace: boolean,
  rest: Pace,
): Promise<Buffer[]> {
  if (records.length === 0) return []
  const done = await rest(() =>
    Promise.all(
      records.map(async ({ key, expiresAtMs = 0, dump }) => {
        const name = named(key)
        return (await restore(connection, name, expiresAtMs, dump, replace)) ? [] : [name]
      }),
    ),
  )
  return done.flat()
}

async function restore(
  connection: Connection,
  key: Buffer,
  expiresAtMs: number,
  dump: Buffer,
  replace: boolean,
): Promise<boolean> {
  const command = ['RESTORE', key, String(expiresAtMs), dump, 'ABSTTL', ...(replace ? ['REPLACE'] : [])]
  try {
    await connection.send(command, ONE_KEY)
    return true
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    if (error.reply.startsWith('BUSYKEY')) return false
    if (/payload version or checksum|Bad data format/.test(error.reply))
      throw new ImportError(
        `${shown(key)}: this server cannot read the value, which was dumped in version ${dumpVersionOf(dump)}: ` +
          `it is older than the one it was exported from, or lacks a module`,
        shown(key),
        error,
      )
    throw error
  }
}

function add<K>(sums: Map<K, Sum>, name: K, bytes: number): void {
  const sum = sums.get(name) ?? { keys: 0, bytes: 0 }
  sums.set(name, { keys: sum.keys + 1, bytes: sum.bytes + bytes })
}
