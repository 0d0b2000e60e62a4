import { setTimeout as wait } from 'node:timers/promises'
import { param } from 'keyspec'
import type { Quota } from 'keyspec/recipes'

/** The hour's calls are used up, and the next hour is further off than one was willing to wait. */
export class QuotaExhaustedError extends Error {
  override readonly name = 'QuotaExhaustedError'
  readonly code = 'E_QUOTA_EXHAUSTED'
  readonly retryAfterMs: number

  constructor(limit: number, retryAfterMs: number) {
    super(
      `the ${limit} calls of this hour are used up; the next begins in ${Math.ceil(retryAfterMs / 1000)} s`,
    )
    this.retryAfterMs = retryAfterMs
  }
}

/** How calls are admitted. */
export interface AdmissionOptions {
  /** A refusal that asks for a longer wait is an error. */
  readonly maxWaitMs: number
  readonly log: (line: string) => void
  readonly signal?: AbortSignal
}

/** Calls admitted and refused so far. */
export interface Admission {
  readonly admitted: number
  readonly rejected: number
  /** Charges one call to the quota, and waits for it within bounds. Fails with `QuotaExhaustedError`. */
  admit(): Promise<void>
}

/** Admits calls under a quota, and says when a new hour has begun. */
export function admission(quota: Quota, { maxWaitMs, log, signal }: AdmissionOptions): Admission {
  let admitted = 0
  let rejected = 0
  return {
    get admitted() {
      return admitted
    },
    get rejected() {
      return rejected
    },
    async admit() {
      for (;;) {
        const taken = await quota.take()
        if (taken.previousUsed !== undefined) {
          log(
            `hour ${param.hour.encode(taken.window)} begins with 0 of ${taken.limit} calls used; the hour before used ${taken.previousUsed}`,
          )
        }
        if (taken.allowed) {
          admitted += 1
          return
        }
        rejected += 1
        if (taken.retryAfterMs > maxWaitMs) throw new QuotaExhaustedError(taken.limit, taken.retryAfterMs)
        if (rejected === 1)
          log(`the quota is used up (${taken.from}); trying again in ${taken.retryAfterMs} ms`)
        // A little later each, or all workers would come back in one moment.
        await wait(taken.retryAfterMs + Math.random() * 50, undefined, signal === undefined ? {} : { signal })
      }
    },
  }
}
