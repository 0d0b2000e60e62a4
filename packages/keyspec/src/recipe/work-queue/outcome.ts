import type { DecodeError } from '../../errors.ts'

/** A job that a worker has taken: it holds it until its lease runs out, it is finished, or given back. */
export interface TakenJob<T> {
  readonly id: string
  readonly job: T
}

/** The result of an `add`. */
export interface AddResult {
  /** The id of each job, in order. A job that was already known has the id that it was given then. */
  readonly ids: readonly string[]
  /** How many were new. */
  readonly added: number
  /** With `replicated`: how many replicas acknowledged the new jobs, all of them; 0 if none was new. */
  readonly replicas?: number
}

/** A result for a job that a worker holds. */
export interface JobResult<R> {
  readonly id: string | number
  readonly result: R
  /** What it adds to the counters of `counters.also`. */
  readonly add?: { readonly [name: string]: number }
}

/** A job that cannot be done, and why. */
export interface JobFailure {
  readonly id: string | number
  readonly error: unknown
}

/**
 * The outcome of a job that a worker finished. `not-held`: the worker does not hold the job, or no longer. `already-done`:
 * likewise, and the job's result is kept. Neither changes anything.
 */
export interface FinishResult<Outcome extends string = 'completed' | 'failed' | 'released'> {
  readonly id: string
  readonly outcome: Outcome | 'not-held' | 'already-done'
  /** With `replicated`: how many replicas acknowledged the outcome; 0 if nothing was changed. */
  readonly replicas?: number
}

/** A job that cannot be read, and why. One that names no id is failed under a name that is made of its text. */
export interface UnreadableJob {
  readonly id: string
  readonly error: DecodeError
}

/** One batch of a worker; see `completeAndTake`. */
export interface Batch<R> {
  readonly completed?: readonly JobResult<R>[]
  readonly failed?: readonly JobFailure[]
  readonly released?: readonly (string | number)[]
  /**
   * How many jobs to take.
   * @default 0
   */
  readonly take?: number
}

/** The result of a batch. */
export interface BatchResult<T> {
  /** The outcomes of the completed, failed and released jobs, in this order. */
  readonly finished: readonly FinishResult[]
  readonly taken: readonly TakenJob<T>[]
  /** Jobs that waited and cannot be read, with the reason of each: they are among the failed ones now. */
  readonly unreadable: readonly UnreadableJob[]
}

/** The jobs whose leases had run out. */
export interface RecoverResult {
  /** The jobs that wait again. */
  readonly returned: readonly string[]
  /** The jobs that had returned too often. */
  readonly failed: readonly string[]
}

/** The changes of a `repair`. */
export interface RepairResult {
  /** How many jobs in progress had no lease, and were given one. */
  readonly leased: number
  /** How many leases, holders and counts of attempts went, since they stood for no job in progress. */
  readonly dropped: number
  /** How many counters of waiting jobs were wrong; `undefined` if too many jobs wait to count them in one step. */
  readonly recounted: number | undefined
}

/** How many jobs there are, at one instant. */
export interface QueueStats {
  readonly waiting: number
  readonly inProgress: number
  /** The results that are kept. */
  readonly done: number
  readonly failed: number
  /** Jobs in progress whose lease has run out. */
  readonly expired: number
  /** By how many the jobs in progress differ from their leases, or from their holders: see `repair`. */
  readonly orphans: number
  /** The counters, as `counters['waiting:dockets']`. */
  readonly counters: { readonly [name: string]: number }
}

/** A job in progress. */
export interface RunningJob<T> extends TakenJob<T> {
  readonly worker: string | undefined
  /** When its lease runs out; unknown for a job that another program has taken. */
  readonly deadline: Date | undefined
}
