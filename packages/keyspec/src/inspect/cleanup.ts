import { type Connection, NO_KEY, ONE_KEY } from '../connection/connection.ts'
import { ttlFor } from '../kind/lifetime.ts'
import type { Owned, Schema } from '../schema.ts'
import { flag, int, rest } from '../script/argument.ts'
import { integerReply, listReply } from '../script/reply.ts'
import { script } from '../script/script.ts'
import { expectedType } from './expected-type.ts'
import * as lua from './lua.gen.ts'
import { type Names, namesOf } from './migrate-rules.ts'
import { pace } from './pace.ts'
import { find, type FoundKey, select, type SelectionOptions } from './selection.ts'
import type { WalkOptions } from './walk.ts'

/**
 * How a key is past its policy: it has no time to live where one is declared; it has a longer one; it stands under an old
 * name though the new one stands too; nobody has touched it for long. `other-type`: not the declared one, and so left.
 */
export type OverdueProblem = 'no-ttl' | 'ttl-too-long' | 'two-names' | 'idle' | 'other-type'

/** A key that is past its policy. */
export interface Overdue {
  readonly key: Buffer
  readonly name: string
  readonly owned: Owned
  readonly problem: OverdueProblem
  /**
   * Its lifetime counts from its creation, which no server remembers: how long it should still live cannot be known, and
   * it is given the whole of it.
   */
  readonly ageUnknown: boolean
  /** Whether it was given its time to live, or was deleted for being idle. */
  readonly mended: boolean
}

/** What is looked for, and what is done about it: nothing unless told. */
export interface CleanUpOptions extends SelectionOptions, Pick<WalkOptions, 'count' | 'maxLoad' | 'signal'> {
  /** Gives keys without a time to live the one that is declared, with its jitter. */
  readonly repair?: boolean | undefined
  /** Lowers a time to live that is above the declared one. */
  readonly cap?: boolean | undefined
  /** Looks for keys that nobody has touched for so long, in ms. */
  readonly idleMs?: number | undefined
  /** Deletes those. */
  readonly eraseIdle?: boolean | undefined
}

/** Keys that are past their policy, in batches. Keys of other programs, of no entry, or that live forever are not looked at. */
export async function* cleanUp(
  schema: Schema,
  connection: Connection,
  options: CleanUpOptions = {},
): AsyncGenerator<readonly Overdue[]> {
  const { prefix, idleMs, count = 250, maxLoad, signal } = options
  const names = namesOf(schema, prefix)
  const resting = pace(maxLoad, signal)
  const facts = idleMs === undefined ? (['ttl'] as const) : (['ttl', 'idle'] as const)
  for await (const batch of find(select(schema, options), connection, { count, maxLoad, signal, facts })) {
    const found = await resting(async () =>
      mend(connection, await problems(connection, batch, names, idleMs), options),
    )
    if (found.length > 0) yield found
  }
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
  reply: listReply(integerReply),
})

const idling = script('inspect/cleanup-idle', {
  keys: ['targets*'],
  args: { seconds: int },
  lua: lua.cleanupIdle,
  reply: listReply(integerReply),
})

async function problems(
  connection: Connection,
  batch: readonly FoundKey[],
  names: Names,
  idleMs: number | undefined,
): Promise<Overdue[]> {
  const found = await Promise.all(
    batch.map(async ({ key, name, owned, type, ttlMs, idleMs: idle = 0 }): Promise<Overdue[]> => {
      if (name === undefined || owned === undefined || owned.spec.foreign !== undefined) return []
      const { lifetime } = owned.spec
      const problem = (is: OverdueProblem): Overdue => ({
        key,
        name,
        owned,
        problem: is,
        ageUnknown:
          lifetime.ttlMs !== 'forever' &&
          lifetime.renew === 'creation' &&
          (is === 'no-ttl' || is === 'ttl-too-long'),
        mended: false,
      })
      const seen: Overdue[] = []
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
async function mend(
  connection: Connection,
  found: readonly Overdue[],
  { repair = false, cap = false, idleMs, eraseIdle = false }: CleanUpOptions,
): Promise<Overdue[]> {
  const mended = new Set<Overdue>()
  const step = async (due: readonly Overdue[], act: (due: readonly Overdue[]) => Promise<number[]>) => {
    const groups = connection.cluster ? due.map((each) => [each]) : due.length > 0 ? [due] : []
    const answers = await Promise.all(groups.map((group) => act(group)))
    for (const [index, answer] of answers.flat().entries()) if (answer === 1) mended.add(due[index]!)
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
  return found.map((each) => ({ ...each, mended: mended.has(each) }))
}

function valuesOf({ spec }: Owned): string[] {
  return [spec.type, String(ttlFor(spec.lifetime)), String(spec.lifetime.ttlMs)]
}
