/** A job that a worker has taken: it holds it until its lease runs out, it is finished, or given back. */
export interface TakenJob<T> {
  readonly id: string
  readonly job: T
}

/** What came of an `add`. */
export interface Added {
  /** The id of each job, in order; of one that was already known, the id it was given then. */
  readonly ids: readonly string[]
  /** How many were new. */
  readonly added: number
}

/** A result for a job that a worker holds. */
export interface JobResult<R> {
  readonly id: string | number
  readonly result: R
  /** What it adds to the counters of `tallies.also`. */
  readonly add?: { readonly [name: string]: number }
}

/** A job that cannot be done, and why. */
export interface JobFailure {
  readonly id: string | number
  readonly error: unknown
}

/**
 * What became of a job that a worker finished. `not-held`: it does not hold it, or no longer; `already-done`: likewise,
 * and its result is there. Then nothing was changed.
 */
export interface Finished<Outcome extends string = 'completed' | 'failed' | 'released'> {
  readonly id: string
  readonly outcome: Outcome | 'not-held' | 'already-done'
}

/** All that a worker does in one turn; see `finishAndTake`. */
export interface Turn<R> {
  readonly completed?: readonly JobResult<R>[]
  readonly failed?: readonly JobFailure[]
  readonly released?: readonly (string | number)[]
  /** How many jobs to take; none unless told. */
  readonly take?: number
}

/** What came of a turn. */
export interface Turned<T> {
  /** For what was completed, failed and released, in this order. */
  readonly finished: readonly Finished[]
  readonly taken: readonly TakenJob<T>[]
}

/** What came of leases that had run out. */
export interface Recovered {
  /** The jobs that wait again. */
  readonly returned: readonly string[]
  /** The jobs that had returned too often. */
  readonly failed: readonly string[]
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
  /** The counters, as `tallies['waiting:dockets']`. */
  readonly tallies: { readonly [name: string]: number }
}

/** A job in progress. */
export interface RunningJob<T> extends TakenJob<T> {
  readonly worker: string | undefined
  /** When its lease runs out; unknown for a job that another program has taken. */
  readonly deadline: Date | undefined
}
