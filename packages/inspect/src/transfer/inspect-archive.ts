import { operation, type Operation, Progress, type Steps } from '../operation/operation.ts'
import type { ArchiveHeader } from './archive/archive.ts'
import { type ArchiveSource, readArchive } from './archive/read.ts'
import { addKey, type EntrySum, type Sum, type TypeSum } from './sum.ts'

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
  readonly types: readonly TypeSum[]
  readonly entries: readonly EntrySum[]
  /** Keys that never expire. */
  readonly forever: number
  /** Keys that had expired by now. */
  readonly expired: number
  /** When the first and the last of those that expire do, in ms since the epoch. */
  readonly expiry: { readonly first: number; readonly last: number } | undefined
}

/** How an export is read through. */
export interface InspectArchiveOptions {
  /** What counts as now, in ms since the epoch. */
  readonly nowMs?: number
  readonly signal?: AbortSignal
}

/**
 * Reads an export through from first to last byte, with no server; an `ArchiveError` says what is wrong with it. It counts the
 * records.
 */
export function inspectArchive(
  source: ArchiveSource,
  options: InspectArchiveOptions = {},
): Operation<ArchiveContents> {
  return operation(() => reading(source, options))
}

async function* reading(
  source: ArchiveSource,
  { nowMs = Date.now(), signal }: InspectArchiveOptions,
): Steps<ArchiveContents> {
  const types = new Map<string, Sum>()
  const entries = new Map<string | undefined, Sum>()
  const contents: { -readonly [Part in keyof Counted]: Counted[Part] } = {
    header: NO_HEADER,
    records: 0,
    bytes: 0,
    forever: 0,
    expired: 0,
    fileBytes: 0,
    largest: undefined,
    expiry: undefined,
  }
  const result = (): ArchiveContents => ({
    ...contents,
    types: [...types].map(([type, sum]) => ({ type, ...sum })),
    entries: [...entries].map(([entry, sum]) => ({ entry, ...sum })),
  })
  const progress = new Progress(result)
  for await (const part of readArchive(source)) {
    signal?.throwIfAborted()
    if ('header' in part) contents.header = part.header
    else if ('end' in part) contents.fileBytes = part.end.bytes
    else {
      for (const { key, type, entry, expiresAtMs, dump } of part.records) {
        const bytes = key.length + dump.length
        contents.records += 1
        contents.bytes += bytes
        addKey(types, type, bytes)
        addKey(entries, entry, bytes)
        // A copy: the key is a part of its frame, which must be able to go.
        if (contents.largest === undefined || dump.length > contents.largest.bytes)
          contents.largest = { key: Buffer.from(key), bytes: dump.length }
        if (expiresAtMs === undefined) contents.forever += 1
        else {
          if (expiresAtMs <= nowMs) contents.expired += 1
          contents.expiry = {
            first: Math.min(contents.expiry?.first ?? Infinity, expiresAtMs),
            last: Math.max(contents.expiry?.last ?? 0, expiresAtMs),
          }
        }
      }
      yield progress.step(contents.records)
    }
  }
  return result()
}

type Counted = Omit<ArchiveContents, 'types' | 'entries'>

// Until the first part of the file is read, which is its header.
const NO_HEADER: ArchiveHeader = {
  createdAtMs: 0,
  keyspec: '',
  server: '',
  title: '',
  prefix: '',
  entries: [],
  schema: '',
}
