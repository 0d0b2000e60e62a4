import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FlowProducer, Queue, Worker } from 'bullmq'
import { expectedType, matcher } from '@keyspec/inspect'
import { eventually, startRedis, type TemporaryRedis } from 'keyspec/testing'
import { expect, onTestFinished, test } from 'vitest'
import { type Opened, openDocuments } from './keyspace.ts'
import { stages } from './pipeline/document-state.ts'
import { submit } from './run/submit.ts'
import { documents } from './schema.ts'
import { openBroker } from './worker/broker.ts'

async function world(env: Record<string, string> = {}) {
  const redis = await startRedis({ config: { appendonly: 'yes', appendfsync: 'always' } })
  const opened = await openDocuments(redis.url)
  const broker = openBroker(opened.client)
  const folder = await mkdtemp(join(tmpdir(), 'documents-'))
  const children: ChildProcess[] = []
  onTestFinished(async () => {
    for (const child of children) child.kill('SIGKILL')
    await broker.close()
    opened.close()
    await redis.stop()
    await rm(folder, { recursive: true })
  })
  const paths = await Promise.all(
    Array.from({ length: 6 }, async (_, index) => {
      const path = join(folder, `letter-${index}.txt`)
      await writeFile(path, `Dr. Anna Vega wrote to Quillon Batteries LLC on 1 March 2024. Letter ${index}.`)
      return path
    }),
  )
  return {
    redis,
    opened,
    broker,
    paths,
    async worker() {
      const child = fork(fileURLToPath(new URL('../program/worker/worker-main.js', import.meta.url)), [], {
        env: { PATH: process.env['PATH'], REDIS_URL: redis.url, JOB_LEASE_MS: '2000', ...env },
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      })
      children.push(child)
      await Promise.race([
        once(child, 'message'),
        once(child, 'exit').then(() => {
          throw new Error('a worker ended before it began')
        }),
      ])
      return child
    },
  }
}

/** All documents read, every job counted once, no count below 0, nothing without an end. */
async function expectAllRead({ keys }: Opened, redis: TemporaryRedis, batchId: string, count: number) {
  await eventually(async () => expect((await keys.batchProgress({ batchId }).get())?.completed).toBe(count), {
    within: '90s',
  })
  expect(await keys.batchProgress({ batchId }).get()).toMatchObject({
    total: count,
    pending: 0,
    running: 0,
    incomplete: 0,
    failed: 0,
  })
  expect(await keys.batchStats({ batchId }).get()).toMatchObject({
    jobs_completed: count * stages.length,
    jobs_failed: 0,
    pages: count,
  })
  for (const key of await names(redis)) {
    if (!key.startsWith('broker:')) expect([key, await redis.command('TTL', key)]).not.toEqual([key, -1])
  }
}

/** The names of all keys, and that each is known and of its declared type. */
async function expectKnown(redis: TemporaryRedis): Promise<Map<string, string>> {
  const { match } = matcher(documents)
  const types = new Map<string, string>()
  for (const key of await names(redis)) {
    const type = (await redis.command('TYPE', key)) as string
    const owned = match(key)
    // One that ended between the two questions, and what says the phases of renames.
    if (type === 'none' || key === 'keyspec:phases') continue
    expect([key, owned && expectedType(owned, key)]).toEqual([key, type])
    types.set(key, type)
  }
  return types
}

async function names(redis: TemporaryRedis): Promise<string[]> {
  const found: string[] = []
  let cursor = '0'
  do {
    const [next, some] = (await redis.command('SCAN', cursor, 'COUNT', '500')) as [string, string[]]
    cursor = next
    found.push(...some)
  } while (cursor !== '0')
  return found
}

test('a batch is read though a worker is killed in the middle, and every key is known', async () => {
  const { redis, opened, broker, paths, worker } = await world()
  const [first] = [await worker(), await worker()]
  await submit(opened.keys, broker, 'b1', paths)
  await eventually(
    async () =>
      expect((await opened.keys.batchStats({ batchId: 'b1' }).get())?.jobs_completed).toBeGreaterThan(3),
    { within: '60s' },
  )
  first.kill('SIGKILL')
  const { jobs_completed } = (await opened.keys.batchStats({ batchId: 'b1' }).get()) ?? {}
  expect(jobs_completed).toBeLessThan(paths.length * stages.length)
  await expectAllRead(opened, redis, 'b1', paths.length)
  await expectKnown(redis)
  for (const name of ['chunks', 'resolved_mentions']) {
    const found = (await names(redis)).filter((key) => key.startsWith(`cache:doc:${name}:`))
    expect(found).toHaveLength(paths.length)
  }
})

