import { setTimeout as sleep } from 'node:timers/promises'
import { json, open } from 'keyspec'
import { workQueue } from 'keyspec/recipes'
import * as v from 'valibot'
import type { Address } from '../job.ts'
import { limiterPeers, ownLimiters } from '../peers/limiters.ts'
import type { BenchServer } from '../server.ts'
import type { Figures, Trial, Trier } from '../trial.ts'

const IDS = 500
const HITS = 10
const JOBS = 10_000
const LIMITERS = `a key of a limiter with ${HITS} hits`
const QUEUES = 'a waiting job'

const Letter = v.object({ to: v.string(), subject: v.string() })
const letter = { to: 'ada@example.org', subject: 'Hello' }
const letters = (count: number) => Array.from({ length: count }, () => letter)

/** What an item of a peer and one of ours take in Redis. */
export const bytes: Trial = {
  name: 'bytes',
  about:
    `What one thing takes in Redis: ${IDS.toLocaleString('en')} limiters with a limit of 100, asked ${HITS} times each, and ` +
    `${JOBS.toLocaleString('en')} waiting jobs of ${JSON.stringify(letter).length} bytes of JSON. Counted are MEMORY USAGE of all keys, ` +
    `and by how much used_memory grew, once the client has gone and the scripts are flushed.`,
  figures: {
    usage: { label: 'MEMORY USAGE', unit: 'bytes' },
    used: { label: 'used_memory', unit: 'bytes' },
    keys: { label: 'keys' },
  },
  cases: [LIMITERS, QUEUES],
  rounds: 1,
  contenders: {
    ...Object.fromEntries(
      Object.entries({ ...ownLimiters, ...limiterPeers }).map(([name, { label, open }]) => [
        name,
        {
          label,
          run: only(LIMITERS, IDS, async (address) => {
            const { take, close } = await open(address, { limit: 100, perS: 600 })
            for (let hit = 0; hit < HITS; hit += 1)
              await Promise.all(Array.from({ length: IDS }, (_, id) => take(`id${id}`)))
            close()
          }),
        },
      ]),
    ),
    keyspec: { label: 'Keyspec workQueue', run: only(QUEUES, JOBS, ours) },
    bullmq: { label: 'BullMQ 6', run: only(QUEUES, JOBS, bullmq) },
    bull: { label: 'Bull 4', run: only(QUEUES, JOBS, bull) },
    'bee-queue': { label: 'Bee-Queue 2', run: only(QUEUES, JOBS, bee) },
  },
  targets: [
    { case: LIMITERS, figure: 'usage', ours: 'keyspec compact', atMost: 128 },
    { case: QUEUES, figure: 'used', ours: 'keyspec', atMost: 170 },
    { case: QUEUES, figure: 'used', ours: 'keyspec', against: ['bullmq', 'bull', 'bee-queue'], atMost: 1 },
  ],
}

function only(its: string, items: number, fill: (address: Address) => Promise<unknown>): Trier['run'] {
  return async (name, { server }) => {
    if (name !== its) return undefined
    const redis = await server()
    const before = await usedMemory(redis)
    await fill(redis.address)
    return perItem(redis, items, before)
  }
}

async function perItem(redis: BenchServer, items: number, before: number): Promise<Figures> {
  await redis.command('SCRIPT', 'FLUSH', 'SYNC')
  // Their buffers are no items: a client that does not leave in time is counted with them.
  for (let waited = 0; waited < 2_000 && (await clients(redis)) > 1; waited += 20) await sleep(20)
  const used = (await usedMemory(redis)) - before
  let usage = 0
  let keys = 0
  let cursor = '0'
  do {
    const [next, found] = (await redis.command('SCAN', cursor, 'COUNT', 1000)) as [string, string[]]
    cursor = next
    const sizes = await Promise.all(found.map((key) => redis.command('MEMORY', 'USAGE', key, 'SAMPLES', 0)))
    usage += sizes.reduce<number>((sum, size) => sum + Number(size), 0)
    keys += found.length
  } while (cursor !== '0')
  return { usage: usage / items, used: used / items, keys: keys / items }
}

async function clients(redis: BenchServer): Promise<number> {
  return Number(/connected_clients:(\d+)/.exec(String(await redis.command('INFO', 'clients')))?.[1])
}

async function usedMemory(redis: BenchServer): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(String(await redis.command('INFO', 'memory')))?.[1])
}

async function ours({ socket }: Address): Promise<void> {
  const [{ createClient }, { fromNodeRedis }] = await Promise.all([
    import('redis'),
    import('keyspec/node-redis'),
  ])
  const client = createClient({ socket: { path: socket, tls: false } })
  await client.connect()
  const schema = { jobs: workQueue('bench:jobs', json(Letter), { lease: '30s' }) }
  const jobs = open(schema, fromNodeRedis(client)).jobs()
  for (let added = 0; added < JOBS; added += 1_000) await jobs.add(letters(1_000))
  client.destroy()
}

async function bullmq({ socket }: Address): Promise<void> {
  const { Queue } = await import('bullmq')
  const queue = new Queue('bench', { connection: { path: socket, maxRetriesPerRequest: null } })
  for (let added = 0; added < JOBS; added += 1_000)
    await queue.addBulk(letters(1_000).map((data) => ({ name: 'letter', data })))
  await queue.close()
}

async function bull({ port }: Address): Promise<void> {
  const { default: Queue } = await import('bull')
  const queue = new Queue('bench', { redis: { port, host: '127.0.0.1' } })
  for (let added = 0; added < JOBS; added += 1_000)
    await queue.addBulk(letters(1_000).map((data) => ({ data })))
  await queue.close(true)
}

async function bee({ socket }: Address): Promise<void> {
  const { default: Queue } = await import('bee-queue')
  const queue = new Queue('bench', {
    redis: { path: socket },
    isWorker: false,
    getEvents: false,
    storeJobs: false,
  })
  for (let added = 0; added < JOBS; added += 1_000)
    await queue.saveAll(letters(1_000).map((data) => queue.createJob(data)))
  await queue.close(100)
}
