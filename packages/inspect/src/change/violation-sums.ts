import type { OwnedPattern } from 'keyspec/extend'
import { escapeKey } from '../match/key-name.ts'

/**
 * How a key is past its policy: it has no time to live where one is declared; it has a longer one; it stands under an old
 * name though the new one stands too; nobody has touched it for long. `other-type`: not the declared one, and so left.
 */
export type PolicyProblem = 'no-ttl' | 'ttl-too-long' | 'two-names' | 'idle' | 'other-type'

/** A key that is past its policy. */
export interface PolicyViolation {
  readonly key: Buffer
  readonly name: string
  readonly owned: OwnedPattern
  readonly problem: PolicyProblem
  /**
   * Its lifetime counts from its creation, which no server remembers: how long it should still live cannot be known, and
   * it is given the whole of it.
   */
  readonly ageUnknown: boolean
  /** Whether it was given its time to live, or was deleted for being idle. */
  readonly fixed: boolean
}

/** Keys of one entry with one problem. */
export interface ViolationSum {
  readonly entry: string
  readonly problem: PolicyProblem
  readonly keys: number
  readonly fixed: number
  /** How many live from their creation, which no server remembers. */
  readonly ageUnknown: number
  /** The first few keys, as `escapeKey`. */
  readonly samples: readonly string[]
}

/** What is past its policy, and what was done about it. */
export interface CleanupResult {
  /** One for each entry and problem. */
  readonly violations: readonly ViolationSum[]
}

const SAMPLES = 5

/** Adds up what was found or done, batch by batch. */
export class ViolationSums {
  readonly #sums = new Map<string, ViolationSum>()

  /** Returns what it comes to so far. */
  result(): CleanupResult {
    return { violations: [...this.#sums.values()] }
  }

  add(found: readonly PolicyViolation[]): void {
    for (const { owned, problem, key, fixed, ageUnknown } of found) {
      const { entry } = owned
      const id = `${entry} ${problem}`
      const nothing = { entry, problem, keys: 0, fixed: 0, ageUnknown: 0, samples: [] }
      const sum: ViolationSum = this.#sums.get(id) ?? nothing
      this.#sums.set(id, {
        ...sum,
        keys: sum.keys + 1,
        fixed: sum.fixed + (fixed ? 1 : 0),
        ageUnknown: sum.ageUnknown + (ageUnknown ? 1 : 0),
        samples: sum.samples.length < SAMPLES ? [...sum.samples, escapeKey(key)] : sum.samples,
      })
    }
  }
}
