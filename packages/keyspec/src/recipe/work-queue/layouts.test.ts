import * as v from 'valibot'
import { expect, test } from 'vitest'
import { connected } from '../../../../../test-support/connected.ts'
import { type NewJob, QueueOfLayout1 } from '../../../../../test-support/layout-1/work-queue.ts'
import { json } from '../../codec/json.ts'
import { text } from '../../codec/text.ts'
import { NO_KEY } from '../../connection/connection.ts'
import { open } from '../../keyspace.ts'
import { unique } from '../../testing/index.ts'
import { workQueue } from './work-queue.ts'

const { redis, connection } = await connected()
const { connection: another } = await connected(redis)

const tally = (state: string) => ({ a: `q:${state}-a`, b: `q:${state}-b` })
const declared = workQueue(
  'q',
  json(v.object({ id: v.number(), kind: v.picklist(['a', 'b']), n: v.number() })),
  {
    lease: '1s',
    attempts: 2,
    keepCompleted: 10_000,
    id: 'id',
    result: text,
    counters: { by: 'kind', waiting: tally('waiting'), done: tally('done'), failed: tally('failed') },
  },
)

type Outcome = 'completed' | 'failed' | 'released'

/** One queue, as programs of both layouts use it, at one clock. */
function bothLayouts() {
  const prefix = `${unique()}:`
  let at = Date.UTC(2026, 0, 1)
  const now = () => at
  const queue = open({ declared }, another, { prefix, now }).declared()
  const older = new QueueOfLayout1(connection, prefix, now)
  const newer = {
    add: queue.add.bind(queue),
    take: queue.take.bind(queue),
    async finish(worker: string, outcome: Outcome, ids: readonly string[]): Promise<readonly string[]> {
      const items = {
        completed: () => queue.complete(worker, ...ids.map((id) => ({ id, result: 'ok' }))),
        failed: () => queue.fail(worker, ids, 'no'),
        released: () => queue.release(worker, ids),
      }
      return (await items[outcome]()).map((each) => each.outcome)
    },
    renew: async (worker: string, ids: readonly string[]) => void (await queue.renew(worker, ids)),
    recoverExpired: async () => (await queue.recoverExpired()).returned.length,
  }
  const read = async (...command: string[]) =>
    connection.send(
      command.map((word) => word.replace('%', prefix)),
      NO_KEY,
    )
  return { queue, older, newer, read, pass: (ms: number) => (at += ms) }
}

const jobs = (count: number, from = 0): NewJob[] =>
  Array.from({ length: count }, (_, at) => ({ kind: at % 2 === 0 ? 'a' : 'b', n: from + at }))

test('workers of layouts 1 and 2 end every job of one queue exactly once, and the counters stay right', async () => {
  const { queue, older, newer, read, pass } = bothLayouts()
  const programs = [older, newer, older, newer]
  const added = await Promise.all(
    programs.flatMap((program, at) => [
      program.add(jobs(60, at * 1000)),
      program.add(jobs(30, at * 1000), { token: `token-${at}` }),
      // Both layouts add these names at once.
      program.add(jobs(30), { unique: ({ n }) => `name-${n}` }),
    ]),
  )
  const total = added.reduce((sum, each) => sum + each.added, 0)
  expect(total).toBe(4 * 90 + 30)

  const ends: string[] = []
  const left = async () => {
    const { waiting, inProgress } = await queue.stats()
    return waiting + inProgress
  }
  const work = async (program: (typeof programs)[0], self: number) => {
    const worker = `worker-${self}`
    for (let turn = 0; turn < 2000 && (await left()) > 0; turn += 1) {
      pass(turn % 5 === 0 ? 300 : 3)
      const taken = (await program.take(worker, 3)).map(({ id }) => id)
      if (turn % 11 === 0) continue // its worker is gone
      if (turn % 3 === 0) await program.renew(worker, taken)
      const outcome = turn % 4 === 0 ? 'released' : turn % 7 === 0 ? 'failed' : 'completed'
      const outcomes = taken.length === 0 ? [] : await program.finish(worker, outcome, taken)
      if (outcome !== 'released') ends.push(...taken.filter((_, at) => outcomes[at] === outcome))
      if (turn % 13 === 0) await program.recoverExpired()
    }
  }
  await Promise.all(programs.map(work))

  expect(await left()).toBe(0)
  const done = (await read('HKEYS', '%q:done')) as string[]
  const failed = (await read('HKEYS', '%q:failed')) as string[]
  expect(new Set([...done, ...failed]).size).toBe(done.length + failed.length)
  expect(done.length + failed.length).toBe(total)
  // Those that no worker ended failed because their leases ran out too often.
  expect(new Set(ends).size).toBe(ends.length)
  expect(done.every((id) => ends.includes(id))).toBe(true)

  expect(await queue.stats()).toMatchObject({ orphans: 0, expired: 0 })
  const count = async (name: string) => Number(await read('GET', `%q:${name}`))
  expect((await count('done-a')) + (await count('done-b'))).toBe(done.length)
  expect((await count('failed-a')) + (await count('failed-b'))).toBe(failed.length)
  expect([await count('waiting-a'), await count('waiting-b')]).toEqual([0, 0])
  for (const part of ['in-progress', 'holders']) expect(await read('HLEN', `%q:${part}`)).toBe(0)
  expect(await read('ZCARD', '%q:deadlines')).toBe(0)

  // A worker of layout 1 leaves the count of unheard leases that layout 2 wrote; a repair removes it.
  await queue.repair()
  expect(await read('HLEN', '%q:attempts')).toBe(0)
})

test.each([['older', 'newer'] as const, ['newer', 'older'] as const])(
  'a name that %s programs added is known to %s ones',
  async (first, second) => {
    const programs = bothLayouts()
    const named = { unique: ({ n }: NewJob) => `name-${n}` }
    expect((await programs[first].add(jobs(4), named)).added).toBe(4)
    expect((await programs[second].add(jobs(6), named)).added).toBe(2)
  },
)

test('a token of layout 1 is known to layout 2; one of layout 2 is not known to layout 1', async () => {
  const { older, newer, read } = bothLayouts()
  await older.add(jobs(2), { token: 'one' })
  expect((await newer.add(jobs(2), { token: 'one' })).added).toBe(0)
  await newer.add(jobs(2), { token: 'two' })
  expect((await older.add(jobs(2), { token: 'two' })).added).toBe(2)
  expect(await read('LLEN', '%q:waiting')).toBe(6)
})

test.each([['older', 'newer'] as const, ['newer', 'older'] as const])(
  'a lease of %s programs that ran out ends in %s ones, and its late worker changes nothing',
  async (first, second) => {
    const programs = bothLayouts()
    await programs[first].add(jobs(1))
    const [job] = await programs[first].take('late', 1)
    programs.pass(1002)
    await programs[second].recoverExpired()
    const [again] = await programs[second].take('other', 1)
    expect(again?.id).toBe(job!.id)
    expect(await programs[first].finish('late', 'completed', [job!.id])).toEqual(['not-held'])
    expect(await programs[second].finish('other', 'completed', [job!.id])).toEqual(['completed'])
  },
)
