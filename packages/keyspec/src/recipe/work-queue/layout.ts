import { SchemaError } from '../../errors.ts'
import type { Codec } from '../../codec/codec.ts'
import { integer } from '../../codec/integer.ts'
import { text } from '../../codec/text.ts'
import { type KeySpec, keySpec, type RedisType, type RenamedFrom } from '../../kind/kind.ts'
import type { ParamCodec } from '../../param.ts'
import { requireSamePlaceholders } from '../../pattern.ts'

/** The keys of one queue. */
export type QueueNames = { readonly [part in Part]-?: string } & { readonly counters: readonly string[] }

/** The parts of a work queue, each a key of its own; `<pattern>:<part>` unless its name is given. */
export interface WorkQueueKeys {
  /** List of the jobs that wait, first in, first out; `<pattern>:waiting`. */
  readonly waiting?: string
  /** Hash, id → job; `<pattern>:in-progress`. */
  readonly inProgress?: string
  /** Hash, id → the worker that holds the job; `<pattern>:holders`. */
  readonly holders?: string
  /**
   * Sorted set, id by the instant its lease runs out, in ms; `<pattern>:deadlines`. An odd number while the worker
   * is not known to have got the job, even from then on.
   */
  readonly deadlines?: string
  /** Hash, id → how often its lease has run out, `<id> unheard` → how often before the worker was known to have it; `<pattern>:attempts`. */
  readonly attempts?: string
  /** Hash, id → result, the newest of them; `<pattern>:done`. */
  readonly done?: string
  /** Sorted set, id by the instant it was completed, for those in `done`; `<pattern>:finished`. */
  readonly finished?: string
  /** Hash, id → job, or what is kept of one that failed; `<pattern>:failed`. */
  readonly failed?: string
  /** Hash, id → why the job failed; `<pattern>:errors`. `false` where it is not kept. */
  readonly errors?: string | false
  /** Sorted set of what was added lately, so that it is not added again; `<pattern>:recent`. */
  readonly recent?: string
  /** The last id that was given; `<pattern>:last-id`. */
  readonly sequence?: string
}

/** Counters that move in the same step as the jobs that they count, so that they cannot drift. */
export interface JobCounters {
  /** The field of a job that says its kind. */
  readonly by: string
  /** The key that counts the waiting jobs of each kind. */
  readonly waiting?: { readonly [kind: string]: string }
  /** The key that counts the completed jobs of each kind. */
  readonly done?: { readonly [kind: string]: string }
  /** The key that counts the failed jobs of each kind. */
  readonly failed?: { readonly [kind: string]: string }
  /** Keys that `complete` adds to, by the amounts that come with a result. */
  readonly also?: { readonly [name: string]: string }
}

/** The parts whose keys every queue has. */
export type Part = keyof WorkQueueKeys

/** What the keys of a queue are made of. */
export interface LayoutOptions {
  readonly reason?: string
  readonly about?: string
  readonly subject?: string
  readonly renamedFrom?: RenamedFrom
  readonly params?: { readonly [name: string]: ParamCodec<any, any> }
  readonly keys?: WorkQueueKeys
  readonly counters?: JobCounters
}

/** Every key of a queue: its parts by name, and its counters as `state:kind`. */
export interface Layout {
  readonly parts: { readonly [part in Part]?: KeySpec }
  readonly counters: ReadonlyMap<string, KeySpec>
}

