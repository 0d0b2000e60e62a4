import { openDocuments } from '../keyspace.ts'
import { ocrFrom } from '../pipeline/ocr.ts'
import { openReader } from '../pipeline/reader.ts'
import { delayOf, program, report } from '@keyspec-systems/program'
import { queues } from '../schema.ts'
import { limits, required, wholeNumber } from '../settings.ts'
import { openBroker } from './broker.ts'
import { Performance } from './metrics.ts'
import { queueWorker } from './queue-worker.ts'

await program('worker', async (stop) => {
  const { env } = process
  const opened = await openDocuments(required(env, 'REDIS_URL'), limits(env))
  // BullMQ hands it to timers.
  const leaseMs = delayOf(wholeNumber(env, 'JOB_LEASE_MS', 30_000))
  const broker = openBroker(opened.client)
  const measured = new Performance(env['WORKER_NAME'] ?? 'worker')
  const reading = { reader: openReader(), ocr: ocrFrom(env) }
  const shop = { keys: opened.keys, broker, reading, performance: measured }
  const workers = queues.map((queue) => queueWorker(shop, queue, { connection: opened.client(), leaseMs }))
  await Promise.all(workers.map((worker) => worker.waitUntilReady()))
  const flushing = setInterval(() => void measured.flush(opened.keys).catch(() => undefined), 5_000)
  report({ ready: true })
  await new Promise<void>((resolve) => {
    if (stop.aborted) resolve()
    stop.addEventListener('abort', () => resolve())
  })
  clearInterval(flushing)
  await Promise.all(workers.map((worker) => worker.close()))
  reading.reader.close()
  await measured.flush(opened.keys)
  await broker.close()
  opened.close()
})
