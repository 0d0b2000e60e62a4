import { type Codec, textCodec } from '../../codec/codec.ts'
import { type Duration, milliseconds } from '../../duration.ts'
import { SchemaError } from '../../errors.ts'
import { type Entry, openEntry } from '../../kind/entry.ts'
import { keyWriter, prefixed } from '../../kind/key-name.ts'
import type { Description, Kind, KeySpec, Opening } from '../../kind/kind.ts'
import type { ParamCodecs } from '../../param.ts'
import { type ReplicatedOptions, replicationOf } from '../replicated.ts'
import { Handover } from './handover.ts'
import { type JobCounters, layoutOf, type Part, type WorkQueueKeys, type QueueNames } from './layout.ts'
import { comparable } from './orphans.ts'
import { WorkQueue } from './queue.ts'
import type { QueueHome } from './queue-home.ts'
import { storedJob } from './stored-job.ts'
import * as scripts from './scripts.ts'

/** The options of a work queue, beside its pattern and the codec of its jobs. */
export interface WorkQueueOptions<
  P extends string,
  C extends ParamCodecs<P>,
  F extends string,
  S extends 'sequence' | 'given',
  R,
  RIn,
> extends Description<P, C> {
  /** How long a worker may hold a job without renewing it; then the job returns to the queue. */
  readonly lease: Duration
  /**
   * How often a job returns after its lease ran out, before it counts as failed. Only leases of jobs that a worker is known
   * to have had count: it renewed the job, or had it for 20 ms. Others, whose answer may have been lost, are counted apart,
   * and ten times as many are allowed.
   * @default 3
   */
  readonly attempts?: number
  /**
   * How many of the newest results are kept.
   * @default 0
   */
  readonly keepCompleted?: number
  /** The codec of results. Defaults to any JSON. */
  readonly result?: Codec<R, RIn>
  /** The field of a job's JSON that holds its id. Without it the id stands before the job. */
  readonly id?: F
  /**
   * Whether the queue's own sequence gives ids, or the jobs do, in their `id` field.
   * @default 'sequence'
   */
  readonly ids?: S
  /** The names of keys, where they are not `<pattern>:<part>`. */
  readonly keys?: WorkQueueKeys
  /** Counters by the kind of job. */
  readonly counters?: JobCounters
  /** The one field of a failed job that is kept. Defaults to the whole job. */
  readonly failedField?: string
  /**
   * How many of the last tokens and unique names of `add` are remembered.
   * @default 10_000
   */
  readonly dedupeWindow?: number
  /**
   * Replicas acknowledge what `add` puts in and what finishes a job (`complete`, `fail`, `release`, `completeAndTake`) before
   * it is answered. Needs `replicating` at `open`. A turn that finishes and takes waits too, while the leases of the jobs
   * that it took run.
   */
  readonly replicated?: ReplicatedOptions
  /** Why the jobs have no time to live. */
  readonly reason?: string
}

/** A job as `add` takes it: without its id if the sequence gives one. */
export type NewJob<In, F extends string, S> = [F] extends [never]
  ? In
  : S extends 'given'
    ? In
    : In extends unknown
      ? Omit<In, F>
      : never

/** An entry of work queues: `keys.mail({ name: 'default' })` is a `WorkQueue`. */
export type WorkQueueEntry<P extends string, C, T, N, R, RIn> = Entry<
  P,
  C,
  WorkQueue<T, N, R, RIn>,
  readonly WorkQueue<T, N, R, RIn>[]
>

const anyJson = textCodec<unknown>({
  name: 'json',
  encode(value) {
    const stored = JSON.stringify(value) as string | undefined
    if (stored === undefined) throw new TypeError(`${typeof value} has no JSON form`)
    return stored
  },
  decode: (stored) => JSON.parse(stored) as unknown,
})

/**
 * A queue of jobs with leases: first in, first out; a job is held by one worker at a time, returns when its worker dies,
 * and is finished by its holder alone. Every verb is one atomic step over all the keys it concerns, counters included.
 *
 * @example
 * mail: workQueue('queue:{<name>}', json(Mail), { lease: '30s', attempts: 3, keepCompleted: 1000 })
 *
 * await keys.mail({ name: 'news' }).add([{ to: 'ada@example.org' }])
 * const [job] = await keys.mail({ name: 'news' }).take('worker-1')
 */
