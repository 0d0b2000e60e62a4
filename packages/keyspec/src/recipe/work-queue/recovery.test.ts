import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { text } from '../../codec/text.ts'
import type { Connection } from '../../connection/connection.ts'
import { fromNodeRedis } from '../../connection/client/node-redis.ts'
import { UnknownOutcomeError } from '../../errors.ts'
import { open } from '../../keyspace.ts'
import { eventually, unique } from '../../testing/eventually.ts'
import { startRedis, type TemporaryRedis } from '../../testing/redis.ts'
import { workQueue } from './work-queue.ts'

let server: TemporaryRedis
let client: ReturnType<typeof connect>

function connect() {
  return createClient({ socket: { path: server.socket, tls: false } })
}

beforeAll(async () => {
  server = await startRedis()
  client = connect()
  await client.connect()
})

afterAll(async () => {
  client.destroy()
  await server.stop()
})

const ATTEMPTS = 2
const declared = workQueue('q', text, { lease: '10s', attempts: ATTEMPTS, keepCompleted: 100, result: text })

/** A connection over which what happens on the server can go without an answer. */
class Lossy implements Connection {
  readonly client = 'lossy'
  readonly cluster = false
  readonly #inner = fromNodeRedis(client)
  isLosing = false

  async send(...asked: Parameters<Connection['send']>) {
    const reply = await this.#inner.send(...asked)
    if (this.isLosing) throw new UnknownOutcomeError('the reply was lost')
    return reply
  }

  async masters() {
    return [this]
  }

  async losing<T>(act: () => Promise<T>): Promise<void> {
    this.isLosing = true
    await expect(act()).rejects.toThrow(UnknownOutcomeError)
    this.isLosing = false
  }
}

function fresh({ isTimed = false } = {}) {
  const clock = { now: 1_000_000 }
  const prefix = `${unique()}:`
  const connection = new Lossy()
  const process = () =>
    open({ declared }, connection, { prefix, ...(isTimed ? {} : { now: () => clock.now }) }).declared()
  const raw = (command: string, part: string, ...more: (string | number)[]) =>
    server.command(command, `${prefix}q:${part}`, ...more)
  return { queue: process(), process, connection, clock, raw }
}

