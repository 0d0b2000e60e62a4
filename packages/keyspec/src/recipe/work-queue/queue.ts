import { pageOf } from '../../connection/page.ts'
import type { Codec } from '../../codec/codec.ts'
import { type Connection, ONE_KEY, type Subscriber } from '../../connection/connection.ts'
import type { Replication } from '../../connection/replication.ts'
import { type Duration, milliseconds } from '../../duration.ts'
import { DecodeError, EncodeError } from '../../errors.ts'
import type { Handover } from './handover.ts'
import type { QueueNames } from './layout.ts'
import type {
  AddResult,
  Batch,
  BatchResult,
  FinishResult,
  JobFailure,
  JobResult,
  QueueStats,
  RecoverResult,
  RepairResult,
  RunningJob,
  TakenJob,
} from './outcome.ts'
import * as scripts from './scripts.ts'
import type { StoredJob } from './stored-job.ts'
import { patiently } from './patience.ts'

/** What the queues of one entry share. */
export interface QueueHome<T, RIn> {
  readonly connection: Connection
  readonly subscriber: Subscriber | undefined
  /** Where declared, replicas acknowledge what adds and finishes jobs, over a connection of its own. */
  readonly replication: Replication | undefined
  readonly now: (() => number) | undefined
  readonly stored: StoredJob<T>
  readonly result: Codec<any, RIn>
  readonly leaseMs: number
  readonly attempts: number
  readonly keepCompleted: number
  readonly dedupeWindow: number
  readonly numbered: boolean
  readonly keepErrors: boolean
  readonly tallied: readonly string[]
  /** The names of the counters that `complete` adds to. */
  readonly also: ReadonlySet<string>
  readonly handover: Handover
  /** What every script is told of jobs. */
  readonly job: {
    readonly field: string
    readonly by: string
    readonly failedField: string
    readonly tallied: string
  }
}

