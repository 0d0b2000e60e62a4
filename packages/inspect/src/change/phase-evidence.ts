import type { Connection, Schema } from 'keyspec'
import { type PhaseInUse, phasesInUse } from 'keyspec/extend'
import { type MigrateOptions, planMigration } from './migrate.ts'
import { prefixOf, type RenameRule, rulesOf } from '../match/rename-rules.ts'
import type { Change } from '../manifest/change.ts'

/** What the server shows of one rename. */
interface Evidence {
  /** Keys at an old name, those of both names and those on their way between two slots among them. */
  readonly old: number
  /** Of these, keys that stand at their new name too. */
  readonly both: number
  readonly inUse: readonly PhaseInUse[]
}

/**
 * Looks at the server for what lets a rename go on, and judges the changes of phase by it: one is safe only if the whole
 * keyspace was walked and nothing speaks against it. A program that knows only an old name, and one that has been idle for a
 * minute, leave no trace on a server, so the judgement holds for the moment of the walk.
 */
export async function withEvidence(
  changes: readonly Change[],
  schema: Schema,
  connection: Connection,
  options: Pick<MigrateOptions, 'prefix' | 'maxLoad' | 'signal'> = {},
): Promise<Change[]> {
  if (!changes.some(isForward)) return [...changes]
  const { prefix = '' } = options
  const counted = new Map<string, { old: number; both: number }>()
  for (const { rule, counts } of (await planMigration(schema, connection, options)).rules) {
    const { waiting = 0, conflict = 0, nameless = 0 } = counts
    const sum = counted.get(rule.to.text) ?? { old: 0, both: 0 }
    counted.set(rule.to.text, { old: sum.old + waiting + conflict + nameless, both: sum.both + conflict })
  }
  const rules = new Map(rulesOf(schema, prefix).map((rule) => [rule.to.text, rule]))
  return Promise.all(
    changes.map(async (change) => {
      const rule = rules.get(prefix + change.pattern)
      if (!isForward(change) || rule === undefined) return change
      const inUse = await usesOf(connection, rule)
      return judged(change, { ...(counted.get(rule.to.text) ?? { old: 0, both: 0 }), inUse })
    }),
  )
}

function usesOf(connection: Connection, rule: RenameRule): Promise<readonly PhaseInUse[]> {
  return phasesInUse(connection, prefixOf(rule), rule.to.text)
}

function isForward({ code, phases, impact }: Change): boolean {
  return code === 'phase-changed' && phases !== undefined && phases[0] < phases[1] && impact === 'migration'
}

function judged(change: Change, { old, both, inUse }: Evidence): Change {
  const [, now] = change.phases!
  const used = inUse.map(({ phase, agoMs }) => `phase ${phase} ${Math.round(agoMs / 1000)} s ago`)
  const seen =
    `${old} keys at an old name, ${both} of them at both; used in the last minute: ` +
    (used.length === 0 ? 'no phase' : used.join(', '))
  const message = `${change.message}; on the server: ${seen}`
  const missing = [
    ...(both > 0 ? ['keys stand at both names, so a program that knows only the old name wrote lately'] : []),
    ...(old > 0 && both === 0
      ? [
          now === 2
            ? 'keys stand at the old name, and no server shows whether a program that knows only that name writes them'
            : 'keys stand at an old name: move them',
        ]
      : []),
    ...(now === 3 && inUse.some(({ phase }) => phase === 1) ? ['programs at phase 1 run'] : []),
  ]
  const { remedy: _, ...rest } = change
  if (missing.length === 0)
    return {
      ...rest,
      impact: 'safe',
      message,
      advice: 'programs that were idle meanwhile, or know only the old name, cannot be seen: stop them first',
    }
  const moves = old > 0 && both === 0 && now === 3
  const remedy = moves ? { remedy: { kind: 'migrate' as const, entry: change.entry } } : {}
  return { ...rest, message, advice: `not proven safe: ${missing.join('; ')}`, ...remedy }
}
