import type { Subscriber } from '../../connection/connection.ts'
import { type Duration, milliseconds } from '../../duration.ts'
import { addJobs, type AddOptions } from './add-jobs.ts'
import { completeAndTake, turn } from './complete-and-take.ts'
import { heldJobs, renewJobs } from './held-jobs.ts'
import type { QueueNames } from './layout.ts'
import {
  type FailedJob,
  failedJobs,
  jobsInProgress,
  runningJob,
  statsOf,
  storedResult,
  waitingJobs,
} from './look.ts'
import type {
  AddResult,
  Batch,
  BatchResult,
  FinishResult,
  JobResult,
  QueueStats,
  RecoverResult,
  RepairResult,
  RunningJob,
  TakenJob,
} from './outcome.ts'
import { patiently } from './patience.ts'
import { decodeResult, type OneQueue, type QueueHome } from './queue-home.ts'
import { recoverExpired, recount, repair } from './upkeep.ts'

/** One queue. `T` is a job as it is read, `N` as it is added; `R` a result as it is read, `RIn` as it is written. */
export class WorkQueue<T, N, R, RIn> {
  /** The name of the list of waiting jobs. */
  readonly name: string
  /** The names of its keys. */
  readonly names: QueueNames
  /** How long a worker may hold a job without renewing it. */
  readonly leaseMs: number
  readonly #queue: OneQueue<T, RIn>
  readonly #subscriber: Subscriber | undefined

  constructor(home: QueueHome<T, RIn>, names: QueueNames) {
    this.#queue = { home, names }
    this.#subscriber = home.subscriber
    this.leaseMs = home.leaseMs
    this.names = names
    this.name = names.waiting
  }

