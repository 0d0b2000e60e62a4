import type { Connection, Schema } from 'keyspec'
import { ALL_KEYS, ONE_KEY, patternsOf, sleep } from 'keyspec/extend'
import { operation, type Operation, Progress, type Steps } from '../operation/operation.ts'
import { type EraseResult, type EraseShare, EraseSums } from './erase-sums.ts'
import { besides } from '../match/own-key.ts'
import { namesOf, type Names } from '../match/rename-rules.ts'
import { numberOf } from '../scan/replies.ts'
import { OptionError } from '../scan/option-error.ts'
import { throttle } from '../scan/throttle.ts'
import {
  findKeys,
  type FoundKey,
  type Selection,
  type SelectionOptions,
  selectKeys,
} from '../scan/selection.ts'
import { scanKeys, type ScanOptions } from '../scan/scan.ts'

/** Which keys are to go, and how fast. */
export interface EraseOptions extends SelectionOptions, Pick<ScanOptions, 'count' | 'maxLoad' | 'signal'> {
  /** Keys of other programs go too; without it they stay, and are shown as `spared`. */
  readonly external?: boolean | undefined
  /** The most keys that go in a second. */
  readonly rate?: number | undefined
}

/** What `erase` would delete. It counts the keys that were found; one may count twice while the server rehashes. */
export function previewErase(
  schema: Schema,
  connection: Connection,
  options: EraseOptions = {},
): Operation<EraseResult> {
  return operation(() => lookedFor(schema, connection, options))
}

/**
 * Deletes the chosen keys, found with SCAN, with UNLINK in batches. What is deleted is decided by the name of a key alone.
 * A key goes with all its old names that are chosen too, old names first, so that no reader brings it back meanwhile.
 * It counts the keys that were deleted or spared.
 */
export function erase(
  schema: Schema,
  connection: Connection,
  options: EraseOptions = {},
): Operation<EraseResult> {
  return operation(() => erased(schema, connection, options))
}

async function* lookedFor(schema: Schema, connection: Connection, options: EraseOptions): Steps<EraseResult> {
  const { external = false, count, maxLoad, signal } = options
  const selection = selectKeys(schema, options)
  const sums = new EraseSums()
  const progress = new Progress(() => sums.result())
  for await (const batch of findKeys(selection, connection, { count, maxLoad, signal, facts: ['memory'] })) {
    sums.add(
      shares(batch, external).map(({ found, ...about }) => ({
        ...about,
        keys: found.length,
        bytes: found.reduce((sum, { bytes = 0 }) => sum + bytes, 0),
        samples: found.slice(0, SAMPLES).map(({ key }) => key),
      })),
    )
    yield progress.step(sums.all)
  }
  return sums.result()
}

async function* erased(schema: Schema, connection: Connection, options: EraseOptions): Steps<EraseResult> {
  const { prefix, external = false, rate, count, maxLoad, signal } = options
  const selection = selectKeys(schema, options)
  const names = namesOf(schema, prefix)
  const turn = limitRate(rate, signal)
  const rest = throttle(maxLoad, signal)
  const sums = new EraseSums()
  const progress = new Progress(() => sums.result())
  const most = rate === undefined ? MOST : Math.max(1, Math.min(MOST, Math.ceil(rate / 10)))
  for await (const batch of keysOf(selection, connection, external, { count, maxLoad, signal })) {
    for (let at = 0; at < batch.length; at += most) {
      const step = batch.slice(at, at + most)
      const gone: EraseShare[] = []
      for (const { found, ...about } of shares(step, external)) {
        if (about.spared) {
          gone.push({ ...about, keys: found.length, bytes: 0, samples: [] })
          continue
        }
        await turn(found.length)
        const keys = await rest(() => unlink(connection, orders(found, selection, names)))
        gone.push({ ...about, keys, bytes: 0, samples: [] })
      }
      sums.add(gone)
      yield progress.step(sums.all)
    }
  }
  if (connection.cluster && [...patternsOf(schema)].some(({ spec }) => spec.phase !== undefined))
    for await (const gone of eraseBeside(
      selection,
      connection,
      { prefix, count, maxLoad, signal },
      external,
    )) {
      sums.add(gone)
      yield progress.step(sums.all)
    }
  return sums.result()
}

