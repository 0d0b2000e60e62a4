import { operation, type Operation, Progress, type Steps } from '../operation/operation.ts'
import { type MigrateResult, type MigrateShare, type MigrateState, MigrateSums } from './migrate-sums.ts'
import { type Connection, MigrationError, type Schema } from 'keyspec'
import { ONE_KEY } from 'keyspec/extend'
import { checkKey } from './migrate-check.ts'
import { moved } from './migrate-key.ts'
import { prefixOf, renamed, type RenameRule } from '../match/rename-rules.ts'
import { chosen, type MigrateSelection, type Sight, sights } from './migrate-sights.ts'
import { throttle } from '../scan/throttle.ts'
import type { ScanOptions } from '../scan/scan.ts'

/** Which keys are to be migrated, and how kindly. */
export interface MigrateOptions extends MigrateSelection, Pick<ScanOptions, 'count' | 'maxLoad' | 'signal'> {}

/** Finds what a migration would meet, by rule. It changes nothing. It counts the keys at old and at new names. */
export function planMigration(
  schema: Schema,
  connection: Connection,
  options: MigrateOptions = {},
): Operation<MigrateResult> {
  return operation(() => summedUp(planned(schema, connection, options)))
}

async function* planned(
  schema: Schema,
  connection: Connection,
  options: MigrateOptions,
): AsyncGenerator<Moved> {
  const walked = sights(schema, connection, { ...options, names: 'both', facts: ['memory'] })
  const rest = throttle(options.maxLoad, options.signal)
  for await (const batch of walked)
    yield { keys: batch.length, shares: shares(await rest(() => statesOf(connection, batch))) }
}

/** How a migration goes. */
export interface RunOptions extends MigrateOptions {
  /** What becomes of a key that stands under both names: both are left, unless the value under the new name is to be kept. */
  readonly keep?: 'new' | undefined
}

/**
 * Moves every key from its old name to the new one with its time to live, in batches: each in one atomic step, or as
 * `moveAcross` between the slots of a cluster. Run again after it was ended at any point, it goes on. Keys at their new names
 * are never touched. At phase 3 it also deletes the notes of keys that moved between slots. It counts the keys at old names.
 *
 * @throws MigrationError if an entry is at phase 1: programs that know only its old name may still run.
 */
export function runMigration(
  schema: Schema,
  connection: Connection,
  options: RunOptions = {},
): Operation<MigrateResult> {
  return operation(() => summedUp(ran(schema, connection, options)))
}

async function* ran(schema: Schema, connection: Connection, options: RunOptions): AsyncGenerator<Moved> {
  const early = chosen(schema, { ...options, names: 'old' }).find(({ spec }) => spec.phase === 1)
  if (early !== undefined)
    throw new MigrationError(
      `${early.entry} ("${early.to.text}") is at phase 1 of its rename: programs that know only the old name may still ` +
        'run. Deploy phase 2 first, or choose other entries',
    )
  const rest = throttle(options.maxLoad, options.signal)
  for await (const batch of sights(schema, connection, { ...options, names: 'old' })) {
    const done = await rest(() =>
      Promise.all(
        batch.map(async (sight) => {
          if (sight.at === 'unknown') return { ...sight, state: 'unknown' as const }
          if (sight.at === 'marker') {
            await connection.send(['UNLINK', sight.key], ONE_KEY)
            return { ...sight, state: 'note' as const }
          }
          const { spec, from, to } = sight.rule
          const name = renamed(spec, sight.name, from, to)
          if (name === undefined) return { ...sight, state: 'nameless' as const }
          return {
            ...sight,
            state: await moved(connection, prefixOf(sight.rule), sight.name, name, options.keep === 'new'),
          }
        }),
      ),
    )
    yield { keys: done.length, shares: shares(done) }
  }
}

/**
 * Moves every key of the chosen entries from its new name to the old one, whoever wrote it, as `runMigration` moves them:
 * to the first of several old names unless `renamedFrom` names another. It counts the keys at new names.
 */
export function rollBackMigration(
  schema: Schema,
  connection: Connection,
  options: MigrateOptions = {},
): Operation<MigrateResult> {
  return operation(() => summedUp(rolledBack(schema, connection, options)))
}