const PARTS: {
  readonly [part in Part]-?: {
    readonly suffix: string
    readonly type: RedisType
    readonly holds: 'job' | 'result' | 'text' | 'count'
    readonly about: string
  }
} = {
  waiting: { suffix: 'waiting', type: 'list', holds: 'job', about: 'Jobs that wait, first in, first out' },
  inProgress: { suffix: 'in-progress', type: 'hash', holds: 'job', about: 'Jobs that a worker holds, by id' },
  holders: { suffix: 'holders', type: 'hash', holds: 'text', about: 'The worker that holds each job' },
  deadlines: { suffix: 'deadlines', type: 'zset', holds: 'text', about: 'When each lease runs out, in ms' },
  attempts: { suffix: 'attempts', type: 'hash', holds: 'count', about: 'How often a lease has run out' },
  done: { suffix: 'done', type: 'hash', holds: 'result', about: 'The newest results, by id' },
  finished: { suffix: 'finished', type: 'zset', holds: 'text', about: 'When each kept result came, in ms' },
  failed: { suffix: 'failed', type: 'hash', holds: 'job', about: 'Jobs that failed for good, by id' },
  errors: { suffix: 'errors', type: 'hash', holds: 'text', about: 'Why each of them failed' },
  recent: { suffix: 'recent', type: 'zset', holds: 'text', about: 'What was added lately, to know it again' },
  sequence: { suffix: 'last-id', type: 'string', holds: 'count', about: 'The last id that was given' },
}

/** Names and declares every key of a queue. */
export function layoutOf(
  pattern: string,
  codecs: { readonly job: Codec<any>; readonly failed: Codec<any>; readonly result: Codec<any> },
  without: ReadonlySet<Part>,
  options: LayoutOptions,
): Layout {
  const {
    keys = {},
    counters,
    reason = 'jobs stay until they are done',
    about,
    renamedFrom,
    ...rest
  } = options
  const lifetime = { ttl: 'forever', reason, ...rest } as const
  const parts: { [part in Part]?: KeySpec } = {}
  for (const [name, { suffix, type, holds, about: what }] of Object.entries(PARTS)) {
    const part = name as Part
    const key = keys[part] ?? `${pattern}:${suffix}`
    if (key === false || without.has(part)) continue
    const codec = {
      job: part === 'failed' ? codecs.failed : codecs.job,
      result: codecs.result,
      text,
      count: integer,
    }[holds]
    parts[part] = keySpec(key, type, type === 'hash' ? { '*': codec } : codec, {
      ...lifetime,
      // A key with a name of its own keeps it.
      ...(renamedFrom === undefined || keys[part] !== undefined
        ? {}
        : { renamedFrom: partsOf(renamedFrom, suffix) }),
      about: about === undefined ? what : `${about}: ${what[0]!.toLowerCase()}${what.slice(1)}`,
    })
  }
  const specs = new Map<string, KeySpec>()
  for (const [name, key] of countersOf(counters)) {
    specs.set(name, keySpec(key, 'string', integer, { ...lifetime, about: counterOf(name) }))
  }
  const [first, ...others] = [...Object.values(parts), ...specs.values()]
  for (const { pattern } of others)
    requireSamePlaceholders(
      pattern,
      first!.pattern,
      `"${pattern.text}" and "${first!.pattern.text}" belong to one queue`,
    )
  return { parts, counters: specs }
}

function* countersOf(counters: JobCounters | undefined): Generator<[string, string]> {
  if (counters === undefined) return
  const { by, ...states } = counters
  if (!/^[A-Za-z_]\w*$/.test(by)) throw new SchemaError(`counters by "${by}": it is not the name of a field`)
  for (const [state, keys] of Object.entries(states)) {
    for (const [kind, key] of Object.entries(keys)) {
      if (!/^\S+$/.test(kind)) throw new SchemaError(`"${kind}" cannot be counted: a kind has no white space`)
      yield [`${state}:${kind}`, key]
    }
  }
}

function counterOf(name: string): string {
  const [state, kind] = name.split(':', 2) as [string, string]
  return state === 'also'
    ? `How many ${kind}, over all results`
    : `How many jobs of kind ${kind} are ${state}`
}

/** The rename of one part, which is named for the queue. */
function partsOf({ pattern, phase }: RenamedFrom, suffix: string): RenamedFrom {
  const old = typeof pattern === 'string' ? [pattern] : pattern
  return { pattern: old.map((before) => `${before}:${suffix}`), phase }
}
