import type { Codec } from '../../codec/codec.ts'
import { type Connection, ONE_KEY, type Subscriber } from '../../connection/connection.ts'
import { type Duration, milliseconds } from '../../duration.ts'
import { DecodeError, EncodeError } from '../../errors.ts'
import type { Part } from './layout.ts'
import type {
  Added,
  Finished,
  JobFailure,
  JobResult,
  QueueStats,
  Recovered,
  RunningJob,
  TakenJob,
  Turn,
  Turned,
} from './outcome.ts'
import * as scripts from './scripts.ts'
import type { StoredJob } from './stored-job.ts'
import { patiently } from './patience.ts'

/** What the queues of one entry share. */
export interface QueueHome<T, RIn> {
  readonly connection: Connection
  readonly subscriber: Subscriber | undefined
  readonly now: (() => number) | undefined
  readonly stored: StoredJob<T>
  readonly result: Codec<any, RIn>
  readonly leaseMs: number
  readonly attempts: number
  readonly keepDone: number
  readonly remember: number
  readonly numbered: boolean
  readonly keepErrors: boolean
  readonly tallied: readonly string[]
  /** What every script is told of jobs. */
  readonly job: {
    readonly field: string
    readonly by: string
    readonly failedField: string
    readonly tallied: string
  }
}

/** The keys of one queue. */
export type QueueNames = { readonly [part in Part]-?: string } & { readonly tallies: readonly string[] }

const STEP = 5000
const RECOVER_STEP = 500

/** One queue. `T` is a job as it is read, `N` as it is added; `R` a result as it is read, `RIn` as it is written. */
export class WorkQueue<T, N, R, RIn> {
  /** The name of the list of waiting jobs. */
  readonly name: string
  /** The names of its keys. */
  readonly names: QueueNames
  /** How long a worker may hold a job without renewing it. */
  readonly leaseMs: number
  readonly #home: QueueHome<T, RIn>

  constructor(home: QueueHome<T, RIn>, names: QueueNames) {
    this.#home = home
    this.leaseMs = home.leaseMs
    this.names = names
    this.name = names.waiting
  }

  /**
   * Puts jobs at the end of the queue, in one step (in several of 5,000 jobs where there are more).
   * A `token` makes it safe to ask again after a lost answer: jobs that came under a token come only once.
   * `unique` names each job, and one whose name is remembered is not added again.
   */
  async add(
    jobs: readonly N[],
    options: { readonly token?: string; readonly unique?: (job: N) => string } = {},
  ): Promise<Added> {
    const { token, unique } = options
    if (token !== undefined && unique !== undefined)
      throw new TypeError('add takes a token or unique names: either alone makes a repeated call safe')
    if (token === '') throw new TypeError('the token of an add is empty')
    const encoded = jobs.map((job) => this.#encodeNew(job))
    const ids: string[] = []
    let added = 0
    for (let from = 0; from < jobs.length; from += STEP) {
      const step = encoded.slice(from, from + STEP)
      const names = unique === undefined ? undefined : jobs.slice(from, from + STEP).map(unique)
      if (names?.includes('') === true) throw new TypeError('the unique name of a job is empty')
      const stepToken = token === undefined ? '' : from === 0 ? token : `${token}#${from / STEP}`
      const answer = await scripts.add.run(this.#home.connection, this.names, {
        ...this.#home.job,
        now: this.#home.now?.(),
        numbered: this.#home.numbered,
        head: this.#home.stored.head,
        remember: this.#home.remember,
        token: stepToken,
        items: step.flatMap(({ text }, index) => [names?.[index] ?? '', text]),
      })
      added += answer.added
      for (let index = 0; index < step.length; index += 1) ids.push(idAt(answer.ids, index, step[index]!.id))
    }
    return { ids, added }
  }