async function* rolledBack(
  schema: Schema,
  connection: Connection,
  options: MigrateOptions,
): AsyncGenerator<Moved> {
  const rest = throttle(options.maxLoad, options.signal)
  for await (const batch of sights(schema, connection, { ...options, names: 'new' })) {
    const done = await rest(() =>
      Promise.all(
        batch.map(async (sight) => {
          const { spec, from, to } = sight.rule
          const name = sight.name === undefined ? undefined : renamed(spec, sight.name, to, from)
          if (name === undefined) return { ...sight, state: 'nameless' as const }
          return { ...sight, state: await moved(connection, prefixOf(sight.rule), sight.name!, name, false) }
        }),
      ),
    )
    yield { keys: done.length, shares: shares(done) }
  }
}

/** How a migration is checked. */
export interface VerifyOptions extends MigrateOptions {
  /** How many values of each rule are decoded: 100 unless told. */
  readonly sample?: number | undefined
}

/**
 * Finds what is left under old names, and what is wrong with keys at their new ones. No value leaves this process. It counts
 * the keys at old and at new names.
 */
export function verifyMigration(
  schema: Schema,
  connection: Connection,
  options: VerifyOptions = {},
): Operation<MigrateResult> {
  return operation(() => summedUp(verified(schema, connection, options)))
}

async function* verified(
  schema: Schema,
  connection: Connection,
  options: VerifyOptions,
): AsyncGenerator<Moved> {
  // The sample is of values: all keys are looked at.
  const { sample = 100, ...walk } = options
  const rest = throttle(options.maxLoad, options.signal)
  const sampled = new Map<RenameRule, number>()
  for await (const batch of sights(schema, connection, { ...walk, names: 'both', facts: ['ttl'] })) {
    const states = await rest(() => statesOf(connection, batch))
    for (const sight of batch) {
      if (sight.at !== 'new') continue
      const taken = sampled.get(sight.rule) ?? 0
      const state = await rest(() => checkKey(connection, sight, taken < sample))
      if (state === undefined) continue
      if (state !== 'without-ttl') sampled.set(sight.rule, taken + 1)
      states.push({ ...sight, state })
    }
    yield { keys: batch.length, shares: shares(states) }
  }
}

/** Some more keys that had their turn. A key can be in more than one share: it is at its new name, and cannot be decoded. */
interface Moved {
  readonly keys: number
  readonly shares: readonly MigrateShare[]
}

async function* summedUp(batches: AsyncGenerator<Moved>): Steps<MigrateResult> {
  const sums = new MigrateSums()
  const progress = new Progress(() => sums.result())
  let done = 0
  for await (const { keys, shares } of batches) {
    sums.add(shares)
    done += keys
    yield progress.step(done)
  }
  return sums.result()
}

type Judged = Sight & { readonly state: MigrateState }

/** As it is found: whether each key under an old name has a new one, and whether something stands there. */
async function statesOf(connection: Connection, batch: readonly Sight[]): Promise<Judged[]> {
  return Promise.all(
    batch.map(async (sight): Promise<Judged> => {
      if (sight.at === 'unknown') return { ...sight, state: 'unknown' }
      if (sight.at === 'new') return { ...sight, state: 'migrated' }
      if (sight.at === 'marker') return { ...sight, state: 'note' }
      const { spec, from, to } = sight.rule
      const name = renamed(spec, sight.name, from, to)
      if (name === undefined) return { ...sight, state: 'nameless' }
      const taken = (await connection.send(['EXISTS', name], ONE_KEY)) === 1
      return { ...sight, state: taken ? 'conflict' : 'waiting' }
    }),
  )
}

const SAMPLES = 5

function shares(judged: readonly Judged[]): MigrateShare[] {
  const sums = new Map<RenameRule, Map<MigrateState, { keys: number; bytes: number; samples: Buffer[] }>>()
  for (const { rule, state, key, bytes = 0 } of judged) {
    const ofRule =
      sums.get(rule) ?? new Map<MigrateState, { keys: number; bytes: number; samples: Buffer[] }>()
    sums.set(rule, ofRule)
    const sum = ofRule.get(state) ?? { keys: 0, bytes: 0, samples: [] }
    ofRule.set(state, sum)
    sum.keys += 1
    sum.bytes += bytes
    if (sum.samples.length < SAMPLES) sum.samples.push(key)
  }
  return [...sums].flatMap(([rule, ofRule]) => [...ofRule].map(([state, sum]) => ({ rule, state, ...sum })))
}