/** Deletes what stands beside the names of the chosen keys on a cluster: values on their way to another slot, and notes of it. */
async function* eraseBeside(
  selection: Selection,
  connection: Connection,
  options: ScanOptions,
  external: boolean,
): AsyncGenerator<readonly EraseShare[]> {
  const built = new Set(selection.built.map(({ name }) => name))
  for await (const batch of scanKeys(connection, options)) {
    const gone: EraseShare[] = []
    for (const { key, name } of batch) {
      const beside = name === undefined ? undefined : besides(name)
      if (beside === undefined || !(built.has(beside.of) || selection.has(beside.of))) continue
      const { entry, spec } = selection.owner(beside.of) ?? {}
      if (spec === undefined || (spec.external !== undefined && !external)) continue
      const count = await numberOf(connection, ['UNLINK', key], ONE_KEY)
      if (beside.is !== 'aside' || count === 0) continue
      const forever = spec.lifetime.ttlMs === 'forever'
      gone.push({ entry, program: undefined, forever, spared: false, keys: count, bytes: 0, samples: [] })
    }
    if (gone.length > 0) yield gone
  }
}

const SAMPLES = 5
const MOST = 250

type Named = Pick<FoundKey, 'key' | 'name' | 'owned'>

/** As `findKeys`, but keys whose names are known are not looked up: one that moves to its new name meanwhile could be missed. */
async function* keysOf(
  selection: Selection,
  connection: Connection,
  external: boolean,
  options: ScanOptions,
): AsyncGenerator<readonly Named[]> {
  const built = selection.built.filter(({ owned }) => external || owned.spec.external === undefined)
  if (built.length > 0) yield built.map(({ name, owned }) => ({ key: Buffer.from(name), name, owned }))
  yield* findKeys({ ...selection, built: [] }, connection, options)
}

interface Group<K> extends Pick<EraseShare, 'entry' | 'program' | 'forever' | 'spared'> {
  readonly found: K[]
}

function shares<K extends Named>(batch: readonly K[], external: boolean): Group<K>[] {
  const groups = new Map<string, Group<K>>()
  for (const key of batch) {
    const { entry, spec } = key.owned ?? {}
    const program = spec?.external?.by
    const id = `${entry} ${program}`
    let group = groups.get(id)
    if (group === undefined) {
      const forever = spec?.lifetime.ttlMs === 'forever' && program === undefined
      group = { entry, program, forever, spared: program !== undefined && !external, found: [] }
      groups.set(id, group)
    }
    group.found.push(key)
  }
  return [...groups.values()]
}

/** For each key the names that go, in their order. */
function orders(keys: readonly Named[], selection: Selection, names: Names): (Buffer | string)[][] {
  return keys.map(({ key, name, owned }) => {
    if (name === undefined || owned === undefined || owned.spec.renamedFrom.length === 0) return [key]
    return names.of(name, owned.pattern).filter((each) => selection.has(each))
  })
}

/** How many of these there were. On a cluster each key is a command of its own, as they may live in different slots. */
async function unlink(
  connection: Connection,
  orders: readonly (readonly (Buffer | string)[])[],
): Promise<number> {
  if (!connection.cluster) return numberOf(connection, ['UNLINK', ...orders.flat()], ALL_KEYS)
  const counts = await Promise.all(
    orders.map(async (names) => {
      let count = 0
      for (const name of names) count += await numberOf(connection, ['UNLINK', name], ONE_KEY)
      return count
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Waits before each batch as long as it takes that no more than `rate` keys begin in any second. */
function limitRate(rate: number | undefined, signal: AbortSignal | undefined) {
  if (rate === undefined) return async () => {}
  if (!(rate > 0)) throw new OptionError(`a rate is above 0, not ${rate}`)
  let nextMs = performance.now()
  return async (keys: number) => {
    const leftMs = nextMs - performance.now()
    if (leftMs > 0) await sleep(leftMs, signal)
    signal?.throwIfAborted()
    nextMs = Math.max(nextMs, performance.now()) + (keys * 1000) / rate
  }
}