export function workQueue<
  const P extends string,
  T,
  In,
  const C extends ParamCodecs<P> = {},
  const F extends string = never,
  const S extends 'sequence' | 'given' = 'sequence',
  R = unknown,
  RIn = R,
>(
  pattern: P,
  codec: Codec<T, In>,
  options: WorkQueueOptions<P, C, F, S, R, RIn>,
): Kind<WorkQueueEntry<P, C, T, NewJob<In, F, S>, R, RIn>> {
  const {
    lease,
    attempts = 3,
    keepCompleted = 0,
    dedupeWindow = 10_000,
    id,
    ids = 'sequence',
    failedField,
  } = options
  const { result = anyJson as Codec<any, any>, counters } = options
  const leaseMs = milliseconds(lease)
  for (const [name, value] of Object.entries({ attempts, keepCompleted, dedupeWindow })) {
    if (!Number.isSafeInteger(value) || value < 0)
      throw new SchemaError(`"${pattern}": ${name} is a whole number, not ${value}`)
  }
  if (ids === 'given' && id === undefined) {
    throw new SchemaError(`"${pattern}": jobs that give their own id need a field for it: declare \`id\``)
  }
  const stored = storedJob(pattern, codec, id)
  const without = new Set<Part>([
    ...(keepCompleted === 0 ? (['done', 'finished'] as const) : []),
    ...(ids === 'given' ? (['sequence'] as const) : []),
  ])
  const failed = failedField === undefined ? stored.codec : kept(stored.codec)
  const { parts, counters: counterSpecs } = comparable(
    layoutOf(pattern, { job: stored.codec, failed, result }, without, options as never),
  )
  const all = [...Object.values(parts), ...counterSpecs.values()]

  return {
    keys: all,
    together: true,
    layout: 2,
    commands: [
      ...Object.values(scripts).flatMap(({ commands }) => commands),
      'HGET',
      'HMGET',
      'HSCAN',
      'LRANGE',
      'ZSCORE',
    ],
    channels: [parts.waiting!],
    open(opening) {
      const home: QueueHome<T, RIn> = {
        connection: opening.connection,
        subscriber: opening.subscriber,
        replication: replicationOf(opening, options.replicated),
        now: opening.now,
        stored,
        result,
        leaseMs,
        attempts,
        keepCompleted,
        dedupeWindow,
        numbered: ids === 'sequence',
        keepErrors: parts.errors !== undefined,
        tallied: [...counterSpecs.keys()],
        also: new Set(Object.keys(counters?.also ?? {})),
        handover: new Handover(opening.connection, opening.now === undefined),
        job: {
          field: id ?? '',
          by: counters?.by ?? '',
          failedField: failedField ?? '',
          tallied: [...counterSpecs.keys()].join(' '),
        },
      }
      const namesOf = nameWriter(parts, [...counterSpecs.values()], opening)
      return openEntry(
        parts.waiting!,
        opening,
        (_, params) => new WorkQueue<T, NewJob<In, F, S>, R, RIn>(home, namesOf(params)),
        (queues) => queues,
      )
    },
  }
}

/** What the failed hash holds where one field is kept: that field, or the job when it has none. */
function kept(job: Codec<unknown>): Codec<unknown> {
  return textCodec<unknown>({
    name: `a field of ${job.name}`,
    encode: String,
    decode: (stored) => stored,
  })
}

function nameWriter(
  parts: { readonly [part in Part]?: KeySpec },
  counters: readonly KeySpec[],
  { prefix }: Opening,
): (params: Readonly<Record<string, unknown>>) => QueueNames {
  const writerOf = (spec: KeySpec) => keyWriter(prefixed(spec.pattern, prefix), spec.params)
  const writers = Object.entries(parts).map(([part, spec]) => [part, writerOf(spec)] as const)
  const counterWriters = counters.map(writerOf)
  const make = (params: Readonly<Record<string, unknown>>): QueueNames => {
    const names = Object.fromEntries(
      writers.map(([part, write]) => [part, write(params)] as const),
    ) as Partial<Record<Part, string>>
    const waiting = names.waiting!
    // A script names all its keys: where a part is not declared the list stands in, and the script leaves it alone.
    const standIns = { done: waiting, finished: waiting, errors: waiting, sequence: waiting }
    return {
      ...standIns,
      ...names,
      counters: counterWriters.map((write) => write(params)),
    } as unknown as QueueNames
  }
  if (parts.waiting!.pattern.params.length > 0) return make
  const only = make({})
  return () => only
}
