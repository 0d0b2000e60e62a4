import { escapeKey, type MigrateResult, type MigrateRule, type MigrateState } from '@keyspec/inspect'
import type { RecordOf } from '../command.ts'
import { table } from '../render/table.ts'
import { bytes, count } from '../render/units.ts'
import type { Output } from '../terminal/output.ts'
import type { Paint } from '../terminal/paint.ts'
import { type migrateSchema, stateWords } from './migrate-json.ts'

/** What one does with a migration. */
export type Action = 'plan' | 'run' | 'verify' | 'rollback'

/** What is left to do, or to look at. */
export const findingsOf: Readonly<Record<Action, readonly MigrateState[]>> = {
  plan: ['waiting', 'conflict', 'nameless'],
  run: ['conflict', 'nameless'],
  verify: ['waiting', 'conflict', 'nameless', 'without-ttl', 'undecodable'],
  rollback: ['conflict', 'nameless'],
}

// Of these, names help.
const SHOWN: readonly MigrateState[] = ['conflict', 'nameless', 'unknown', 'without-ttl', 'undecodable']

const HEADS: Readonly<Record<MigrateState, string>> = {
  waiting: 'waiting',
  conflict: 'at both',
  nameless: 'no name there',
  unknown: 'unknown',
  migrated: 'at new name',
  moved: 'moved',
  dropped: 'old dropped',
  gone: 'gone',
  note: 'notes',
  'without-ttl': 'no TTL',
  undecodable: 'unreadable',
  decoded: 'readable',
}

/** How many keys are in any of these states, over all rules. */
export function countOf({ counts }: MigrateResult, ...states: readonly MigrateState[]): number {
  return states.reduce((sum, state) => sum + (counts[state] ?? 0), 0)
}

/** Prints what was found or done, as text or JSON. */
export function report(
  out: Output<RecordOf<typeof migrateSchema>>,
  action: Action,
  found: MigrateResult,
  complete: boolean,
): void {
  if (!out.json) return out.text(reportText(action, found, out.paint))
  for (const sum of found.rules) out.record(ruleRecord(action, sum), () => '')
  const states = Object.keys(stateWords) as MigrateState[]
  const counts = Object.fromEntries(
    states.map((state) => [state, countOf(found, state)] as const).filter(([, keys]) => keys > 0),
  )
  const findings = countOf(found, ...findingsOf[action]) > 0
  out.record({ record: 'total', action, counts, complete, findings }, () => '')
}

/** The same for people. */
export function reportText(action: Action, found: MigrateResult, paint: Paint): string {
  const rows = found.rules
  if (rows.length === 0) return 'no key at any old name, and none at a new one'
  const states = (Object.keys(HEADS) as MigrateState[]).filter((state) => countOf(found, state) > 0)
  const [first, second] =
    action === 'rollback' ? (['new name', 'old name'] as const) : (['old name', 'new name'] as const)
  const columns = [
    { head: first },
    { head: second },
    ...states.map((state) => ({ head: HEADS[state], right: true })),
    ...(action === 'plan' ? [{ head: 'memory', right: true }] : []),
  ]
  const cells = rows.map(({ rule, counts, bytes: size }) => {
    const names = [escapeKey(rule.from.text), escapeKey(rule.to.text)]
    return [
      ...(action === 'rollback' ? names.toReversed() : names),
      ...states.map((state) => count(counts[state] ?? 0)),
      ...(action === 'plan' ? [bytes(size)] : []),
    ]
  })
  const notes = SHOWN.filter((state) => countOf(found, state) > 0).map((state) => {
    const keys = rows.flatMap(({ samples }) => samples[state] ?? []).slice(0, 3)
    const some = keys.map(escapeKey).join(' ')
    return `${HEADS[state]}: ${stateWords[state]}, such as ${some.length > 90 ? `${some.slice(0, 89)}…` : some}`
  })
  return [table(columns, cells, paint), ...notes].join('\n')
}

function ruleRecord(action: Action, { rule, counts, samples, bytes: size }: MigrateRule) {
  return {
    record: 'rule' as const,
    action,
    entry: rule.entry,
    program: rule.spec.external?.by ?? null,
    from: rule.from.text,
    to: rule.to.text,
    counts,
    bytes: size,
    samples: Object.fromEntries(
      SHOWN.flatMap((state) =>
        samples[state] === undefined ? [] : [[state, samples[state].map(escapeKey)]],
      ),
    ),
  }
}
