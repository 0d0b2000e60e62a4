import { Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { brokerPrefix, type QueueName } from '../schema.ts'
import { gaveUp, processJob, type Workshop } from './process.ts'
import type { DocumentJob } from './stage.ts'

/** How the jobs of a queue are held. */
export interface QueueWorkerOptions {
  readonly connection: Redis
  /** After which time the job of a worker that died is another's. */
  readonly leaseMs: number
  /** How many workers may die with one job in hand before it is given up; 5 unless told. */
  readonly maxDeaths?: number
}

/** Does the jobs of one queue, and counts those that are given up. */
export function queueWorker(
  shop: Workshop,
  queue: QueueName,
  { connection, leaseMs, maxDeaths = 5 }: QueueWorkerOptions,
): Worker<DocumentJob, string> {
  const worker = new Worker<DocumentJob, string>(queue, (job, token) => processJob(shop, queue, job, token), {
    connection,
    prefix: brokerPrefix,
    concurrency: 2,
    lockDuration: leaseMs,
    stalledInterval: leaseMs,
    maxStalledCount: maxDeaths,
  })
  // Without a listener an error would end the process; the client says what there is to say.
  worker.on('error', () => undefined)
  worker.on('failed', (job) => {
    if (job !== undefined) void gaveUp(shop.keys, job).catch((error: Error) => console.error(error.message))
  })
  return worker
}