  /**
   * Puts jobs at the end of the queue, in one step (in several of 5,000 jobs if there are more).
   * A `token` makes it safe to ask again after a lost answer: jobs that came under a token come only once.
   * `unique` names each job, and one whose name is remembered is not added again. Tokens and names are apart.
   *
   * If the jobs give their own ids, an id may come again. A job whose id is in progress waits until that one has ended, so
   * that both are done. `unique` keeps a second one out.
   *
   * @throws TypeError for an empty token or name, or both a token and names; nothing was sent.
   */
  async add(jobs: readonly N[], options: AddOptions<N> = {}): Promise<AddResult> {
    return addJobs(this.#queue, jobs, options)
  }

  /**
   * Gives the worker the next `count` jobs, fewer if fewer wait: it holds each for the declared lease. In steps of 1,000.
   * Jobs that cannot be read are failed, and others given in their place, up to a hundred times; `completeAndTake` tells of them.
   *
   * If the answer is lost, the worker holds jobs that it does not know of: `held` gives them. Otherwise their leases run
   * out, and they return; that does not count as an attempt (see `attempts`).
   */
  async take(worker: string | number, count = 1): Promise<readonly TakenJob<T>[]> {
    return (await turn(this.#queue, worker, [], count)).taken
  }

  /**
   * Takes jobs as `take` does. While none waits it asks again, ever more slowly (10 ms to 1 s), for as long as `wait`
   * says; with a subscriber it is woken at once. Answers none when the time is over, or `signal` ends it.
   */
  async takeWhenAvailable(
    worker: string | number,
    options: { readonly wait: Duration; readonly count?: number; readonly signal?: AbortSignal },
  ): Promise<readonly TakenJob<T>[]> {
    const { wait, count = 1, signal } = options
    const asked = {
      waitMs: milliseconds(wait),
      subscriber: this.#subscriber,
      channel: this.name,
      signal,
    }
    return (
      (await patiently(asked, async () => {
        const taken = await this.take(worker, count)
        return taken.length > 0 ? taken : undefined
      })) ?? []
    )
  }

  /** Finishes jobs with their results: each that the worker holds leaves its hands, is counted, and its result kept. */
  async complete(
    worker: string | number,
    ...results: readonly JobResult<RIn>[]
  ): Promise<FinishResult<'completed'>[]> {
    const { finished } = await this.completeAndTake(worker, { completed: results })
    return finished as FinishResult<'completed'>[]
  }

  /** Sends jobs that cannot be done to the failed ones. */
  async fail(
    worker: string | number,
    ids: readonly (string | number)[],
    error: unknown,
  ): Promise<FinishResult<'failed'>[]> {
    const { finished } = await this.completeAndTake(worker, { failed: ids.map((id) => ({ id, error })) })
    return finished as FinishResult<'failed'>[]
  }

  /** Gives jobs back, undone, to the head of the queue; it does not count as an attempt. */
  async release(
    worker: string | number,
    ids: readonly (string | number)[],
  ): Promise<FinishResult<'released'>[]> {
    const { finished } = await this.completeAndTake(worker, { released: ids })
    return finished as FinishResult<'released'>[]
  }

  /**
   * Finishes jobs and takes the next ones, all in one step and one round trip (in several steps of 1,000 finished jobs, or
   * of 1,000 taken ones, if there are more; it takes when all are finished).
   *
   * After a lost answer it is safe to ask again: a job that was finished then is `already-done` while its result is kept,
   * else `not-held`, and nothing about it changes. `held` gives the jobs that were taken then.
   *
   * @throws TypeError for an amount of a counter that `counters.also` does not declare; nothing was sent.
   */
  async completeAndTake(worker: string | number, batch: Batch<RIn>): Promise<BatchResult<T>> {
    return completeAndTake(this.#queue, worker, batch)
  }

  /** Starts the lease of jobs anew, in steps of 1,000; answers for each id whether the worker holds it. */
  async renew(worker: string | number, ids: readonly (string | number)[]): Promise<boolean[]> {
    return renewJobs(this.#queue, worker, ids)
  }

  /**
   * The jobs that a worker holds, each with its lease begun anew, the oldest lease first: what it goes on with when the
   * answer to a `take` was lost, or when it starts again under its old name. It reads all jobs in progress, in steps of
   * about 1,000.
   */
  async held(worker: string | number): Promise<TakenJob<T>[]> {
    return heldJobs(this.#queue, worker)
  }

  /** A job in progress with its holder, or `undefined` where no such job is in progress. */
  async running(id: string | number): Promise<RunningJob<T> | undefined> {
    return runningJob(this.#queue, String(id))
  }

  /**
   * Takes all jobs whose lease has run out from their holders, in steps of 500. Every turn of a worker does so by itself
   * for the first 100 (for as many as it takes, if that is more): it is needed only if no worker turns.
   */
  async recoverExpired(): Promise<RecoverResult> {
    return recoverExpired(this.#queue)
  }

  /**
   * Repairs a queue that lost a key (evicted, deleted), or that a program without leases shares, in steps of about 1,000
   * entries, beside running workers. A job in progress without a lease is given one, so that it returns if nobody renews or finishes
   * it. Leases, holders and attempts of jobs that are not in progress go. The counters of waiting jobs are counted anew
   * while at most 10,000 jobs wait (see `recount`). `stats` and `keyspec audit` say whether there is something to repair.
   *
   * A program of another kind may hold jobs without a lease for as long as it likes: this gives them one too.
   */
  async repair(): Promise<RepairResult> {
    return repair(this.#queue)
  }

  /** How many jobs there are of each state, and every counter, of one instant. */
  async stats(): Promise<QueueStats> {
    return statsOf(this.#queue)
  }

  /**
   * Sets the counters of waiting jobs right after programs that move no counters; answers how many were wrong. One step
   * over all waiting jobs, which cannot be cut: it holds the server for 5 to 10 ms for every 1,000 of them.
   */
  async recount(): Promise<number> {
    return recount(this.#queue)
  }

  /** The jobs that wait, the next one first, without taking them. */
  async peek(count = 10, from = 0): Promise<T[]> {
    return waitingJobs(this.#queue, count, from)
  }

  /** The jobs in progress, in no order, each with its holder. */
  inProgress(): AsyncGenerator<RunningJob<T>> {
    return jobsInProgress(this.#queue)
  }

  /** The result of a job, while it is kept. */
  async result(id: string | number): Promise<R | undefined> {
    const stored = await storedResult(this.#queue, String(id))
    return stored === undefined ? undefined : (decodeResult(this.#queue, String(id), stored) as R)
  }

  /** The failed jobs, in no order: what is kept of each, as it stands, and why it failed, where that is kept. */
  failures(): AsyncGenerator<FailedJob> {
    return failedJobs(this.#queue)
  }
}
