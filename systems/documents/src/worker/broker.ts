import { type Job, Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { stages, type Stage } from '../pipeline/document-state.ts'
import { brokerPrefix, type QueueName, queues } from '../schema.ts'
import { type DocumentJob, queueOf } from './stage.ts'

/** The queues of the system, open to add jobs. */
export interface Broker {
  readonly queues: { readonly [Q in QueueName]: Queue<DocumentJob> }
  /** Adds the job that begins a document; one that is there already is not added again. */
  begin(job: DocumentJob): Promise<void>
  /** Adds the job of the stage after this one; `undefined` after the last. */
  next(stage: Stage | 'intake', job: DocumentJob): Promise<Stage | undefined>
  close(): Promise<void>
}

/** Opens the queues over clients of Redis, of which each takes one. */
export function openBroker(client: () => Redis): Broker {
  const shared = client()
  const open = (name: QueueName) =>
    new Queue<DocumentJob>(name, {
      connection: shared,
      prefix: brokerPrefix,
      defaultJobOptions: {
        attempts: 3,
        backoff: { type: 'exponential', delay: 200, jitter: 0.5 },
        // The result is under results:, and the id keeps a job from being added twice while its batch lives.
        removeOnComplete: { age: 86_400 },
        removeOnFail: { age: 86_400 },
      },
    })
  const all = Object.fromEntries(queues.map((name) => [name, open(name)])) as Broker['queues']
  // Without a listener BullMQ prints every lost connection; the client says what there is to say.
  for (const queue of Object.values(all)) queue.on('error', () => undefined)
  const add = async (queue: QueueName, name: string, job: DocumentJob) => {
    await all[queue].add(name, job, { jobId: `${job.batch_id}.${job.document_uuid}.${name}` })
  }
  return {
    queues: all,
    begin: (job) => add('default', 'intake', job),
    async next(stage, job) {
      const following = stage === 'intake' ? stages[0] : stages[stages.indexOf(stage) + 1]
      if (following !== undefined) await add(queueOf[following], following, job)
      return following
    },
    async close() {
      await Promise.all(Object.values(all).map((queue) => queue.close()))
    },
  }
}

/** Whether a failed job will not be tried again. */
export function isLastAttempt({ attemptsMade, opts }: Pick<Job, 'attemptsMade' | 'opts'>): boolean {
  return attemptsMade + 1 >= (opts.attempts ?? 1)
}
