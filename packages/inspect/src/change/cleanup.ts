import { operation, type Operation, Progress, type Step, type Steps } from '../operation/operation.ts'
import {
  type CleanupResult,
  type PolicyProblem,
  type PolicyViolation,
  ViolationSums,
} from './violation-sums.ts'
import type { Connection, Schema } from 'keyspec'
import {
  flag,
  int,
  integerReply,
  listReply,
  NO_KEY,
  ONE_KEY,
  type OwnedPattern,
  rest,
  script,
  ttlFor,
} from 'keyspec/extend'
import { expectedType } from '../match/expected-type.ts'
import * as lua from './lua.gen.ts'
import { type Names, namesOf } from '../match/rename-rules.ts'
import { throttle } from '../scan/throttle.ts'
import { findKeys, type FoundKey, type SelectionOptions, selectKeys } from '../scan/selection.ts'
import type { ScanOptions } from '../scan/scan.ts'

/** What is looked for, and what is done about it: nothing unless told. */
export interface CleanupOptions extends SelectionOptions, Pick<ScanOptions, 'count' | 'maxLoad' | 'signal'> {
  /** Gives keys without a time to live the one that is declared, with its jitter. */
  readonly repair?: boolean | undefined
  /** Lowers a time to live that is above the declared one. */
  readonly cap?: boolean | undefined
  /** Looks for keys that nobody has touched for so long, in ms. */
  readonly idleMs?: number | undefined
  /** Deletes those. */
  readonly eraseIdle?: boolean | undefined
}

/** Some more keys that were looked at, and what of them is past its policy. */
export interface CleanupStep extends Step<CleanupResult> {
  readonly violations: readonly PolicyViolation[]
}

/**
 * Finds keys that are past their policy, and does about them what the options say. Keys of other programs, of no entry, or
 * that live forever are not looked at. It counts the keys that were chosen.
 */
export function cleanupKeys(
  schema: Schema,
  connection: Connection,
  options: CleanupOptions = {},
): Operation<CleanupResult, CleanupStep> {
  return operation(() => cleanedUp(schema, connection, options))
}

async function* cleanedUp(
  schema: Schema,
  connection: Connection,
  options: CleanupOptions,
): Steps<CleanupResult, CleanupStep> {
  const sums = new ViolationSums()
  const progress = new Progress(() => sums.result())
  let looked = 0
  const { prefix, idleMs, count = 250, maxLoad, signal } = options
  const names = namesOf(schema, prefix)
  const resting = throttle(maxLoad, signal)
  const facts = idleMs === undefined ? (['ttl'] as const) : (['ttl', 'idle'] as const)
  for await (const batch of findKeys(selectKeys(schema, options), connection, {
    count,
    maxLoad,
    signal,
    facts,
  })) {
    const found = await resting(async () =>
      fix(connection, await problems(connection, batch, names, idleMs), options),
    )
    looked += batch.length
    sums.add(found)
    yield progress.step(looked, undefined, { violations: found })
  }
  return sums.result()
}

/** Whether the servers know how long a key has not been touched: under an LFU policy they count its uses instead. */
export async function keepsIdleTimes(connection: Connection): Promise<boolean> {
  const masters = await connection.masters()
  const infos = await Promise.all(masters.map((master) => master.send(['INFO', 'memory'], NO_KEY)))
  return infos.every((info) => !/maxmemory_policy:\w+-lfu/.test(String(info)))
}

/** The longest idle time that a server can tell, in ms: its clock of 24 bits counts seconds. */
export const MOST_IDLE_MS = 2 ** 24 * 1000

const repairing = script('inspect/cleanup-repair', {
  keys: ['targets*'],
  args: { fill: flag, cap: flag, values: rest },
  lua: lua.cleanupRepair,
  commands: ['PEXPIRE', 'PTTL', 'TYPE'],
  reply: listReply(integerReply),
})

const idling = script('inspect/cleanup-idle', {
  keys: ['targets*'],
  args: { seconds: int },
  lua: lua.cleanupIdle,
  commands: ['OBJECT IDLETIME', 'UNLINK'],
  reply: listReply(integerReply),
})

async function problems(
  connection: Connection,
  batch: readonly FoundKey[],
  names: Names,
  idleMs: number | undefined,
): Promise<PolicyViolation[]> {
  const found = await Promise.all(
    batch.map(async ({ key, name, owned, type, ttlMs, idleMs: idle = 0 }): Promise<PolicyViolation[]> => {
      if (name === undefined || owned === undefined || owned.spec.external !== undefined) return []
      const { lifetime } = owned.spec
      const problem = (is: PolicyProblem): PolicyViolation => ({
        key,
        name,
        owned,
        problem: is,
        ageUnknown:
          lifetime.ttlMs !== 'forever' &&
          lifetime.renew === 'creation' &&
          (is === 'no-ttl' || is === 'ttl-too-long'),
        fixed: false,
      })
      const seen: PolicyViolation[] = []
      if (owned.legacy) {
        const now = names.of(name, owned.pattern).at(-1)!
        const both = now !== name && (await connection.send(['EXISTS', now], ONE_KEY)) === 1
        if (both) seen.push(problem('two-names'))
      }
      if (lifetime.ttlMs === 'forever') return seen
      if (type !== expectedType(owned, name)) return [...seen, problem('other-type')]
      // What goes needs no time to live.
      if (idleMs !== undefined && idle >= idleMs) return [...seen, problem('idle')]
      if (ttlMs === 'forever') return [...seen, problem('no-ttl')]
      return ttlMs! > lifetime.ttlMs ? [...seen, problem('ttl-too-long')] : seen
    }),
  )
  return found.flat()
}

/** Does what was asked for about each, in one step where keys need not share a slot. */
async function fix(
  connection: Connection,
  found: readonly PolicyViolation[],
  { repair = false, cap = false, idleMs, eraseIdle = false }: CleanupOptions,
): Promise<PolicyViolation[]> {
  const fixed = new Set<PolicyViolation>()
  const step = async (
    due: readonly PolicyViolation[],
    act: (due: readonly PolicyViolation[]) => Promise<number[]>,
  ) => {
    const groups = connection.cluster ? due.map((each) => [each]) : due.length > 0 ? [due] : []
    const answers = await Promise.all(groups.map((group) => act(group)))
    for (const [index, answer] of answers.flat().entries()) if (answer === 1) fixed.add(due[index]!)
  }
  if (repair || cap) {
    const due = found.filter(
      ({ problem }) => (repair && problem === 'no-ttl') || (cap && problem === 'ttl-too-long'),
    )
    await step(due, (group) =>
      repairing.run(
        connection,
        { targets: group.map(({ name }) => name) },
        { fill: repair, cap, values: group.flatMap(({ owned }) => valuesOf(owned)) },
      ),
    )
  }
  if (eraseIdle && idleMs !== undefined) {
    const due = found.filter(({ problem }) => problem === 'idle')
    const seconds = Math.ceil(idleMs / 1000)
    await step(due, (group) =>
      idling.run(connection, { targets: group.map(({ name }) => name) }, { seconds }),
    )
  }
  return found.map((each) => ({ ...each, fixed: fixed.has(each) }))
}

function valuesOf({ spec }: OwnedPattern): string[] {
  return [spec.type, String(ttlFor(spec.lifetime)), String(spec.lifetime.ttlMs)]
}