const jobs = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}`)
const idsOf = (taken: readonly { readonly id: string }[]) => taken.map(({ id }) => id)

describe('a lease that ran out ends on a busy queue', () => {
  test('in a take: the job is the next one', async () => {
    const { queue, clock } = fresh()
    await queue.add(jobs(9))
    await queue.take('dead', 2)
    clock.now += 10_000
    expect(idsOf(await queue.take('w', 3))).toEqual(['1', '2', '3'])
  })

  test.each([
    ['completeAndTake', 'take'],
    ['complete', 'complete'],
    ['fail', 'fail'],
    ['release', 'release'],
  ] as const)('in %s', async (_, verb) => {
    const { queue, clock, raw } = fresh()
    await queue.add(jobs(9))
    await queue.take('dead')
    clock.now += 5_000
    await queue.take('w')
    clock.now += 5_000
    const completed = [{ id: '2', result: 'r' }]
    if (verb === 'take')
      expect(idsOf((await queue.completeAndTake('w', { completed, take: 1 })).taken)).toEqual(['1'])
    if (verb === 'complete') await queue.complete('w', ...completed)
    if (verb === 'fail') await queue.fail('w', ['2'], 'x')
    if (verb === 'release') await queue.release('w', ['2'])
    expect(await raw('HEXISTS', 'holders', 2)).toBe(0)
    if (verb === 'take') expect(await raw('HGET', 'holders', 1)).toBe('w')
    else expect(idsOf(await queue.take('v', 2))).toContain('1')
  })

  test('at most 100 in a turn, and as many as it takes', async () => {
    const { queue, clock } = fresh()
    await queue.add(jobs(700))
    await queue.take('dead', 600)
    clock.now += 10_000
    expect(await queue.release('w', ['700'])).toEqual([{ id: '700', outcome: 'not-held' }])
    expect(await queue.stats()).toMatchObject({ waiting: 200, inProgress: 500, expired: 500 })
    expect(idsOf(await queue.take('w', 550))).toHaveLength(550)
    expect(await queue.stats()).toMatchObject({ waiting: 150, inProgress: 550, expired: 0 })
  })

  test('but not that of a job which the same turn finishes, though late', async () => {
    const { queue, clock } = fresh()
    await queue.add(jobs(2))
    await queue.take('w')
    clock.now += 20_000
    const turned = await queue.completeAndTake('w', { completed: [{ id: '1', result: 'late' }], take: 5 })
    expect(turned.finished).toEqual([{ id: '1', outcome: 'completed' }])
    expect(idsOf(turned.taken)).toEqual(['2'])
  })
})

describe('a take whose answer is lost', () => {
  test('does not count as an attempt, however often it happens', async () => {
    const { queue, connection, clock, raw } = fresh()
    await queue.add(['job'])
    for (let round = 0; round < 10 * ATTEMPTS; round += 1) {
      await connection.losing(async () => queue.take(`w${round}`))
      clock.now += 10_000
      expect(await queue.recoverExpired()).toEqual({ returned: ['1'], failed: [] })
    }
    expect(await raw('HGETALL', 'attempts')).toEqual(['1 unheard', String(10 * ATTEMPTS)])
    expect(idsOf(await queue.take('w'))).toEqual(['1'])
    await queue.complete('w', { id: '1', result: 'r' })
    expect(await raw('EXISTS', 'attempts')).toBe(0)
  })

  test('is bounded all the same, and the reason says so', async () => {
    const { queue, connection, clock, raw } = fresh()
    await queue.add(['job'])
    for (let round = 0; round <= 10 * ATTEMPTS; round += 1) {
      await connection.losing(async () => queue.completeAndTake('w', { take: 1 }))
      clock.now += 10_000
      await queue.recoverExpired()
    }
    expect(await raw('HGET', 'errors', 1)).toBe(
      'the lease ran out 21 times, and no worker was heard to have the job',
    )
    expect(await raw('EXISTS', 'attempts', 'in-progress', 'holders', 'deadlines')).toBe(0)
  })

  test('counts beside leases of jobs that a worker had: those fail as declared', async () => {
    const { queue, connection, clock } = fresh()
    await queue.add(['job'])
    for (let round = 0; round <= ATTEMPTS; round += 1) {
      await connection.losing(async () => queue.take('w'))
      clock.now += 10_000
      expect(await queue.take('w')).toHaveLength(1)
      await queue.renew('w', [1])
      clock.now += 10_000
      const { failed } = await queue.recoverExpired()
      expect(failed).toEqual(round === ATTEMPTS ? ['1'] : [])
    }
  })

  test('gives its jobs through `held`, and its results were kept', async () => {
    const { queue, connection, raw } = fresh()
    await queue.add(jobs(3))
    await queue.take('w')
    const turn = { completed: [{ id: '1', result: 'r' }], take: 2 }
    await connection.losing(async () => queue.completeAndTake('w', turn))
    expect(await queue.completeAndTake('w', turn)).toEqual({
      finished: [{ id: '1', outcome: 'already-done' }],
      taken: [],
      unreadable: [],
    })
    expect(idsOf(await queue.held('w'))).toEqual(['2', '3'])
    expect(await raw('HLEN', 'done')).toBe(1)
  })
})

describe('a worker is known to have a job', () => {
  const isKnown = async ({ raw }: ReturnType<typeof fresh>) =>
    Number(await raw('ZSCORE', 'deadlines', 1)) % 2 === 0

  test('soon after its answer came, though it says nothing', async () => {
    const made = fresh({ isTimed: true })
    await made.queue.add(['job'])
    await made.queue.take('w')
    await eventually(async () => expect(await isKnown(made)).toBe(true))
  })

  test('after `held` came, not if its answer was lost', async () => {
    const made = fresh({ isTimed: true })
    const { queue, connection } = made
    await queue.add(['job'])
    await connection.losing(async () => queue.take('w'))
    await connection.losing(async () => queue.held('w'))
    expect(await isKnown(made)).toBe(false)
    await queue.held('w')
    await eventually(async () => expect(await isKnown(made)).toBe(true))
  })

  test('whether its lease would end at an odd or an even instant', async () => {
    for (const odd of [0, 1]) {
      const { queue, clock } = fresh()
      clock.now += odd
      await queue.add(['job'])
      for (let round = 0; round <= ATTEMPTS; round += 1) {
        await queue.take('w')
        if (round === 1) await queue.renew('w', [1])
        clock.now += 9_998
        expect(await queue.recoverExpired()).toEqual({ returned: [], failed: [] })
        clock.now += 3
        expect((await queue.recoverExpired()).failed).toEqual(round === ATTEMPTS ? ['1'] : [])
      }
    }
  })

  test('by one command for many jobs', async () => {
    const { queue, raw } = fresh({ isTimed: true })
    await queue.add(jobs(2_500))
    await queue.take('w', 2_500)
    await server.command('CONFIG', 'RESETSTAT')
    await eventually(async () => {
      const scores = (await raw('ZRANGE', 'deadlines', 0, -1, 'WITHSCORES')) as string[]
      expect(scores.filter((score, index) => index % 2 === 1 && Number(score) % 2 === 1)).toEqual([])
    })
    const stats = String(await server.command('INFO', 'commandstats'))
    // Redis 6.2 proves the permission by calls that fail.
    const [, calls, failed] = /cmdstat_zadd:calls=(\d+),.*failed_calls=(\d+)/.exec(stats)!
    expect(Number(calls) - Number(failed)).toBeLessThanOrEqual(3)
  })
})

describe('repair, after a key was lost', () => {
  test('of the leases: jobs of dead workers return, and running ones go on', async () => {
    const { queue, clock, raw } = fresh()
    await queue.add(jobs(2_300))
    await queue.take('dead', 2_200)
    await queue.take('alive', 100)
    await raw('DEL', 'deadlines')
    clock.now += 60_000
    expect(await queue.recoverExpired()).toEqual({ returned: [], failed: [] })
    expect(await queue.stats()).toMatchObject({ inProgress: 2_300, expired: 0, orphans: 2_300 })
    expect(await queue.repair()).toEqual({ leased: 2_300, dropped: 0, recounted: 0 })
    expect(await queue.repair()).toEqual({ leased: 0, dropped: 0, recounted: 0 })
    clock.now += 5_000
    await queue.renew('alive', jobs(2_300).slice(2_200))
    clock.now += 5_000
    const { returned, failed } = await queue.recoverExpired()
    expect(new Set(returned)).toEqual(new Set(jobs(2_200)))
    expect(failed).toEqual([])
    expect(await queue.stats()).toMatchObject({ waiting: 2_200, inProgress: 100, orphans: 0 })
  })

  test('of the holders: nobody can finish the jobs, and they return when their leases run out', async () => {
    const { queue, clock, raw } = fresh()
    await queue.add(jobs(3))
    await queue.take('w', 3)
    await raw('DEL', 'holders')
    expect((await queue.stats()).orphans).toBe(3)
    expect(await queue.complete('w', { id: '1', result: 'r' })).toEqual([{ id: '1', outcome: 'not-held' }])
    expect(await queue.repair()).toMatchObject({ leased: 0, dropped: 0 })
    clock.now += 10_000
    expect(idsOf(await queue.take('v', 3))).toEqual(['1', '2', '3'])
    expect((await queue.stats()).orphans).toBe(0)
  })

  test('of the jobs: leases, holders and attempts of nothing go', async () => {
    const { queue, clock, raw } = fresh()
    await queue.add(jobs(3))
    await queue.take('w', 3)
    await queue.renew('w', [1, 2, 3])
    clock.now += 10_000
    await queue.take('w', 3)
    await raw('DEL', 'in-progress')
    expect((await queue.stats()).orphans).toBe(3)
    expect(await queue.repair()).toEqual({ leased: 0, dropped: 9, recounted: 0 })
    expect(await raw('EXISTS', 'holders')).toBe(0)
    expect(await raw('EXISTS', 'deadlines')).toBe(0)
    expect(await raw('EXISTS', 'attempts')).toBe(0)
  })

  test('keeps the attempts of jobs that wait', async () => {
    const { queue, clock, raw } = fresh()
    await queue.add(['job'])
    await queue.take('w')
    clock.now += 10_000
    await queue.recoverExpired()
    await queue.repair()
    expect(await raw('HGETALL', 'attempts')).toEqual(['1', '1'])
  })

  test('beside workers: every job is done once, though the leases are lost all the time', async () => {
    const { queue, raw } = fresh()
    await queue.add(jobs(600))
    let isOver = false
    const worker = async (name: string) => {
      for (let completed: { id: string; result: string }[] = []; ;) {
        const { taken } = await queue.completeAndTake(name, { completed, take: 7 })
        if (taken.length === 0) return
        completed = taken.map(({ id }) => ({ id, result: name }))
      }
    }
    const faults = async () => {
      while (!isOver) {
        await raw('DEL', 'deadlines')
        await queue.repair()
      }
    }
    const breaking = faults()
    await Promise.all(['a', 'b', 'c', 'd'].map(worker))
    isOver = true
    await breaking
    expect(await queue.stats()).toMatchObject({ waiting: 0, inProgress: 0, orphans: 0, failed: 0 })
    expect(await raw('EXISTS', 'holders')).toBe(0)
  })
})

test('held reads page by page, and holds the server for no more than a step', async () => {
  const { queue, process, raw } = fresh()
  await queue.add(jobs(5_000))
  await queue.take('other', 4_000)
  await queue.take('w', 1_000)
  await server.command('CONFIG', 'RESETSTAT')
  expect(new Set(idsOf(await process().held('w')))).toEqual(new Set(jobs(5_000).slice(4_000)))
  expect(await raw('HLEN', 'holders')).toBe(5_000)
  const stats = String(await server.command('INFO', 'commandstats'))
  expect(Number(/cmdstat_hscan:calls=(\d+)/.exec(stats)![1])).toBeGreaterThan(3)
})

test('100,000 ids are finished in bounded steps', async () => {
  const { queue } = fresh()
  await queue.add(jobs(2_500))
  const taken = await queue.take('w', 2_500)
  await server.command('CONFIG', 'RESETSTAT')
  const results = Array.from({ length: 100_000 }, (_, index) => ({ id: index + 1, result: 'r' }))
  const { finished } = await queue.completeAndTake('w', { completed: results, take: 1 })
  expect(finished.filter(({ outcome }) => outcome === 'completed')).toHaveLength(taken.length)
  expect(finished).toHaveLength(100_000)
  const stats = String(await server.command('INFO', 'commandstats'))
  const scripts = [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)]
  expect(scripts.reduce((sum, [, calls]) => sum + Number(calls), 0)).toBeGreaterThanOrEqual(100)
})
