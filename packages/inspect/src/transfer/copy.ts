import { operation, type Operation, Progress, type Steps } from '../operation/operation.ts'
import type { Connection } from 'keyspec'
import { ahead } from './archive/ahead.ts'
import { dumpChosen, dumpSome } from './archive/dump.ts'
import { existing } from './archive/existing.ts'
import { isPast, restoreKeys, serverClock, tryOut } from './archive/restore.ts'
import { throttle } from '../scan/throttle.ts'
import { findKeys, type Selection } from '../scan/selection.ts'

/** How a copy goes. */
export interface CopyOptions {
  /** What becomes of a key that is there already: it stays unless this is `replace`. */
  readonly onConflict?: 'keep' | 'replace' | undefined
  /** The largest part of each server's time to take: 0.1 unless told. */
  readonly maxLoad?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** What a copy would do. */
export interface CopyPreview {
  readonly keys: number
  /** Keys that are not on the other server. */
  readonly fresh: number
  /** Keys that are there already. */
  readonly existing: number
  /** The first few of those that exist. */
  readonly samples: readonly Buffer[]
}

/**
 * What a copy would meet, as it looks: nothing is written. Rejects with an `ImportError` where the other server is too old
 * for the values, as far as one of them tells. It counts the chosen keys.
 */
export function previewCopy(
  from: Connection,
  to: Connection,
  selection: Selection,
  options: Omit<CopyOptions, 'onConflict'> = {},
): Operation<CopyPreview> {
  return operation(() => lookedFor(from, to, selection, options))
}

async function* lookedFor(
  from: Connection,
  to: Connection,
  selection: Selection,
  { maxLoad, signal }: Omit<CopyOptions, 'onConflict'>,
): Steps<CopyPreview> {
  const sums = { keys: 0, fresh: 0, existing: 0 }
  const samples: Buffer[] = []
  const result = (): CopyPreview => ({ ...sums, samples: [...samples] })
  const progress = new Progress(result)
  const rest = throttle(maxLoad, signal)
  let isTried = false
  for await (const found of findKeys(selection, from, { maxLoad, signal })) {
    const keys = found.map(({ key }) => key)
    if (!isTried) {
      const dump = await dumpSome(from, keys)
      if (dump !== undefined) await tryOut(to, dump.key, dump.dump)
      isTried = dump !== undefined
    }
    const there = await rest(() => existing(to, keys))
    sums.keys += keys.length
    sums.existing += there.length
    sums.fresh += keys.length - there.length
    for (const key of there) if (samples.length < SAMPLES) samples.push(key)
    yield progress.step(sums.keys)
  }
  return result()
}

/** What was copied. */
export interface CopyResult {
  /** Keys that had their turn. */
  readonly keys: number
  readonly copied: number
  /** Keys that were there, and were left as they were. */
  readonly kept: number
  /** Keys that had expired by the other server's clock. */
  readonly expired: number
  /** Keys that were found and gone before their turn came. */
  readonly gone: number
  /** The sum of the copied keys and of their values as the server dumped them. */
  readonly bytes: number
  /** The first few of those that were kept. */
  readonly samples: readonly Buffer[]
}

/**
 * Copies the chosen keys to another server, with nothing between: each with its type, its value and its expiry, a point in
 * time, as they were at one moment; two keys may be of different moments. What is there already is kept, unless it is to
 * be replaced. Doing it again after it was stopped, with `keep`, writes what is missing. It counts the keys that had their turn.
 */
export function copyKeys(
  from: Connection,
  to: Connection,
  selection: Selection,
  options: CopyOptions = {},
): Operation<CopyResult> {
  return operation(() => copying(from, to, selection, options))
}

async function* copying(
  from: Connection,
  to: Connection,
  selection: Selection,
  { onConflict = 'keep', maxLoad, signal }: CopyOptions,
): Steps<CopyResult> {
  const sums = { keys: 0, copied: 0, kept: 0, expired: 0, gone: 0, bytes: 0 }
  const samples: Buffer[] = []
  const result = (): CopyResult => ({ ...sums, samples: [...samples] })
  const progress = new Progress(result)
  const rest = throttle(maxLoad, signal)
  const now = await serverClock(to)
  // Where the servers are not to rest, the one dumps the next keys while the other writes these.
  for await (const { keys, gone } of ahead(dumpChosen(from, selection, { maxLoad, signal }), maxLoad === 1)) {
    const nowMs = now()
    const alive = keys.filter((key) => !isPast(key, nowMs))
    const kept = await rest(() => restoreKeys(to, alive, onConflict === 'replace'))
    const stayed = new Set(kept)
    for (const { key, dump } of alive)
      if (stayed.size === 0 || !stayed.has(key)) sums.bytes += key.length + dump.length
    sums.keys += keys.length
    sums.gone += gone
    sums.expired += keys.length - alive.length
    sums.kept += kept.length
    sums.copied += alive.length - kept.length
    for (const key of kept) if (samples.length < SAMPLES) samples.push(Buffer.from(key))
    yield progress.step(sums.keys)
  }
  return result()
}

const SAMPLES = 5
