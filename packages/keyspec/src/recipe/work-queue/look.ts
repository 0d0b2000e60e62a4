import { ONE_KEY } from '../../connection/connection.ts'
import { pagesOf } from '../../connection/page.ts'
import { decodeReply, listReply, optionalReply, textReply } from '../../connection/reply.ts'
import type { QueueStats, RunningJob } from './outcome.ts'
import { decodeJob, type OneQueue } from './queue-home.ts'
import * as scripts from './scripts.ts'

const TEXTS = listReply(textReply)
const FIELD = optionalReply(textReply)
const FIELDS = listReply(FIELD)

/** Returns how many jobs there are of each state; see `WorkQueue.stats`. */
export async function statsOf({ home, names }: OneQueue<any, any>): Promise<QueueStats> {
  const { connection, now, keepCompleted, tallied } = home
  const [waiting, inProgress, done, failed, expired, leaseless, holderless, counters] =
    await scripts.stats.run(
      connection,
      // Where no results are kept another hash stands in, as counting a list's fields would be an error.
      keepCompleted > 0 ? names : { ...names, done: names.failed },
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

/** Returns jobs that wait, without taking them. */
export async function waitingJobs<T>(queue: OneQueue<T, any>, count: number, from: number): Promise<T[]> {
  const { home, names } = queue
  const range = ['LRANGE', names.waiting, String(from), String(from + count - 1)]
  const texts = decodeReply(TEXTS, await home.connection.send(range, ONE_KEY), names.waiting)
  return texts.map((text) => decodeJob(queue, text))
}

/** Returns a job in progress with its holder. */
export async function runningJob<T>(queue: OneQueue<T, any>, id: string): Promise<RunningJob<T> | undefined> {
  const { home, names } = queue
  const ask = async (command: string, key: string) =>
    decodeReply(FIELD, await home.connection.send([command, key, id], ONE_KEY), key)
  const [text, worker, deadline] = await Promise.all([
    ask('HGET', names.inProgress),
    ask('HGET', names.holders),
    ask('ZSCORE', names.deadlines),
  ])
  return text === undefined ? undefined : jobInProgress(queue, id, text, worker, deadline)
}

/** Yields the jobs in progress. */
export async function* jobsInProgress<T>(queue: OneQueue<T, any>): AsyncGenerator<RunningJob<T>> {
  const { connection } = queue.home
  const { inProgress, holders: holdersKey, deadlines: deadlinesKey } = queue.names
  for await (const page of fieldsOf(queue, inProgress)) {
    const ids = page.map(([id]) => id)
    const [held, ...until] = await Promise.all([
      connection.send(['HMGET', holdersKey, ...ids], ONE_KEY),
      ...ids.map((id) => connection.send(['ZSCORE', deadlinesKey, id], ONE_KEY)),
    ])
    const holders = decodeReply(FIELDS, held, holdersKey)
    const deadlines = decodeReply(FIELDS, until, deadlinesKey)
    for (const [index, [id, text]] of page.entries())
      yield jobInProgress(queue, id, text, holders[index], deadlines[index])
  }
}

/** A failed job: what is kept of it, as it stands, and why it failed, where that is kept. */
export interface FailedJob {
  readonly id: string
  readonly kept: string
  readonly error: string | undefined
}

/** Yields the failed jobs. */
export async function* failedJobs(queue: OneQueue<any, any>): AsyncGenerator<FailedJob> {
  const { home, names } = queue
  for await (const page of fieldsOf(queue, names.failed)) {
    const ids = page.map(([id]) => id)
    const errors = home.keepErrors
      ? decodeReply(
          FIELDS,
          await home.connection.send(['HMGET', names.errors, ...ids], ONE_KEY),
          names.errors,
        )
      : []
    for (const [index, [id, kept]] of page.entries()) yield { id, kept, error: errors[index] }
  }
}

/** Returns the stored result of a job, while it is kept. */
export async function storedResult(
  { home, names }: OneQueue<any, any>,
  id: string,
): Promise<string | undefined> {
  if (home.keepCompleted === 0) return undefined
  return decodeReply(FIELD, await home.connection.send(['HGET', names.done, id], ONE_KEY), names.done)
}

function jobInProgress<T>(
  queue: OneQueue<T, any>,
  id: string,
  text: string,
  worker: string | undefined,
  deadline: string | undefined,
): RunningJob<T> {
  return {
    id,
    job: decodeJob(queue, text),
    worker,
    deadline: deadline === undefined ? undefined : new Date(Math.ceil(Number(deadline) / 2) * 2),
  }
}

async function* fieldsOf(
  { home }: OneQueue<any, any>,
  key: string,
): AsyncGenerator<[field: string, value: string][]> {
  const ask = (cursor: string) => home.connection.send(['HSCAN', key, cursor, 'COUNT', '200'], ONE_KEY)
  for await (const flat of pagesOf(TEXTS, ask, 'HSCAN', key)) {
    const page: [string, string][] = []
    for (let at = 0; at < flat.length; at += 2) page.push([flat[at]!, flat[at + 1]!])
    if (page.length > 0) yield page
  }
}