test('a batch is read though Redis is restarted in the middle', async () => {
  const { redis, opened, broker, paths, worker } = await world()
  await worker()
  await submit(opened.keys, broker, 'b1', paths)
  await eventually(
    async () =>
      expect((await opened.keys.batchStats({ batchId: 'b1' }).get())?.jobs_completed).toBeGreaterThan(3),
    { within: '60s' },
  )
  await redis.restart()
  await expectAllRead(opened, redis, 'b1', paths.length)
})

test('a limit holds back jobs, and loses none', async () => {
  const { redis, opened, broker, paths, worker } = await world({ RATE_LIMIT: '3', RATE_LIMIT_PER: '2s' })
  await worker()
  await submit(opened.keys, broker, 'b1', paths)
  await eventually(
    async () => {
      const held = await Promise.all(Object.values(broker.queues).map((queue) => queue.getDelayedCount()))
      expect(Math.max(...held)).toBeGreaterThan(0)
    },
    { within: '60s' },
  )
  await expectAllRead(opened, redis, 'b1', paths.length)
})

test('a file that is no PDF fails once, without another try', async () => {
  const { redis, opened, broker, paths, worker } = await world()
  const path = paths[0]!.replace('.txt', '.pdf')
  await writeFile(path, 'not a PDF')
  await worker()
  await submit(opened.keys, broker, 'b1', [path])
  await eventually(
    async () => expect((await opened.keys.batchProgress({ batchId: 'b1' }).get())?.failed).toBe(1),
    {
      within: '60s',
    },
  )
  expect(await opened.keys.batchStats({ batchId: 'b1' }).get()).toMatchObject({
    jobs_failed: 1,
    jobs_completed: 0,
  })
  await expectKnown(redis)
})

test('whatever BullMQ leaves behind is known, and of the declared type', async () => {
  const { redis, opened } = await world()
  const connection = opened.client()
  const options = { connection, prefix: 'broker' }
  const queue = new Queue('text', options)
  const flow = new FlowProducer(options)
  const seen = new Map<string, string>()
  const look = async () => {
    for (const [key, type] of await expectKnown(redis)) seen.set(key.replace(/^broker:[^:]*:/, ''), type)
  }
  await queue.add('plain', {})
  await queue.add('later', {}, { delay: 60_000 })
  await queue.add('first', {}, { priority: 2 })
  await queue.add('once', {}, { deduplication: { id: 'same', ttl: 60_000 } })
  await queue.add('named', {}, { jobId: 'my-job' })
  await queue.upsertJobScheduler('nightly', { every: 60_000 }, { name: 'tick' })
  await queue.add('bad', {}, { attempts: 1 })
  await flow.add({
    name: 'parent',
    queueName: 'text',
    children: [
      { name: 'child', queueName: 'ocr', data: {} },
      { name: 'bad', queueName: 'ocr', data: {}, opts: { attempts: 1, ignoreDependencyOnFailure: true } },
    ],
  })
  await look()
  await queue.pause()
  await look()
  await queue.resume()
  const workers = ['text', 'ocr'].map(
    (name) =>
      new Worker(
        name,
        async (job) => {
          await job.log('a line')
          await look()
          if (job.name === 'bad') throw new Error('as it should')
          return 1
        },
        {
          ...options,
          connection: opened.client(),
          limiter: { max: 50, duration: 1_000 },
          metrics: { maxDataPoints: 10 },
          stalledInterval: 100,
        },
      ),
  )
  await eventually(async () => expect(await queue.getCompletedCount()).toBeGreaterThan(4), { within: '60s' })
  await look()
  await Promise.all([...workers, queue, flow].map((each) => each.close()))
  await look()
  for (const part of [
    'id',
    'meta',
    'events',
    'active',
    'completed',
    'failed',
    'delayed',
    'repeat',
    'pc',
    'marker',
    'limiter',
    'de:same',
    'my-job',
    'my-job:lock',
    'my-job:logs',
    'repeat:nightly',
    'stalled-check',
  ]) {
    expect([part, [...seen.keys()].includes(part)]).toEqual([part, true])
  }
  for (const suffix of ['dependencies', 'processed', 'failed']) {
    expect([suffix, [...seen.keys()].some((key) => key.endsWith(`:${suffix}`))]).toEqual([suffix, true])
  }
})
