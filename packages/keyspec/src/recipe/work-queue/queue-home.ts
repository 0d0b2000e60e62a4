import type { Codec } from '../../codec/codec.ts'
import type { Connection, Subscriber } from '../../connection/connection.ts'
import { decodeStored } from '../../codec/readable.ts'
import type { Replication } from '../../connection/replication.ts'
import { ArgumentTypeError, DecodeError, EncodeError } from '../../errors.ts'
import type { Handover } from './handover.ts'
import type { QueueNames } from './layout.ts'
import type { StoredJob } from './stored-job.ts'

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

/** One queue of an entry. */
export interface OneQueue<T, RIn> {
  readonly home: QueueHome<T, RIn>
  readonly names: QueueNames
}

/** How many jobs one step of a verb takes, `add` excepted. */
export const STEP = 1000

/** Returns the name of a worker as text; throws a `TypeError` if it is empty. */
export function nameOf(worker: string | number): string {
  const name = String(worker)
  if (name === '') throw new ArgumentTypeError('a worker has a name: it is empty')
  return name
}

/** Does one write; where declared, with the number of replicas that acknowledged it. */
export async function acknowledged<A>(
  { connection, replication }: Pick<QueueHome<any, any>, 'connection' | 'replication'>,
  write: (over: Connection) => Promise<A>,
  wrote: (answer: A) => boolean,
): Promise<{ readonly value: A; readonly acknowledged: number | undefined }> {
  if (replication === undefined) return { value: await write(connection), acknowledged: undefined }
  const { value, replicas } = await replication.write(write, wrote)
  return { value, acknowledged: replicas }
}

/** Reads a stored job; a `DecodeError` names the queue. */
export function decodeJob<T>({ home, names }: OneQueue<T, any>, text: string): T {
  try {
    return home.stored.decode(text)
  } catch (error) {
    throw new DecodeError(names.waiting, home.stored.codec.name, error, text)
  }
}

/** Returns the stored form of a new job, with its id if it gives its own. */
export function encodeJob(
  { home, names }: OneQueue<any, any>,
  job: unknown,
): { readonly id?: string; readonly text: string } {
  const { stored, numbered } = home
  try {
    return numbered ? { text: stored.encodeNew(job) } : stored.encodeNamed(job)
  } catch (error) {
    throw new EncodeError(names.waiting, stored.codec.name, error, job)
  }
}

/** Returns the stored form of a result, empty if no results are kept. */
export function encodeResult<RIn>({ home, names }: OneQueue<any, RIn>, id: string, result: RIn): string {
  try {
    return home.keepCompleted > 0 ? String(home.result.encode(result)) : ''
  } catch (error) {
    throw new EncodeError(`${names.done} ${id}`, home.result.name, error, result)
  }
}

/** Reads a stored result; a `DecodeError` names the job. */
export function decodeResult({ home, names }: OneQueue<any, any>, id: string, stored: string): unknown {
  try {
    return decodeStored(home.result, stored)
  } catch (error) {
    throw new DecodeError(`${names.done} ${id}`, home.result.name, error, stored)
  }
}
