import type { RenameRule } from '../match/rename-rules.ts'

/**
 * What was found of a key, or became of it. At its old name: it waits; the new name stands too (`conflict`); it could have
 * no name in the new pattern (`nameless`). Under what an old name begins with, and of no entry: `unknown`. At its new
 * name: `migrated`. On a cluster, at phase 3: a `note` of a key that moved to another slot. And of what is done: `moved`; `dropped`, the old value of a conflict; `gone` before its turn came.
 */
export type MigrateState =
  | 'waiting'
  | 'conflict'
  | 'nameless'
  | 'unknown'
  | 'migrated'
  | 'moved'
  | 'dropped'
  | 'gone'
  | 'note'
  | MigrateFault
  | 'decoded'

/** What is wrong with a key at its new name: it has no time to live where one is declared, or its codec cannot read it. */
export type MigrateFault = 'without-ttl' | 'undecodable'

/** Some keys of one rule. */
export interface MigrateShare {
  readonly rule: RenameRule
  readonly state: MigrateState
  readonly keys: number
  /** What MEMORY USAGE says of them, in a plan; else 0. */
  readonly bytes: number
  readonly samples: readonly Buffer[]
}

/** What was found or done under one rule. */
export interface MigrateRule {
  readonly rule: RenameRule
  readonly counts: { readonly [state in MigrateState]?: number }
  readonly samples: { readonly [state in MigrateState]?: readonly Buffer[] }
  /** Memory of the keys that wait. */
  readonly bytes: number
}

/** What a step of a migration found, or did. */
export interface MigrateResult {
  /** How many keys are in each state, over all rules. */
  readonly counts: { readonly [state in MigrateState]?: number }
  readonly rules: readonly MigrateRule[]
}

const SAMPLES = 5

/** Adds up what was found or done, batch by batch. */
export class MigrateSums {
  readonly #rules = new Map<string, MigrateRule>()
  readonly #counts: { [state in MigrateState]?: number } = {}

  /** Returns what it comes to so far. */
  result(): MigrateResult {
    return { counts: { ...this.#counts }, rules: [...this.#rules.values()] }
  }

  add(shares: readonly MigrateShare[]): void {
    for (const { rule, state, keys, bytes, samples } of shares) {
      this.#counts[state] = (this.#counts[state] ?? 0) + keys
      const { from } = rule
      const sum = this.#rules.get(from.text) ?? { rule, counts: {}, samples: {}, bytes: 0 }
      this.#rules.set(from.text, {
        rule,
        counts: { ...sum.counts, [state]: (sum.counts[state] ?? 0) + keys },
        samples: { ...sum.samples, [state]: [...(sum.samples[state] ?? []), ...samples].slice(0, SAMPLES) },
        bytes: sum.bytes + (state === 'waiting' ? bytes : 0),
      })
    }
  }
}