/** How many jobs one step of `add` takes. The steps of a token are counted by it: another number would break known tokens. */
const ADD_STEP = 5000
/** How many jobs one step of any other verb takes. */
const STEP = 1000
/** How many leases that ran out one turn ends, unless it takes more jobs than that. */
const RECOVER_IN_TURN = 100
const RECOVER_STEP = 500
/** A lease that ran out counts as unheard if its answer may have been lost; so many are allowed for each attempt. */
const UNHEARD = 10
/** A `repair` counts no longer lists than this anew, as that holds the server. */
const RECOUNT_MOST = 10_000

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
   * Puts jobs at the end of the queue, in one step (in several of 5,000 jobs if there are more).
   * A `token` makes it safe to ask again after a lost answer: jobs that came under a token come only once.
   * `unique` names each job, and one whose name is remembered is not added again. Tokens and names are apart.
   *
   * If the jobs give their own ids, an id may come again. A job whose id is in progress waits until that one has ended, so
   * that both are done. `unique` keeps a second one out.
   *
   * @throws TypeError for an empty token or name, or both a token and names; nothing was sent.
   */
  async add(
    jobs: readonly N[],
    options: { readonly token?: string; readonly unique?: (job: N) => string } = {},
  ): Promise<AddResult> {
    const { token, unique } = options
    if (token !== undefined && unique !== undefined)
      throw new TypeError('add takes a token or unique names: either alone makes a repeated call safe')
    if (token === '') throw new TypeError('the token of an add is empty')
    const encoded = jobs.map((job) => this.#encodeNew(job))
    const names = unique === undefined ? undefined : jobs.map(unique)
    if (names?.includes('') === true) throw new TypeError('the unique name of a job is empty')
    const ids: string[] = []
    const replicas: number[] = []
    let added = 0
    for (let from = 0; from < jobs.length; from += ADD_STEP) {
      const step = encoded.slice(from, from + ADD_STEP)
      const given = {
        ...this.#home.job,
        now: this.#home.now?.(),
        numbered: this.#home.numbered,
        head: this.#home.stored.head,
        dedupeWindow: this.#home.dedupeWindow,
        token: token ?? '',
        step: from / ADD_STEP,
        items: step.flatMap(({ text }, index) => [names?.[from + index] ?? '', text]),
      }
      const { value: answer, acknowledged } = await this.#acknowledged(
        (over) => scripts.add.run(over, this.names, given),
        (answer) => answer.added > 0,
      )
      added += answer.added
      if (acknowledged !== undefined && answer.added > 0) replicas.push(acknowledged)
      for (let index = 0; index < step.length; index += 1) ids.push(idAt(answer.ids, index, step[index]!.id))
    }
    if (this.#home.replication === undefined) return { ids, added }
    return { ids, added, replicas: added === 0 ? 0 : Math.min(...replicas) }
  }

  /**
   * Gives the worker the next `count` jobs, fewer if fewer wait: it holds each for the declared lease. In steps of 1,000.
   *
   * If the answer is lost, the worker holds jobs that it does not know of: `held` gives them. Otherwise their leases run
   * out, and they return; that does not count as an attempt (see `attempts`).
   */
  async take(worker: string | number, count = 1): Promise<readonly TakenJob<T>[]> {
    return (await this.#turn(worker, [], count)).taken
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
    const { completed = [], failed = [], released = [], take = 0 } = batch
    const items: string[] = []
    for (const { id, result, add } of completed)
      items.push('completed', String(id), this.#encodeResult(String(id), result), this.#amounts(add))
    for (const { id, error } of failed) items.push('failed', String(id), words(error), '')
    for (const id of released) items.push('released', String(id), '', '')
    if (items.length === 0 && take === 0) return { finished: [], taken: [] }
    return this.#turn(worker, items, take)
  }

  /** Starts the lease of jobs anew, in steps of 1,000; answers for each id whether the worker holds it. */
  async renew(worker: string | number, ids: readonly (string | number)[]): Promise<boolean[]> {
    const { connection, handover, now, leaseMs } = this.#home
    const name = nameOf(worker)
    const all = ids.map(String)
    handover.named(this.names, name, all)
    const held: boolean[] = []
    for (let from = 0; from < all.length; from += STEP) {
      const step = all.slice(from, from + STEP)
      const given = { now: now?.(), leaseMs, worker: name, ids: step }
      for (const answer of await scripts.renew.run(connection, this.names, given)) held.push(answer === 1)
    }
    return held
  }

  /**
   * The jobs that a worker holds, each with its lease begun anew, the oldest lease first: what it goes on with when the
   * answer to a `take` was lost, or when it starts again under its old name. It reads all jobs in progress, in steps of
   * about 1,000.
   */
  async held(worker: string | number): Promise<TakenJob<T>[]> {
    const { connection, now, leaseMs } = this.#home
    const name = nameOf(worker)
    const found = new Map<string, { readonly text: string; readonly until: number }>()
    let cursor = '0'
    do {
      const given = { now: now?.(), leaseMs, worker: name, cursor, size: STEP }
      const [next, ...flat] = await scripts.held.run(connection, this.names, given)
      // A scan may show a job twice: the first time says since when it is held.
      for (let at = 0; at < flat.length; at += 3) {
        if (!found.has(flat[at]!)) found.set(flat[at]!, { text: flat[at + 1]!, until: Number(flat[at + 2]!) })
      }
      cursor = next!
    } while (cursor !== '0')
    const inOrder = [...found].sort(([a, one], [b, other]) => one.until - other.until || (a < b ? -1 : 1))
    return this.#read(
      name,
      inOrder.flatMap(([id, { text }]) => [id, text]),
    )
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

  /**
   * Takes all jobs whose lease has run out from their holders, in steps of 500. Every turn of a worker does so by itself
   * for the first 100 (for as many as it takes, if that is more): it is needed only if no worker turns.
   */
  async recoverExpired(): Promise<RecoverResult> {
    await this.#home.handover.confirm()
    const returned: string[] = []
    const failed: string[] = []
    for (;;) {
      const [, , back, lost, expired] = await this.#step('', [], 0, RECOVER_STEP)
      returned.push(...back)
      failed.push(...lost)
      if (expired < RECOVER_STEP) return { returned, failed }
    }
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
    const { connection, now, leaseMs, job, tallied } = this.#home
    const changed = { jobs: 0, leases: 0, holders: 0, attempts: 0 }
    for (const part of ['jobs', 'leases', 'holders', 'attempts'] as const) {
      let cursor = '0'
      do {
        const given = { now: now?.(), leaseMs, part, cursor, size: STEP }
        const [next, count] = await scripts.repair.run(connection, this.names, given)
        changed[part] += count
        cursor = next
      } while (cursor !== '0')
    }
    const counts = tallied.some((name) => name.startsWith('waiting:'))
    const wrong = counts
      ? await scripts.recount.run(connection, this.names, { ...job, most: RECOUNT_MOST })
      : 0
    return {
      leased: changed.jobs,
      dropped: changed.leases + changed.holders + changed.attempts,
      recounted: wrong < 0 ? undefined : wrong,
    }
  }

  /** How many jobs there are of each state, and every counter, of one instant. */
  async stats(): Promise<QueueStats> {
    const { connection, now, keepCompleted, tallied } = this.#home
    const [waiting, inProgress, done, failed, expired, leaseless, holderless, counters] =
      await scripts.stats.run(
        connection,
        // Where no results are kept another hash stands in, as counting a list's fields would be an error.
        keepCompleted > 0 ? this.names : { ...this.names, done: this.names.failed },
        { now: now?.() },
      )
    return {
      waiting,
      inProgress,
      done: keepCompleted > 0 ? done : 0,
      failed,
      expired,
      orphans: Math.max(Math.abs(leaseless), Math.abs(holderless)),
      counters: Object.fromEntries(tallied.map((name, index) => [name, Number(counters[index])])),
    }
  }

  /**
   * Sets the counters of waiting jobs right after programs that move no counters; answers how many were wrong. One step
   * over all waiting jobs, which cannot be cut: it holds the server for 5 to 10 ms for every 1,000 of them.
   */
  async recount(): Promise<number> {
    const given = { ...this.#home.job, most: Number.MAX_SAFE_INTEGER }
    return scripts.recount.run(this.#home.connection, this.names, given)
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
    if (this.#home.keepCompleted === 0) return undefined
    const stored = await this.#home.connection.send(['HGET', this.names.done, String(id)], ONE_KEY)
    if (stored === null) return undefined
    try {
      return this.#home.result.decode(stored as string & Buffer) as R
    } catch (error) {
      throw new DecodeError(`${this.names.done} ${id}`, this.#home.result.name, error, stored)
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
      deadline:
        deadline === null || deadline === undefined
          ? undefined
          : new Date(Math.ceil(Number(deadline) / 2) * 2),
    }
  }

  async *#fields(key: string): AsyncGenerator<[field: string, value: string][]> {
    let cursor = '0'
    do {
      const reply = await this.#home.connection.send(['HSCAN', key, cursor, 'COUNT', '200'], ONE_KEY)
      const [next, flat] = pageOf<string>(reply, 'HSCAN', key)
      const page: [string, string][] = []
      for (let at = 0; at < flat.length; at += 2) page.push([flat[at]!, flat[at + 1]!])
      if (page.length > 0) yield page
      cursor = next
    } while (cursor !== '0')
  }

  /** Finishes in steps; the last of them takes too, and is followed by steps that only take. */
  async #turn(worker: string | number, items: readonly string[], take: number): Promise<BatchResult<T>> {
    const name = nameOf(worker)
    const finished: FinishResult[] = []
    const taken: TakenJob<T>[] = []
    for (let from = 0, wanted = take; ; from += STEP * 4) {
      const step = items.slice(from, from + STEP * 4)
      const count = from + step.length < items.length ? 0 : Math.min(wanted, STEP)
      try {
        const ids = step.filter((_, index) => index % 4 === 1)
        this.#home.handover.named(this.names, name, ids)
        const most = Math.max(RECOVER_IN_TURN, count)
        const [[outcomes, flat], acknowledged] = await this.#finish(name, step, count, most)
        for (const [index, outcome] of outcomes.entries()) {
          const known = acknowledged === undefined ? {} : { replicas: isChange(outcome) ? acknowledged : 0 }
          finished.push({ id: ids[index]!, outcome, ...known } as FinishResult)
        }
        taken.push(...(await this.#read(name, flat)))
        wanted -= count
        if (from + step.length >= items.length && (wanted <= 0 || flat.length < count * 2))
          return { finished, taken }
      } catch (error) {
        // The worker has these jobs, and would not know it. The next call shows the error again.
        if (taken.length > 0) return { finished, taken }
        throw error
      }
    }
  }

  async #finish(worker: string, items: readonly string[], take: number, most: number) {
    const step = (over: Connection) => this.#step(worker, items, take, most, over)
    if (items.length === 0) return [await step(this.#home.connection), undefined] as const
    const { value, acknowledged } = await this.#acknowledged(step, ([outcomes]) => outcomes.some(isChange))
    return [value, acknowledged] as const
  }

  /** Does one write; where declared, with the number of replicas that acknowledged it. */
  async #acknowledged<A>(
    write: (over: Connection) => Promise<A>,
    wrote: (answer: A) => boolean,
  ): Promise<{ readonly value: A; readonly acknowledged: number | undefined }> {
    const { connection, replication } = this.#home
    if (replication === undefined) return { value: await write(connection), acknowledged: undefined }
    const { value, replicas } = await replication.write(write, wrote)
    return { value, acknowledged: replicas }
  }

  #step(worker: string, items: readonly string[], take: number, most: number, over = this.#home.connection) {
    const { job, now, leaseMs, keepCompleted, keepErrors, attempts } = this.#home
    return scripts.turn.run(over, this.names, {
      ...job,
      now: now?.(),
      leaseMs,
      keepCompleted,
      keepErrors,
      allowed: attempts,
      unheard: attempts * UNHEARD,
      most,
      worker,
      take,
      items,
    })
  }

  /** Reads jobs that were taken; those that the codec refuses go to the failed ones, or they would come again for ever. */
  async #read(worker: string, flat: readonly string[]): Promise<TakenJob<T>[]> {
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
    this.#home.handover.arrived(
      this.names,
      worker,
      jobs.map(({ id }) => id),
    )
    // The other jobs are the worker's even if this fails: then these come again when their leases run out.
    if (unreadable.length > 0)
      await this.completeAndTake(worker, { failed: unreadable }).catch(() => undefined)
    return jobs
  }

  #amounts(add: { readonly [name: string]: number } = {}): string {
    return Object.entries(add)
      .map(([name, amount]) => {
        if (!this.#home.also.has(name))
          throw new TypeError(`${this.name}: "${name}" is not a counter that counters.also declares`)
        if (!Number.isSafeInteger(amount))
          throw new RangeError(`${name} is counted in whole numbers, not ${amount}`)
        return `${name} ${amount}`
      })
      .join(' ')
  }

  #decode(text: string): T {
    try {
      return this.#home.stored.decode(text)
    } catch (error) {
      throw new DecodeError(this.name, this.#home.stored.codec.name, error, text)
    }
  }

  #encodeNew(job: N): { readonly id?: string; readonly text: string } {
    const { stored, numbered } = this.#home
    try {
      return numbered ? { text: stored.encodeNew(job) } : stored.encodeNamed(job)
    } catch (error) {
      throw new EncodeError(this.name, stored.codec.name, error, job)
    }
  }

  #encodeResult(id: string, result: RIn): string {
    try {
      return this.#home.keepCompleted > 0 ? String(this.#home.result.encode(result)) : ''
    } catch (error) {
      throw new EncodeError(`${this.names.done} ${id}`, this.#home.result.name, error, result)
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

function isChange(outcome: string): boolean {
  return outcome !== 'not-held' && outcome !== 'already-done'
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
