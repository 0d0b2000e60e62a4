import { escapeKey, type MigrateState } from '@keyspec/inspect'
import { table } from '../render/table.ts'
import { bytes, count } from '../render/units.ts'
import type { Output } from '../terminal/output.ts'
import type { Paint } from '../terminal/paint.ts'
import { stateWords } from './migrate-json.ts'
import type { MigrateSums, RuleSum } from './migrate-sums.ts'

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

/** Prints what was found or done, as text or JSON. */
export function report(out: Output, action: Action, sums: MigrateSums, complete: boolean): void {
  if (!out.json) return out.text(reportText(action, sums, out.paint))
  for (const sum of sums.rows()) out.record(ruleRecord(action, sum), () => '')
  const states = Object.keys(stateWords) as MigrateState[]
  const counts = Object.fromEntries(
    states.map((state) => [state, sums.count(state)] as const).filter(([, keys]) => keys > 0),
  )
  const findings = sums.count(...findingsOf[action]) > 0
  out.record({ record: 'total', action, counts, complete, findings }, () => '')
}

/** The same for people. */
export function reportText(action: Action, sums: MigrateSums, paint: Paint): string {
  const rows = sums.rows()
  if (rows.length === 0) return 'no key at any old name, and none at a new one'
  const states = (Object.keys(HEADS) as MigrateState[]).filter((state) => sums.count(state) > 0)
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
  const notes = SHOWN.filter((state) => sums.count(state) > 0).map((state) => {
    const keys = rows.flatMap(({ samples }) => samples[state] ?? []).slice(0, 3)
    const some = keys.map(escapeKey).join(' ')
    return `${HEADS[state]}: ${stateWords[state]}, such as ${some.length > 90 ? `${some.slice(0, 89)}…` : some}`
  })
  return [table(columns, cells, paint), ...notes].join('\n')
}

function ruleRecord(action: Action, { rule, counts, samples, bytes: size }: RuleSum) {
  return {
    record: 'rule',
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
