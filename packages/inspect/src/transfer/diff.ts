import { operation, type Operation, Progress, type Step, type Steps } from '../operation/operation.ts'
import type { Connection, Duration } from 'keyspec'
import { milliseconds, NO_KEY } from 'keyspec/extend'
import type { ArchiveRecord } from './archive/archive.ts'
import { decodeDump } from '../rdb/decode-dump.ts'
import { keyTable, partOf } from './archive/key-table.ts'
import { type KeyState, stateIn, statesOf } from './archive/key-state.ts'
import { type ArchiveSource, readArchive } from './archive/read.ts'
import { sameValue } from './archive/same-value.ts'
import { decodeKey } from '../match/key-name.ts'
import { throttle } from '../scan/throttle.ts'
import { findKeys, type Selection } from '../scan/selection.ts'

/** A key that is not the same on both sides. */
export interface Difference {
  readonly key: Buffer
  /** The entry that owns it, if one does. */
  readonly entry: string | undefined
  readonly kind: 'only-here' | 'only-there' | 'different'
  /** In what it differs; `bytes` where the dumped bytes do, and whether the value does cannot be told from a file. */
  readonly what: readonly ('type' | 'value' | 'ttl' | 'bytes')[]
  readonly here: Side | undefined
  readonly there: Side | undefined
}

/** What one side has of it. */
export interface Side {
  readonly type: string
  readonly ttlMs: number | 'forever'
}

/** How two sides are compared. */
export interface DiffOptions {
  /** How far expiries may be apart: 5 s unless told. What expires within it may be gone on one side. */
  readonly ttlTolerance?: Duration | undefined
  /** The largest part of each server's time to take: 0.1 unless told. */
  readonly maxLoad?: number | undefined
  readonly signal?: AbortSignal | undefined
}

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

