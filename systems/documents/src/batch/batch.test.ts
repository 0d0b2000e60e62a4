import { startRedis, type TemporaryRedis, unique } from 'keyspec/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Opened, openDocuments } from '../keyspace.ts'
import { stages } from '../pipeline/document-state.ts'
import { beginBatch, documentIs, jobEnded } from './batch.ts'

let redis: TemporaryRedis
let workers: Opened[]

beforeAll(async () => {
  redis = await startRedis()
  workers = await Promise.all(Array.from({ length: 4 }, () => openDocuments(redis.url)))
})

afterAll(async () => {
  for (const worker of workers) worker.close()
  await redis.stop()
})

async function begun(documents: number) {
  const batchId = unique()
  const ids = Array.from({ length: documents }, (_, index) => `d${index}`)
  const described = ids.map((document_uuid) => ({
    document_uuid,
    name: 'a.txt',
    media_type: 'text/plain' as const,
    bytes: 1,
  }))
  const manifest = { batch_id: batchId, created_at: new Date().toISOString(), documents: described }
  await beginBatch(workers[0]!.keys, manifest)
  return { batchId, ids, manifest }
}

async function raw(key: string): Promise<Record<string, string>> {
  const flat = (await redis.command('HGETALL', key)) as string[]
  return Object.fromEntries(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]!]] : [])))
}

test('documents told of by several workers at once, several times, are each counted once', async () => {
  const { batchId, ids } = await begun(12)
  const key = `batch:progress:${batchId}`
  let isDone = false
  const watching = (async () => {
    while (!isDone) {
      const { pending, running, completed, failed, incomplete } = await raw(key)
      const counts = [pending, running, completed, failed, incomplete].map(Number)
      expect(Math.min(...counts)).toBeGreaterThanOrEqual(0)
      expect(counts.reduce((sum, count) => sum + count)).toBe(12)
    }
  })()
  await Promise.all(
    workers.flatMap(({ keys }) =>
      ids.map(async (id, index) => {
        await documentIs(keys, batchId, id, 'running')
        await documentIs(keys, batchId, id, index % 3 === 0 ? 'failed' : 'completed')
        await documentIs(keys, batchId, id, 'running')
      }),
    ),
  )
  isDone = true
  await watching
  expect(await raw(key)).toMatchObject({
    total: '12',
    pending: '0',
    running: '0',
    completed: '8',
    failed: '4',
  })
  expect(await redis.command('TTL', key)).toBeGreaterThan(86_300)
})

test('jobs that are done twice add what they made once', async () => {
  const { batchId, ids } = await begun(5)
  await Promise.all(
    workers.flatMap(({ keys }) =>
      ids.flatMap((documentUuid) =>
        stages.map((stage) =>
          jobEnded(keys, batchId, { documentUuid, stage }, stage === 'ocr' ? 'failed' : 'completed', {
            pages: 2,
          }),
        ),
      ),
    ),
  )
  const stats = await raw(`batch:stats:${batchId}`)
  expect(stats).toMatchObject({ jobs_completed: '20', jobs_failed: '5', pages: '50', cache_hits: '0' })
  expect(await redis.command('TTL', `batch:stats:${batchId}`)).toBeGreaterThan(86_300)
})

test('a batch begun again goes on where it is', async () => {
  const { batchId, manifest } = await begun(2)
  const { keys } = workers[0]!
  await documentIs(keys, batchId, 'd0', 'running')
  await beginBatch(keys, manifest)
  expect(await raw(`batch:progress:${batchId}`)).toMatchObject({ pending: '1', running: '1' })
})

test('nothing is counted for a batch whose time is over, and no key comes of it', async () => {
  const { keys } = workers[0]!
  expect(await documentIs(keys, 'over', 'd0', 'completed')).toBe(false)
  expect(await jobEnded(keys, 'over', { documentUuid: 'd0', stage: 'ocr' }, 'completed')).toBe(false)
  expect(await redis.command('EXISTS', 'batch:progress:over', 'batch:stats:over')).toBe(0)
})
