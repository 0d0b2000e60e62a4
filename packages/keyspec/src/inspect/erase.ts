import { setTimeout as wait } from 'node:timers/promises'
import { ALL_KEYS, type Connection, ONE_KEY } from '../connection/connection.ts'
import type { Schema } from '../schema.ts'
import { namesOf, type Names } from './migrate-rules.ts'
import { pace } from './pace.ts'
import { find, type FoundKey, select, type Selection, type SelectionOptions } from './selection.ts'
import type { WalkOptions } from './walk.ts'

/** Which keys are to go, and how fast. */
export interface EraseOptions extends SelectionOptions, Pick<WalkOptions, 'count' | 'maxLoad' | 'signal'> {
  /** Keys of other programs go too; without it they stay, and are shown as `spared`. */
  readonly foreign?: boolean | undefined
  /** The most keys that go in a second. */
  readonly rate?: number | undefined
}

/** Some keys of one entry, or of none. */
export interface ErasePortion {
  /** `undefined`: no entry owns them. */
  readonly entry: string | undefined
  /** The program that they belong to, where it is another. */
  readonly program: string | undefined
  /** Whether they are declared to live forever. */
  readonly forever: boolean
  /** Whether they stay, since they are another program's. */
  readonly spared: boolean
  /** How many were found, or were deleted. */
  readonly keys: number
  /** What MEMORY USAGE says of those found; 0 of those deleted, which nobody asked. */
  readonly bytes: number
  readonly samples: readonly Buffer[]
}

/** What `erase` would delete, in portions that are to be added up. A key may count twice while the server rehashes. */
export async function* erasable(
  schema: Schema,
  connection: Connection,
  options: EraseOptions = {},
): AsyncGenerator<readonly ErasePortion[]> {
  const { foreign = false, count, maxLoad, signal } = options
  const selection = select(schema, options)
  for await (const batch of find(selection, connection, { count, maxLoad, signal, facts: ['memory'] })) {
    yield portions(batch, foreign).map(({ found, ...about }) => ({
      ...about,
      keys: found.length,
      bytes: found.reduce((sum, { bytes = 0 }) => sum + bytes, 0),
      samples: found.slice(0, SAMPLES).map(({ key }) => key),
    }))
  }
}

/**
 * Deletes the chosen keys, found with SCAN, with UNLINK in batches. What is deleted is decided by the name of a key alone.
 * A key goes with all its old names that are chosen too, old names first, so that no reader brings it back meanwhile.
 */
export async function* erase(
  schema: Schema,
  connection: Connection,
  options: EraseOptions = {},
): AsyncGenerator<readonly ErasePortion[]> {
  const { prefix, foreign = false, rate, count, maxLoad, signal } = options
  const selection = select(schema, options)
  const names = namesOf(schema, prefix)
  const turn = throttle(rate, signal)
  const rest = pace(maxLoad, signal)
  const most = rate === undefined ? MOST : Math.max(1, Math.min(MOST, Math.ceil(rate / 10)))
  for await (const batch of keysOf(selection, connection, foreign, { count, maxLoad, signal })) {
    for (let at = 0; at < batch.length; at += most) {
      const step = batch.slice(at, at + most)
      const gone: ErasePortion[] = []
      for (const { found, ...about } of portions(step, foreign)) {
        if (about.spared) {
          gone.push({ ...about, keys: found.length, bytes: 0, samples: [] })
          continue
        }
        await turn(found.length)
        const keys = await rest(() => unlink(connection, orders(found, selection, names)))
        gone.push({ ...about, keys, bytes: 0, samples: [] })
      }
      yield gone
    }
  }
}

const SAMPLES = 5
const MOST = 250

type Named = Pick<FoundKey, 'key' | 'name' | 'owned'>

/** As `find`, but keys whose names are known are not looked up: one that moves to its new name meanwhile could be missed. */
async function* keysOf(
  selection: Selection,
  connection: Connection,
  foreign: boolean,
  options: WalkOptions,
): AsyncGenerator<readonly Named[]> {
  const built = selection.built.filter(({ owned }) => foreign || owned.spec.foreign === undefined)
  if (built.length > 0) yield built.map(({ name, owned }) => ({ key: Buffer.from(name), name, owned }))
  yield* find({ ...selection, built: [] }, connection, options)
}

interface Group<K> extends Pick<ErasePortion, 'entry' | 'program' | 'forever' | 'spared'> {
  readonly found: K[]
}

function portions<K extends Named>(batch: readonly K[], foreign: boolean): Group<K>[] {
  const groups = new Map<string, Group<K>>()
  for (const key of batch) {
    const { entry, spec } = key.owned ?? {}
    const program = spec?.foreign?.by
    const id = `${entry} ${program}`
    let group = groups.get(id)
    if (group === undefined) {
      const forever = spec?.lifetime.ttlMs === 'forever' && program === undefined
      group = { entry, program, forever, spared: program !== undefined && !foreign, found: [] }
      groups.set(id, group)
    }
    group.found.push(key)
  }
  return [...groups.values()]
}

/** For each key the names that go, in their order. */
function orders(keys: readonly Named[], selection: Selection, names: Names): (Buffer | string)[][] {
  return keys.map(({ key, name, owned }) => {
    if (name === undefined || owned === undefined || owned.spec.was.length === 0) return [key]
    return names.of(name, owned.pattern).filter((each) => selection.has(each))
  })
}

/** How many of these there were. On a cluster each key is a command of its own, as they may live in different slots. */
async function unlink(
  connection: Connection,
  orders: readonly (readonly (Buffer | string)[])[],
): Promise<number> {
  if (!connection.cluster) return (await connection.send(['UNLINK', ...orders.flat()], ALL_KEYS)) as number
  const counts = await Promise.all(
    orders.map(async (names) => {
      let count = 0
      for (const name of names) count += (await connection.send(['UNLINK', name], ONE_KEY)) as number
      return count
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Waits before each batch as long as it takes that no more than `rate` keys begin in any second. */
function throttle(rate: number | undefined, signal: AbortSignal | undefined) {
  if (rate === undefined) return async () => {}
  if (!(rate > 0)) throw new RangeError(`a rate is above 0, not ${rate}`)
  let nextMs = performance.now()
  return async (keys: number) => {
    const leftMs = nextMs - performance.now()
    if (leftMs > 0) await wait(leftMs, undefined, signal === undefined ? {} : { signal })
    signal?.throwIfAborted()
    nextMs = Math.max(nextMs, performance.now()) + (keys * 1000) / rate
  }
}