async function* serversCompared(
  here: Connection,
  there: Connection,
  selection: Selection,
  options: DiffOptions,
): AsyncGenerator<Compared> {
  const { maxLoad, signal } = options
  const toleranceMs = milliseconds(options.ttlTolerance ?? '5s')
  const rest = throttle(maxLoad, signal)
  const both = (keys: readonly Buffer[]) =>
    rest(() => Promise.all([statesOf(here, keys), statesOf(there, keys)]))
  const settle = (key: Buffer, entry: string | undefined) =>
    settled(key, entry, toleranceMs, async () => {
      const [[a], [b]] = await both([key])
      return { a, b, same: (type: string) => sameValue(type, key, here, there) }
    })

  for await (const found of findKeys(selection, here, { maxLoad, signal })) {
    const keys = found.map(({ key }) => key)
    const [a, b] = await both(keys)
    const differences: Difference[] = []
    for (const [index, key] of keys.entries()) {
      if (judged(a[index], b[index], toleranceMs).length === 0) continue
      const difference = await settle(key, found[index]!.owned?.entry)
      if (difference !== undefined) differences.push(difference)
    }
    yield { keys: keys.length, differences }
  }
  for await (const found of findKeys(selection, there, { maxLoad, signal })) {
    const a = await rest(() =>
      statesOf(
        here,
        found.map(({ key }) => key),
      ),
    )
    const differences: Difference[] = []
    for (const [index, { key, owned }] of found.entries()) {
      if (a[index] !== undefined) continue
      const difference = await settle(key, owned?.entry)
      if (difference?.kind === 'only-there') differences.push(difference)
    }
    yield { keys: differences.length, differences }
  }
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

/** Some more keys that were compared, and how many. */
interface Compared {
  readonly keys: number
  readonly differences: readonly Difference[]
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

async function* archiveCompared(
  here: Connection,
  source: ArchiveSource,
  records: number,
  selection: Selection,
  options: DiffOptions,
): AsyncGenerator<Compared> {
  const { maxLoad, signal } = options
  const toleranceMs = milliseconds(options.ttlTolerance ?? '5s')
  const rest = throttle(maxLoad, signal)
  const skewMs = (await timeOf(here)) - Date.now()
  const settle = (key: Buffer, entry: string | undefined, record: ArchiveRecord | undefined) =>
    settled(key, entry, toleranceMs, async () => {
      const [a] = await rest(() => statesOf(here, [key]))
      const b = record === undefined ? undefined : stateIn(record, Date.now() + skewMs)
      return {
        a,
        b,
        same: async (type: string) => {
          const value = record === undefined ? undefined : decodeDump(record.dump)
          return value === undefined ? undefined : sameValue(type, key, here, value)
        },
      }
    })

  for await (const part of readArchive(source)) {
    signal?.throwIfAborted()
    if (!('records' in part)) continue
    const chosen = part.records.filter(({ key }) => isChosen(selection, key))
    for (let from = 0; from < chosen.length; from += STEP) {
      const batch = chosen.slice(from, from + STEP)
      const states = await rest(() =>
        statesOf(
          here,
          batch.map(({ key }) => key),
        ),
      )
      const nowMs = Date.now() + skewMs
      const differences: Difference[] = []
      for (const [index, record] of batch.entries()) {
        if (judged(states[index], stateIn(record, nowMs), toleranceMs).length === 0) continue
        const difference = await settle(Buffer.from(record.key), record.entry, record)
        if (difference !== undefined) differences.push(difference)
      }
      yield { keys: batch.length, differences }
    }
  }

  const parts = Math.max(1, Math.ceil(records / KEYS_AT_A_TIME))
  for (let of = 0; of < parts; of += 1) {
    const known = keyTable(Math.ceil((records / parts) * 1.1))
    for await (const part of readArchive(source)) {
      signal?.throwIfAborted()
      if (!('records' in part)) continue
      for (const { key } of part.records) if (partOf(key, parts) === of) known.add(key)
    }
    for await (const found of findKeys(selection, here, { maxLoad, signal })) {
      const differences: Difference[] = []
      for (const { key, owned } of found) {
        if (partOf(key, parts) !== of || known.has(key)) continue
        const difference = await settle(key, owned?.entry, undefined)
        if (difference !== undefined) differences.push(difference)
      }
      yield { keys: differences.length, differences }
    }
  }
}

const STEP = 100
const KEYS_AT_A_TIME = 2_000_000
const LOOKS = 3

interface Look {
  readonly a: KeyState | undefined
  readonly b: KeyState | undefined
  /** Whether the values are equal, by contents; `undefined` where it cannot be told. */
  readonly same: (type: string) => Promise<boolean | undefined>
}

/** Looks again at a key that seems to differ, until it is the same before and after its contents were compared. */
async function settled(
  key: Buffer,
  entry: string | undefined,
  toleranceMs: number,
  look: () => Promise<Look>,
): Promise<Difference | undefined> {
  for (let looks = 1; ; looks += 1) {
    const { a, b, same } = await look()
    let what: Difference['what'] = judged(a, b, toleranceMs)
    if (what.length === 0) return undefined
    const [here, there] = [sideOf(a), sideOf(b)]
    if (a === undefined) return { key, entry, kind: 'only-there', what: [], here, there }
    if (b === undefined) return { key, entry, kind: 'only-here', what: [], here, there }
    if (what.includes('value') && a.type !== 'string') {
      const isSame = await same(a.type)
      if (isSame === true) what = what.filter((each) => each !== 'value')
      if (isSame === undefined) what = what.map((each) => (each === 'value' ? 'bytes' : each))
      if (what.length === 0) return undefined
      const again = await look()
      const isStill = again.a?.digest === a.digest && again.b?.digest === b.digest
      if (!isStill && looks < LOOKS) continue
    }
    return { key, entry, kind: 'different', what, here, there }
  }
}

/** In what two states differ; nothing where one is about to expire and the other just did. */
function judged(
  a: KeyState | undefined,
  b: KeyState | undefined,
  toleranceMs: number,
): readonly ('type' | 'value' | 'ttl')[] {
  if (a === undefined || b === undefined) {
    const left = (a ?? b)?.ttlMs
    return left === undefined || (left !== 'forever' && left <= toleranceMs) ? [] : ['value']
  }
  if (a.type !== b.type) return ['type']
  const isApart =
    a.ttlMs === 'forever' || b.ttlMs === 'forever'
      ? a.ttlMs !== b.ttlMs
      : Math.abs(a.ttlMs - b.ttlMs) > toleranceMs
  return [...(a.digest === b.digest ? [] : ['value' as const]), ...(isApart ? ['ttl' as const] : [])]
}

function sideOf(state: KeyState | undefined): Side | undefined {
  return state === undefined ? undefined : { type: state.type, ttlMs: state.ttlMs }
}

function isChosen(selection: Selection, key: Buffer): boolean {
  const name = decodeKey(key)
  if (name !== undefined) return selection.has(name)
  const start = Buffer.from(selection.scanned ?? '')
  return selection.has(undefined) && key.subarray(0, start.length).equals(start)
}

async function timeOf(connection: Connection): Promise<number> {
  const [seconds, micros] = (await connection.send(['TIME'], NO_KEY)) as [string, string]
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
}
