import type { MigrateShare, MigrateState, RenameRule } from '@keyspec/inspect'

/** What was found or done under one rule. */
export interface RuleSum {
  readonly rule: RenameRule
  readonly counts: { readonly [state in MigrateState]?: number }
  readonly samples: { readonly [state in MigrateState]?: readonly Buffer[] }
  /** Memory of the keys that wait. */
  readonly bytes: number
}

/** Adds up portions as they come. */
export interface MigrateSums {
  /** How many keys are in any of these states, over all rules. */
  count(...states: readonly MigrateState[]): number
  add(shares: readonly MigrateShare[]): void
  rows(): readonly RuleSum[]
}

const SAMPLES = 5

/** Nothing yet. */
export function migrateSums(): MigrateSums {
  const sums = new Map<string, RuleSum>()
  const totals = new Map<MigrateState, number>()
  return {
    count: (...states) => states.reduce((sum, state) => sum + (totals.get(state) ?? 0), 0),
    add(shares) {
      for (const { rule, state, keys, bytes, samples } of shares) {
        totals.set(state, (totals.get(state) ?? 0) + keys)
        const { from } = rule
        const sum = sums.get(from.text) ?? { rule, counts: {}, samples: {}, bytes: 0 }
        sums.set(from.text, {
          rule,
          counts: { ...sum.counts, [state]: (sum.counts[state] ?? 0) + keys },
          samples: {
            ...sum.samples,
            [state]: [...(sum.samples[state] ?? []), ...samples].slice(0, SAMPLES),
          },
          bytes: sum.bytes + (state === 'waiting' ? bytes : 0),
        })
      }
    },
    rows: () => [...sums.values()],
  }
}
