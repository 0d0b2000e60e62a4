import { Worker } from 'bullmq'
import { eventually, startRedis, type TemporaryRedis } from 'keyspec/testing'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { beginBatch } from '../batch/batch.ts'
import { type Opened, openDocuments } from '../keyspace.ts'
import { brokerPrefix } from '../schema.ts'
import { type Broker, openBroker } from './broker.ts'
import { Performance } from './metrics.ts'
import { queueWorker } from './queue-worker.ts'
import type { DocumentJob } from './stage.ts'

let redis: TemporaryRedis
let opened: Opened
let broker: Broker
let working: Worker[] = []

// A path that is not there: reading it fails at every try, and trying again might help.
const document = { document_uuid: 'd0', name: 'a.txt', media_type: 'text/plain' } as const
const job: DocumentJob = { ...document, batch_id: 'b1', path: '/nowhere/a.txt' }

beforeAll(async () => {
  redis = await startRedis()
})

beforeEach(async () => {
  await redis.command('FLUSHALL')
  opened = await openDocuments(redis.url)
  broker = openBroker(opened.client)
  await beginBatch(opened.keys, {
    batch_id: 'b1',
    created_at: new Date().toISOString(),
    documents: [{ ...document, bytes: 1 }],
  })
})

afterEach(async () => {
  await Promise.all(working.map((worker) => worker.close(true)))
  working = []
  await broker.close()
  opened.close()
})

afterAll(async () => {
  await redis.stop()
})

function work({ leaseMs, maxDeaths }: { leaseMs: number; maxDeaths: number }) {
  const shop = { keys: opened.keys, broker, ocr: undefined, performance: new Performance('worker') }
  working.push(queueWorker(shop, 'ocr', { connection: opened.client(), leaseMs, maxDeaths }))
}

async function raw(key: string): Promise<Record<string, string>> {
  const flat = (await redis.command('HGETALL', key)) as string[]
  return Object.fromEntries(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]!]] : [])))
}

/** One job failed and one document with it, each counted once, and the state of the document says why. */
async function expectGivenUp(why: string, attempts: number) {
  await eventually(async () =>
    expect((await opened.keys.state({ documentUuid: 'd0' }).get())?.status).toBe('failed'),
  )
  await eventually(async () => expect(await raw('batch:progress:b1')).toMatchObject({ failed: '1' }))
  expect(await raw('batch:progress:b1')).toMatchObject({
    total: '1',
    pending: '0',
    running: '0',
    failed: '1',
  })
  expect(await raw('batch:stats:b1')).toMatchObject({ jobs_failed: '1', jobs_completed: '0' })
  const { stages } = (await opened.keys.state({ documentUuid: 'd0' }).get())!
  expect(stages.ocr).toMatchObject({ status: 'failed', attempts })
  expect(stages.ocr.error).toContain(why)
  expect(await broker.queues.ocr.getFailedCount()).toBe(1)
}

test('a job that fails all its attempts is counted as one failure', async () => {
  work({ leaseMs: 30_000, maxDeaths: 5 })
  await broker.next('intake', job)
  await expectGivenUp('no such file', 3)
  expect(await raw('broker:ocr:b1.d0.ocr')).toMatchObject({ atm: '3' })
  expect(JSON.parse((await redis.command('GET', 'results:job:ocr:b1.d0.ocr')) as string)).toMatchObject({
    status: 'failed',
    document_uuid: 'd0',
  })
})

test('a job with which workers die again and again is given up, and counted as one failure', async () => {
  await broker.next('intake', job)
  // One that takes a job, and is never heard of again.
  const dead = new Worker<DocumentJob>('ocr', null, {
    connection: opened.client(),
    prefix: brokerPrefix,
    lockDuration: 100,
  })
  working.push(dead)
  expect((await dead.getNextJob('dead'))?.id).toBe('b1.d0.ocr')
  work({ leaseMs: 100, maxDeaths: 0 })
  await expectGivenUp('stalled', 0)
})
