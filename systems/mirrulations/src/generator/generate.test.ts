import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Opened, openMirrulations } from '../keyspace.ts'
import { openRegulations, type Regulations } from '../upstream/regulations.ts'
import { type StandIn, startStandIn } from '../upstream/stand-in.ts'
import { generate } from './generate.ts'

let redis: TemporaryRedis
let opened: Opened
let standIn: StandIn
let regulations: Regulations

beforeAll(async () => {
  redis = await startRedis()
  opened = await openMirrulations(redis.url)
})

afterAll(async () => {
  opened.close()
  await redis.stop()
})

beforeEach(async () => {
  await redis.command('FLUSHALL')
  standIn = await startStandIn({ dockets: 8, documents: 20, comments: 40, attachments: 0 })
  regulations = openRegulations({ apiKey: 'DEMO_KEY', baseUrl: standIn.url, pageSize: 5 })
  return () => standIn.close()
})

const never = new AbortController().signal

async function run(pages = Number.POSITIVE_INFINITY): Promise<number> {
  let added = 0
  let seen = 0
  for await (const page of generate(opened.keys, regulations, never)) {
    added += page.added
    seen += 1
    if (seen === pages) break
  }
  return added
}

async function queued(): Promise<string[]> {
  const jobs = (await redis.command('LRANGE', 'jobs_waiting_queue', 0, -1)) as string[]
  return jobs.map((job) => (JSON.parse(job) as { reg_id: string }).reg_id)
}

test('every record becomes one job, and the watermarks stand at the newest', async () => {
  expect(await run()).toBe(68)
  expect((await queued()).toSorted()).toEqual(standIn.records.map(({ id }) => id).toSorted())
  expect(
    await redis.command(
      'MGET',
      'num_jobs_dockets_waiting',
      'num_jobs_documents_waiting',
      'num_jobs_comments_waiting',
    ),
  ).toEqual(['8', '20', '40'])
  expect(await redis.command('GET', 'regulations_total_comments')).toBe('40')
  const newest = Math.max(
    ...standIn.records.filter(({ kind }) => kind === 'comments').map(({ modifiedMs }) => modifiedMs),
  )
  expect(await redis.command('GET', 'comments_last_timestamp')).toBe(
    new Date(newest).toISOString().slice(0, 19).replace('T', ' '),
  )
})

test('a run that is cut off after any page is taken up by the next, without one job twice', async () => {
  for (const pages of [1, 2, 4, 3, 100]) await run(pages)
  expect((await queued()).toSorted()).toEqual(standIn.records.map(({ id }) => id).toSorted())
})

test('a crash between the jobs and the watermark of a page leaves nothing twice', async () => {
  await run(4)
  await redis.command('DEL', 'dockets_last_timestamp', 'documents_last_timestamp', 'comments_last_timestamp')
  await run()
  expect(await queued()).toHaveLength(68)
})

test('a record that was modified again is fetched again', async () => {
  await run()
  const { id } = standIn.records[3]!
  standIn.modify(id, '2025-01-01 00:00:00')
  expect(await run()).toBe(1)
  expect((await queued()).filter((each) => each === id)).toHaveLength(2)
  expect(await run()).toBe(0)
})

test('two generators at once queue each record once', async () => {
  await Promise.all([run(), run()])
  expect(await queued()).toHaveLength(68)
})
