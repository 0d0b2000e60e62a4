import { json, open } from 'keyspec'
import { workQueue } from 'keyspec/recipes'
import * as v from 'valibot'
import type { Acts, Address, Case, Job } from '../job.ts'

const Letter = v.object({ to: v.string(), subject: v.string() })
const letter = { to: 'ada@example.org', subject: 'Hello' }
const MANY = 100

const schema = { jobs: workQueue('bench:jobs', json(Letter), { lease: '30s', keepCompleted: 0 }) }

const cases: Case[] = [
  { name: 'add one, 50 in flight', act: 'add', inFlight: 50 },
  { name: 'add 100 in one call', act: 'addMany', inFlight: 1, items: MANY },
  ...[1, 10, 100].map((at) => ({
    name: `add 100, then take and complete them ${at} at a time`,
    act: `through${at}`,
    inFlight: 1,
    items: MANY,
  })),
]

/** Jobs of a work queue, added and done; the worker does nothing but finish them. */
export const queue: Job = {
  name: 'queue',
  about:
    'Jobs of a work queue: added, and done by a worker that does nothing but finish them. Rates are of jobs.',
  cases,
  contenders: {
    keyspec: { label: 'Keyspec workQueue', open: ours },
    bullmq: { label: 'BullMQ 6', open: bullmq },
    bull: { label: 'Bull 4', open: bull },
    'bee-queue': { label: 'Bee-Queue 2', open: bee },
  },
  targets: [
    { case: cases[1]!.name, ours: 'keyspec', against: ['bullmq'], atLeast: 5 },
    { case: cases[1]!.name, ours: 'keyspec', against: ['bee-queue'], atLeast: 2 },
    { case: cases[4]!.name, ours: 'keyspec', against: ['bullmq'], atLeast: 4, onTwoCores: 2.5 },
    { case: cases[4]!.name, ours: 'keyspec', against: ['bee-queue'], atLeast: 2, onTwoCores: 1.5 },
  ],
}

const letters = Array.from({ length: MANY }, () => letter)

async function ours({ socket }: Address): Promise<Acts> {
  const [{ createClient }, { fromNodeRedis }] = await Promise.all([
    import('redis'),
    import('keyspec/node-redis'),
  ])
  const client = createClient({ socket: { path: socket, tls: false } })
  await client.connect()
  const keys = open(schema, fromNodeRedis(client))
  const jobs = keys.jobs()
  const through = async (at: number) => {
    await jobs.add(letters)
    let { taken } = await jobs.completeAndTake('worker', { take: at })
    while (taken.length > 0) {
      const completed = taken.map(({ id }) => ({ id, result: null }))
      ;({ taken } = await jobs.completeAndTake('worker', { completed, take: at }))
    }
  }
  return {
    acts: {
      add: () => jobs.add([letter]),
      addMany: () => jobs.add(letters),
      through1: () => through(1),
      through10: () => through(10),
      through100: () => through(100),
    },
    close: () => client.destroy(),
  }
}

/** Waits until as many jobs were done as were added. */
class Drain {
  #left = 0
  #done: (() => void) | undefined

  finished(): void {
    this.#left -= 1
    if (this.#left === 0) this.#done?.()
  }

  async of(count: number, add: () => Promise<unknown>): Promise<void> {
    const drained = new Promise<void>((resolve) => (this.#done = resolve))
    this.#left += count
    await add()
    await drained
  }
}

async function bullmq({ socket }: Address): Promise<Acts> {
  const { Queue, Worker } = await import('bullmq')
  const connection = { path: socket, maxRetriesPerRequest: null }
  const options = { removeOnComplete: true, removeOnFail: true }
  const idle = new Queue('bench-idle', { connection, defaultJobOptions: options })
  const bulk = letters.map((data) => ({ name: 'letter', data }))
  const made = [1, 10, 100].map((at) => {
    const drain = new Drain()
    const work = new Queue(`bench-${at}`, { connection, defaultJobOptions: options })
    const worker = new Worker(`bench-${at}`, async () => {}, { connection, concurrency: at })
    worker.on('completed', () => drain.finished())
    return { at, work, worker, through: () => drain.of(MANY, () => work.addBulk(bulk)) }
  })
  return {
    acts: {
      add: () => idle.add('letter', letter),
      addMany: () => idle.addBulk(bulk),
      ...Object.fromEntries(made.map(({ at, through }) => [`through${at}`, through])),
    },
    async close() {
      for (const { work, worker } of made) {
        await worker.close(true)
        await work.close()
      }
      await idle.close()
    },
  }
}

async function bull({ port }: Address): Promise<Acts> {
  const { default: Queue } = await import('bull')
  const options = {
    redis: { port, host: '127.0.0.1' },
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  }
  const idle = new Queue('bench-idle', options)
  const bulk = letters.map((data) => ({ data }))
  const made = [1, 10, 100].map((at) => {
    const drain = new Drain()
    const work = new Queue(`bench-${at}`, options)
    void work.process(at, async () => {})
    work.on('completed', () => drain.finished())
    return { at, work, through: () => drain.of(MANY, () => work.addBulk(bulk)) }
  })
  return {
    acts: {
      add: () => idle.add(letter),
      addMany: () => idle.addBulk(bulk),
      ...Object.fromEntries(made.map(({ at, through }) => [`through${at}`, through])),
    },
    close: () => Promise.all([idle, ...made.map(({ work }) => work)].map((each) => each.close(true))),
  }
}

async function bee({ socket }: Address): Promise<Acts> {
  const { default: Queue } = await import('bee-queue')
  const options = {
    redis: { path: socket },
    removeOnSuccess: true,
    removeOnFailure: true,
    getEvents: false,
    storeJobs: false,
  }
  const idle = new Queue('bench-idle', { ...options, isWorker: false })
  const made = [1, 10, 100].map((at) => {
    const drain = new Drain()
    const work = new Queue(`bench-${at}`, options)
    work.process(at, async () => {})
    work.on('succeeded', () => drain.finished())
    return {
      at,
      work,
      through: () => drain.of(MANY, () => work.saveAll(letters.map((data) => work.createJob(data)))),
    }
  })
  return {
    acts: {
      add: () => idle.createJob(letter).save(),
      addMany: () => idle.saveAll(letters.map((data) => idle.createJob(data))),
      ...Object.fromEntries(made.map(({ at, through }) => [`through${at}`, through])),
    },
    close: () => Promise.all([idle, ...made.map(({ work }) => work)].map((each) => each.close(100))),
  }
}