  /** Gives the worker the next `count` jobs, fewer where fewer wait: it holds each for the declared lease. */
  async take(worker: string | number, count = 1): Promise<readonly TakenJob<T>[]> {
    const { taken } = await this.#turn(worker, [], count)
    // The last jobs of a queue may be those of a worker that died: nobody should have to ask for them.
    if (taken.length > 0 || count === 0 || (await this.recoverExpired()).returned.length === 0) return taken
    return (await this.#turn(worker, [], count)).taken
  }

  /**
   * Takes jobs as `take` does, but where none waits asks again, ever more slowly (10 ms to 1 s), for as long as `wait`
   * says; with a subscriber it is woken at once. Answers none when the time is over, or `signal` ends it.
   */
  async takeWhenAvailable(
    worker: string | number,
    options: { readonly wait: Duration; readonly count?: number; readonly signal?: AbortSignal },
  ): Promise<readonly TakenJob<T>[]> {
    const { wait, count = 1, signal } = options
    const asked = {
      waitMs: milliseconds(wait),
      subscriber: this.#home.subscriber,
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
  ): Promise<Finished<'completed'>[]> {
    const { finished } = await this.finishAndTake(worker, { completed: results })
    return finished as Finished<'completed'>[]
  }

  /** Sends jobs that cannot be done to the failed ones. */
  async fail(
    worker: string | number,
    ids: readonly (string | number)[],
    error: unknown,
  ): Promise<Finished<'failed'>[]> {
    const { finished } = await this.finishAndTake(worker, { failed: ids.map((id) => ({ id, error })) })
    return finished as Finished<'failed'>[]
  }

  /** Gives jobs back, undone, to the head of the queue; it does not count as an attempt. */
  async release(worker: string | number, ids: readonly (string | number)[]): Promise<Finished<'released'>[]> {
    const { finished } = await this.finishAndTake(worker, { released: ids })
    return finished as Finished<'released'>[]
  }

  /** Finishes jobs and takes the next ones, all in one step and one round trip. */
  async finishAndTake(worker: string | number, turn: Turn<RIn>): Promise<Turned<T>> {
    const { completed = [], failed = [], released = [], take = 0 } = turn
    const items: string[] = []
    for (const { id, result, add } of completed)
      items.push('completed', String(id), this.#encodeResult(String(id), result), amounts(add))
    for (const { id, error } of failed) items.push('failed', String(id), words(error), '')
    for (const id of released) items.push('released', String(id), '', '')
    if (items.length === 0 && take === 0) return { finished: [], taken: [] }
    return this.#turn(worker, items, take)
  }

  /** Starts the lease of jobs anew; answers for each id whether the worker holds it. */
  async renew(worker: string | number, ids: readonly (string | number)[]): Promise<boolean[]> {
    if (ids.length === 0) return []
    const answers = await scripts.renew.run(this.#home.connection, this.names, {
      now: this.#home.now?.(),
      leaseMs: this.#home.leaseMs,
      worker: nameOf(worker),
      ids: ids.map(String),
    })
    return answers.map((held) => held === 1)
  }

  /**
   * The jobs that a worker holds, each with its lease begun anew: what it goes on with when the answer to a `take` was
   * lost, or when it starts again under its old name.
   */
  async held(worker: string | number): Promise<TakenJob<T>[]> {
    const { now, leaseMs, connection } = this.#home
    const given = { now: now?.(), leaseMs, worker: nameOf(worker) }
    return this.#read(worker, await scripts.held.run(connection, this.names, given))
  }

  /** A job in progress with its holder, or `undefined` where no such job is in progress. */
  async running(id: string | number): Promise<RunningJob<T> | undefined> {
    const { connection } = this.#home
    const [text, worker, deadline] = (await Promise.all([
      connection.send(['HGET', this.names.inProgress, String(id)], ONE_KEY),
      connection.send(['HGET', this.names.holders, String(id)], ONE_KEY),
      connection.send(['ZSCORE', this.names.deadlines, String(id)], ONE_KEY),
    ])) as (string | null)[]
    return text === null || text === undefined ? undefined : this.#running(String(id), text, worker, deadline)
  }

  /** Takes all jobs whose lease has run out from their holders. `take` does so by itself when nothing else waits. */
  async recoverExpired(): Promise<Recovered> {
    const { connection, job, now, keepErrors, attempts } = this.#home
    const returned: string[] = []
    const failed: string[] = []
    for (;;) {
      const given = { ...job, now: now?.(), keepErrors, allowed: attempts, most: RECOVER_STEP }
      const [back, lost, expired] = await scripts.recover.run(connection, this.names, given)
      returned.push(...back)
      failed.push(...lost)
      if (expired < RECOVER_STEP) return { returned, failed }
    }
  }

  /** How many jobs there are of each state, and every counter, of one instant. */
  async stats(): Promise<QueueStats> {
    const { connection, now, keepDone, tallied } = this.#home
    const [waiting, inProgress, done, failed, expired, counters] = await scripts.stats.run(
      connection,
      // Where no results are kept another hash stands in, as counting a list's fields would be an error.
      keepDone > 0 ? this.names : { ...this.names, done: this.names.failed },
      { now: now?.() },
    )
    return {
      waiting,
      inProgress,
      done: keepDone > 0 ? done : 0,
      failed,
      expired,
      tallies: Object.fromEntries(tallied.map((name, index) => [name, Number(counters[index])])),
    }
  }

  /** Sets the counters of waiting jobs right after programs that move no counters; answers how many were wrong. */
  async recount(): Promise<number> {
    return scripts.recount.run(this.#home.connection, this.names, this.#home.job)
  }

  /** The jobs that wait, the next one first, without taking them. */
  async peek(count = 10, from = 0): Promise<T[]> {
    const range = ['LRANGE', this.names.waiting, String(from), String(from + count - 1)]
    const texts = (await this.#home.connection.send(range, ONE_KEY)) as readonly string[]
    return texts.map((text) => this.#decode(text))
  }

  /** The jobs in progress, in no order, each with its holder. */
  async *inProgress(): AsyncGenerator<RunningJob<T>> {
    const { connection } = this.#home
    for await (const page of this.#fields(this.names.inProgress)) {
      const ids = page.map(([id]) => id)
      const [holders, ...deadlines] = await Promise.all([
        connection.send(['HMGET', this.names.holders, ...ids], ONE_KEY) as Promise<
          readonly (string | null)[]
        >,
        ...ids.map((id) => connection.send(['ZSCORE', this.names.deadlines, id], ONE_KEY)),
      ])
      for (const [index, [id, text]] of page.entries()) {
        yield this.#running(id, text, holders[index], deadlines[index] as string | null)
      }
    }
  }

  /** The result of a job, while it is kept. */
  async result(id: string | number): Promise<R | undefined> {
    if (this.#home.keepDone === 0) return undefined
    const stored = await this.#home.connection.send(['HGET', this.names.done, String(id)], ONE_KEY)
    if (stored === null) return undefined
    try {
      return this.#home.result.decode(stored as string & Buffer) as R
    } catch (error) {
      throw new DecodeError(`${this.names.done} ${id}`, this.#home.result.name, error)
    }
  }

  /** The failed jobs, in no order: what is kept of each, as it stands, and why it failed, where that is kept. */
  async *failures(): AsyncGenerator<{
    readonly id: string
    readonly kept: string
    readonly error: string | undefined
  }> {
    const { connection, keepErrors } = this.#home
    for await (const page of this.#fields(this.names.failed)) {
      const ids = page.map(([id]) => id)
      const errors = keepErrors
        ? ((await connection.send(['HMGET', this.names.errors, ...ids], ONE_KEY)) as readonly (
            | string
            | null
          )[])
        : []
      for (const [index, [id, kept]] of page.entries()) yield { id, kept, error: errors[index] ?? undefined }
    }
  }

  #running(
    id: string,
    text: string,
    worker: string | null | undefined,
    deadline: string | null | undefined,
  ): RunningJob<T> {
    return {
      id,
      job: this.#decode(text),
      worker: worker ?? undefined,
      deadline: deadline === null || deadline === undefined ? undefined : new Date(Number(deadline)),
    }
  }

  async *#fields(key: string): AsyncGenerator<[field: string, value: string][]> {
    let cursor = '0'
    do {
      const [next, flat] = (await this.#home.connection.send(
        ['HSCAN', key, cursor, 'COUNT', '200'],
        ONE_KEY,
      )) as [string, string[]]
      const page: [string, string][] = []
      for (let at = 0; at < flat.length; at += 2) page.push([flat[at]!, flat[at + 1]!])
      if (page.length > 0) yield page
      cursor = next
    } while (cursor !== '0')
  }

  async #turn(worker: string | number, items: readonly string[], take: number): Promise<Turned<T>> {
    const { connection, job, now, leaseMs, keepDone, keepErrors } = this.#home
    const [outcomes, taken] = await scripts.turn.run(connection, this.names, {
      ...job,
      now: now?.(),
      leaseMs,
      keepDone,
      keepErrors,
      worker: nameOf(worker),
      take,
      items,
    })
    const finished = outcomes.map((outcome, index) => ({ id: items[index * 4 + 1]!, outcome }) as Finished)
    return { finished, taken: await this.#read(worker, taken) }
  }

  /** Reads jobs that were taken; those that the codec refuses go to the failed ones, or they would come again for ever. */
  async #read(worker: string | number, flat: readonly string[]): Promise<TakenJob<T>[]> {
    const jobs: TakenJob<T>[] = []
    const unreadable: JobFailure[] = []
    for (let at = 0; at < flat.length; at += 2) {
      const id = flat[at]!
      try {
        jobs.push({ id, job: this.#home.stored.decode(flat[at + 1]!) })
      } catch (error) {
        unreadable.push({ id, error })
      }
    }
    if (unreadable.length > 0) await this.finishAndTake(worker, { failed: unreadable })
    return jobs
  }

  #decode(text: string): T {
    try {
      return this.#home.stored.decode(text)
    } catch (error) {
      throw new DecodeError(this.name, this.#home.stored.codec.name, error)
    }
  }

  #encodeNew(job: N): { readonly id?: string; readonly text: string } {
    const { stored, numbered } = this.#home
    try {
      return numbered ? { text: stored.encodeNew(job) } : stored.encodeNamed(job)
    } catch (error) {
      throw new EncodeError(this.name, stored.codec.name, error)
    }
  }

  #encodeResult(id: string, result: RIn): string {
    try {
      return this.#home.keepDone > 0 ? String(this.#home.result.encode(result)) : ''
    } catch (error) {
      throw new EncodeError(`${this.names.done} ${id}`, this.#home.result.name, error)
    }
  }
}

/** One id stands for a run of them. */
function idAt(ids: readonly string[], index: number, own: string | undefined): string {
  if (own !== undefined) return own
  return ids.length === 1 ? String(BigInt(ids[0]!) + BigInt(index)) : ids[index]!
}

function nameOf(worker: string | number): string {
  const name = String(worker)
  if (name === '') throw new TypeError('a worker has a name: it is empty')
  return name
}

function amounts(add: { readonly [name: string]: number } = {}): string {
  return Object.entries(add)
    .map(([name, amount]) => {
      if (!Number.isSafeInteger(amount))
        throw new RangeError(`${name} is counted in whole numbers, not ${amount}`)
      return `${name} ${amount}`
    })
    .join(' ')
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
