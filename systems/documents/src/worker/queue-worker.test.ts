import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'bullmq'
import type { Duration } from 'keyspec'
import { eventually, startRedis, type TemporaryRedis } from 'keyspec/testing'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { pdfBomb, pdfOfManyForms, shortly, tightly } from '../../../../test-support/hostile-documents.ts'
import { beginBatch } from '../batch/batch.ts'
import { type Opened, openDocuments } from '../keyspace.ts'
import { openReader } from '../pipeline/reader.ts'
import { brokerPrefix } from '../schema.ts'
import { type Broker, openBroker } from './broker.ts'
import { Performance } from './metrics.ts'
import { queueWorker } from './queue-worker.ts'
import type { DocumentJob } from './stage.ts'

let redis: TemporaryRedis
let opened: Opened
let broker: Broker
const reader = openReader()
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
  reader.close()
  await redis.stop()
})

function work({ leaseMs, maxDeaths }: { leaseMs: number; maxDeaths: number }, reading = { reader }) {
  const shop = { keys: opened.keys, broker, reading, performance: new Performance('worker') }
  working.push(queueWorker(shop, 'ocr', { connection: opened.client(), leaseMs, maxDeaths }))
}

async function raw(key: string): Promise<Record<string, string>> {
  const flat = (await redis.command('HGETALL', key)) as string[]
  return Object.fromEntries(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]!]] : [])))
}

/** One job failed and one document with it, each counted once, and the state of the document says why. */
async function expectGivenUp(why: string, attempts: number, within: Duration = '5s') {
  await eventually(
    async () => expect((await opened.keys.state({ documentUuid: 'd0' }).get())?.status).toBe('failed'),
    { within },
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

test.each([
  ['a PDF that unpacks without an end', pdfBomb, tightly, 'more memory'],
  ['a PDF that draws without an end', pdfOfManyForms, shortly, 'longer'],
])(
  '%s fails at once, and its worker goes on',
  async (_, make, limits, why) => {
    const folder = await mkdtemp(join(tmpdir(), 'documents-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const careful = openReader(limits)
    onTestFinished(() => careful.close())
    const path = join(folder, 'hostile.pdf')
    await writeFile(path, make())
    // A lease that ends long before the reader's deadline: the worker renews it, since nothing holds its loop up.
    work({ leaseMs: 1_000, maxDeaths: 0 }, { reader: careful })
    await broker.next('intake', { ...job, path, media_type: 'application/pdf' })
    await expectGivenUp(why, 1, '60s')
  },
  90_000,
)

test('a file that is too large is not read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'documents-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'large.txt')
  await writeFile(path, '')
  await truncate(path, 64 * 1024 * 1024 + 1)
  work({ leaseMs: 30_000, maxDeaths: 0 })
  await broker.next('intake', { ...job, path })
  await expectGivenUp('67108865 bytes, more than 67108864', 1)
})
