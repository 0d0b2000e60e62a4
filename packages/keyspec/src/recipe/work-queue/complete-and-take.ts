import type { Connection } from '../../connection/connection.ts'
import { ArgumentRangeError, ArgumentTypeError, DecodeError, reason } from '../../errors.ts'
import type { Batch, BatchResult, FinishResult, TakenJob, UnreadableJob } from './outcome.ts'
import { acknowledged, decodeJob, encodeResult, nameOf, type OneQueue, STEP } from './queue-home.ts'
import * as scripts from './scripts.ts'

/** How many leases that ran out one turn ends, unless it takes more jobs than that. */
const RECOVER_IN_TURN = 100
/** A lease that ran out counts as unheard if its answer may have been lost; so many are allowed for each attempt. */
const UNHEARD = 10
/** How many steps more a turn takes in place of those in which jobs could not be read. */
const SPARE_STEPS = 100
/** The arguments of one finished job: its outcome, its id, its result or error, and what it counts. */
const WIDTH = 4

/** Finishes jobs and takes the next ones; see `WorkQueue.completeAndTake`. */
export async function completeAndTake<T, RIn>(
  queue: OneQueue<T, RIn>,
  worker: string | number,
  { completed = [], failed = [], released = [], take = 0 }: Batch<RIn>,
): Promise<BatchResult<T>> {
  const items: string[] = []
  for (const { id, result, add } of completed)
    items.push('completed', String(id), encodeResult(queue, String(id), result), amounts(queue, add))
  for (const { id, error } of failed) items.push('failed', String(id), reason(error), '')
  for (const id of released) items.push('released', String(id), '', '')
  if (items.length === 0 && take === 0) return { finished: [], taken: [], unreadable: [] }
  return turn(queue, worker, items, take)
}

/** Finishes `items` in steps; the last step takes too, and is followed by steps that only take. */
export async function turn<T>(
  queue: OneQueue<T, any>,
  worker: string | number,
  items: readonly string[],
  take: number,
): Promise<BatchResult<T>> {
  const { home, names } = queue
  const name = nameOf(worker)
  const finished: FinishResult[] = []
  const taken: TakenJob<T>[] = []
  const unreadable: UnreadableJob[] = []
  const done = { finished, taken, unreadable }
  for (let from = 0, spare = SPARE_STEPS; ; from += STEP * WIDTH) {
    const step = items.slice(from, from + STEP * WIDTH)
    const count = from + step.length < items.length ? 0 : Math.min(take - taken.length, STEP)
    try {
      const ids = step.filter((_, index) => index % WIDTH === 1)
      home.handover.named(names, name, ids)
      const most = Math.max(RECOVER_IN_TURN, count)
      const { outcomes, flat, nameless, replicas } = await finishStep(queue, name, step, count, most)
      for (const [index, outcome] of outcomes.entries()) {
        const known = replicas === undefined ? {} : { replicas: isChange(outcome) ? replicas : 0 }
        finished.push({ id: ids[index]!, outcome, ...known } as FinishResult)
      }
      const read = await readTaken(queue, name, flat)
      taken.push(...read.jobs)
      unreadable.push(...nameless.map((id) => ({ id, error: namesNoId(queue) })), ...read.unreadable)
      const isFull = taken.length >= take || (flat.length < count * 2 && nameless.length === 0)
      if (nameless.length + read.unreadable.length > 0) spare -= 1
      if (from + step.length >= items.length && (isFull || spare < 0)) return done
    } catch (error) {
      // The worker has these jobs, and would not know it. The next call shows the error again.
      if (taken.length > 0) return done
      throw error
    }
  }
}

async function finishStep(
  queue: OneQueue<any, any>,
  worker: string,
  items: readonly string[],
  take: number,
  most: number,
) {
  const step = (over: Connection) => turnStep(queue, { worker, items, take, most }, over)
  if (items.length === 0) {
    const [outcomes, flat, , , , nameless] = await step(queue.home.connection)
    return { outcomes, flat, nameless, replicas: undefined }
  }
  const { value, acknowledged: replicas } = await acknowledged(queue.home, step, ([outcomes]) =>
    outcomes.some(isChange),
  )
  const [outcomes, flat, , , , nameless] = value
  return { outcomes, flat, nameless, replicas }
}

/** One step: the worker finishes `items`, takes up to `take` jobs, and ends up to `most` leases that ran out. */
export interface TurnStep {
  readonly worker: string
  readonly items: readonly string[]
  readonly take: number
  readonly most: number
}

/**
 * Runs one step on the server. Answers outcomes, jobs taken, ids that returned and that failed, how many leases had run out,
 * and the ids of waiting jobs that name none.
 */
export function turnStep({ home, names }: OneQueue<any, any>, step: TurnStep, over = home.connection) {
  const { job, now, leaseMs, keepCompleted, keepErrors, attempts } = home
  return scripts.turn.run(over, names, {
    ...job,
    now: now?.(),
    leaseMs,
    keepCompleted,
    keepErrors,
    allowed: attempts,
    unheard: attempts * UNHEARD,
    ...step,
  })
}

/** Reads jobs that were taken; those that the codec refuses go to the failed ones, or they would come again for ever. */
export async function readTaken<T>(
  queue: OneQueue<T, any>,
  worker: string,
  flat: readonly string[],
): Promise<{ readonly jobs: readonly TakenJob<T>[]; readonly unreadable: readonly UnreadableJob[] }> {
  const { home, names } = queue
  const jobs: TakenJob<T>[] = []
  const unreadable: UnreadableJob[] = []
  for (let at = 0; at < flat.length; at += 2) {
    const id = flat[at]!
    try {
      jobs.push({ id, job: decodeJob(queue, flat[at + 1]!) })
    } catch (error) {
      unreadable.push({ id, error: error as DecodeError })
    }
  }
  home.handover.arrived(
    names,
    worker,
    jobs.map(({ id }) => id),
  )
  // The other jobs are the worker's even if this fails: then these come again when their leases run out.
  if (unreadable.length > 0)
    await completeAndTake(queue, worker, { failed: unreadable }).catch(() => undefined)
  return { jobs, unreadable }
}

function amounts({ home, names }: OneQueue<any, any>, add: { readonly [name: string]: number } = {}): string {
  return Object.entries(add)
    .map(([name, amount]) => {
      if (!home.also.has(name))
        throw new ArgumentTypeError(
          `${names.waiting}: "${name}" is not a counter that counters.also declares`,
        )
      if (!Number.isSafeInteger(amount))
        throw new ArgumentRangeError(`${name} is counted in whole numbers, not ${amount}`)
      return `${name} ${amount}`
    })
    .join(' ')
}

function namesNoId({ home, names }: OneQueue<any, any>): DecodeError {
  return new DecodeError(names.waiting, home.stored.codec.name, 'it names no id')
}

function isChange(outcome: string): boolean {
  return outcome !== 'not-held' && outcome !== 'already-done'
}
