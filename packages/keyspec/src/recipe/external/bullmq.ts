import { SchemaError } from '../../errors.ts'
import type { ExternalKey, Kind, RedisType } from '../../kind/kind.ts'
import { type ExternalEntry, externalKeys, externalSpec } from './external.ts'

/** Which queues of BullMQ there are. */
export interface BullmqOptions {
  /** BullMQ's own `prefix`, without the colon behind it; `bull` unless told, as there. */
  readonly prefix?: string
  readonly queues: readonly string[]
}

/**
 * The keys of BullMQ 6: one pattern a queue. What stands at each key is told by its name, since a job's key,
 * `<prefix>:<queue>:<id>`, and those of the queue itself, `<prefix>:<queue>:wait`, have one form: BullMQ itself keeps them
 * apart only because nobody calls a job `wait`.
 *
 * @example
 * broker: bullmq({ prefix: 'broker', queues: ['default', 'ocr'] })
 */
export function bullmq({ prefix = 'bull', queues }: BullmqOptions): Kind<ExternalEntry> {
  return externalKeys(
    queues.map((queue) => {
      if (queue === '' || queue.includes(':'))
        throw new SchemaError(`"${queue}" is no name of a BullMQ queue: it cannot be empty or hold a ":"`)
      const pattern = `${prefix}:${queue}:<rest*>`
      return externalSpec(pattern, {
        by: 'BullMQ',
        about: `The queue ${queue}`,
        keys: ([rest]) => bullmqKey(rest!),
      })
    }),
  )
}

/** What BullMQ keeps at a key of a queue, by what stands behind the queue's name. */
export function bullmqKey(rest: string): ExternalKey | undefined {
  const pieces = rest.split(':')
  const [first = '', second = ''] = pieces
  const last = pieces.at(-1)!
  if (pieces.includes('')) return undefined
  if (pieces.length === 1) return OF_QUEUE.get(first) ?? JOB
  if (first === 'metrics') return metrics(second, pieces.slice(2))
  if (first === 'de') return key('string', 'the job that a deduplication id stands for')
  if (first === 'dn') return key('hash', 'the job that a deduplication id lets follow')
  // A scheduler's id may hold colons, and its jobs are `repeat:<id>:<ms>`.
  if (first === 'repeat') {
    const ofJob = pieces.length > 3 && /^\d+$/.test(pieces.at(-2)!) ? OF_JOB.get(last) : undefined
    return ofJob ?? (pieces.length > 2 && /^\d+$/.test(last) ? JOB : key('hash', 'a job scheduler'))
  }
  return pieces.length === 2 ? OF_JOB.get(second) : undefined
}

function key(type: RedisType, about: string): ExternalKey {
  return { type, about }
}

function metrics(of: string, behind: readonly string[]): ExternalKey | undefined {
  if (of !== 'completed' && of !== 'failed') return undefined
  if (behind.length === 0) return key('hash', `how many jobs have ${of} a minute, its state`)
  return behind.length === 1 && behind[0] === 'data'
    ? key('list', `how many jobs have ${of} a minute`)
    : undefined
}

const JOB = key('hash', 'a job')

// A job whose id is one of these words would be written over the queue's own key; BullMQ does not refuse it.
const OF_QUEUE: ReadonlyMap<string, ExternalKey> = new Map([
  ['wait', key('list', 'waiting jobs')],
  ['paused', key('list', 'waiting jobs of a paused queue')],
  ['active', key('list', 'jobs under way')],
  ['delayed', key('zset', 'delayed jobs by their time')],
  ['prioritized', key('zset', 'waiting jobs by their priority')],
  ['waiting-children', key('zset', 'jobs that wait for others')],
  ['completed', key('zset', 'completed jobs by their time')],
  ['failed', key('zset', 'failed jobs by their time')],
  ['repeat', key('zset', 'job schedulers by their next time')],
  ['marker', key('zset', 'what wakes the workers')],
  ['meta', key('hash', 'the queue’s settings')],
  ['events', key('stream', 'what happened')],
  ['stalled', key('set', 'jobs that may have lost their worker')],
  ['stalled-check', key('string', 'held by the worker that looks for stalled jobs')],
  ['limiter', key('string', 'jobs begun within the rate limit')],
  ['id', key('string', 'the last job id')],
  ['pc', key('string', 'the counter that keeps jobs of one priority in order')],
])

const OF_JOB: ReadonlyMap<string, ExternalKey> = new Map([
  ['lock', key('string', 'held by the worker of a job')],
  ['logs', key('list', 'what a job has logged')],
  ['dependencies', key('set', 'jobs that a job still waits for')],
  ['processed', key('hash', 'results of the jobs that a job waited for')],
  ['failed', key('hash', 'failures that a job passes over')],
  ['unsuccessful', key('zset', 'failed jobs that a job waited for')],
])
