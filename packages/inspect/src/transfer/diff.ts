import { operation, type Operation, Progress, type Step, type Steps } from '../operation/operation.ts'
import type { Connection } from 'keyspec'
import type { ArchiveSource } from './archive/read.ts'
import type { Selection } from '../scan/selection.ts'
import { archiveCompared } from './diff-archive.ts'
import { serversCompared } from './diff-servers.ts'
import type { Compared, Difference, DiffOptions } from './difference.ts'

/** What a comparison found. */
export interface DiffResult {
  /** How many keys were compared. */
  readonly compared: number
  readonly onlyHere: number
  readonly onlyThere: number
  readonly different: number
}

/** Some more keys, compared. */
export interface DiffStep extends Step<DiffResult> {
  readonly differences: readonly Difference[]
}

/**
 * Compares the chosen keys of two servers: first those of `here`, each with its like on the other side, then those that
 * are only there. A key that seems to differ is looked at again, so that one written meanwhile is not called different
 * for having been asked twice; values are told apart by digests the servers make, and where these differ by contents.
 * It counts the keys that were compared.
 */
export function diffServers(
  here: Connection,
  there: Connection,
  selection: Selection,
  options: DiffOptions = {},
): Operation<DiffResult, DiffStep> {
  return operation(() => summedUp(serversCompared(here, there, selection, options)))
}

/**
 * Compares the chosen keys of a server with those of an export: first those of the file, then those that are only on the
 * server. Read the export through first (`inspectArchive`), which also counts its records. What it holds of the file's
 * keys is some 30 bytes each, for two million at a time; for more, the server is walked once for each two million.
 * It counts the keys that were compared.
 */
export function diffArchive(
  here: Connection,
  source: ArchiveSource,
  records: number,
  selection: Selection,
  options: DiffOptions = {},
): Operation<DiffResult, DiffStep> {
  return operation(() => summedUp(archiveCompared(here, source, records, selection, options)))
}

async function* summedUp(comparing: AsyncGenerator<Compared>): Steps<DiffResult, DiffStep> {
  const sums = { compared: 0, onlyHere: 0, onlyThere: 0, different: 0 }
  const result = (): DiffResult => ({ ...sums })
  const progress = new Progress(result)
  for await (const { keys, differences } of comparing) {
    sums.compared += keys
    for (const { kind } of differences) sums[COUNTED[kind]] += 1
    yield progress.step(sums.compared, undefined, { differences })
  }
  return result()
}

const COUNTED = { 'only-here': 'onlyHere', 'only-there': 'onlyThere', different: 'different' } as const
