import fc from 'fast-check'
import { createClient } from 'redis'
import * as v from 'valibot'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { json } from '../../codec/json.ts'
import { text } from '../../codec/text.ts'
import { fromNodeRedis } from '../../connection/node-redis.ts'
import { open } from '../../keyspace.ts'
import { unique } from '../../testing/eventually.ts'
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

const LEASE_MS = 1000
const ATTEMPTS = 2
const KEEP = 5
const KINDS = ['a', 'b'] as const
const tally = (state: string) => ({ a: `q:${state}-a`, b: `q:${state}-b` })

const declared = workQueue('q', json(v.object({ id: v.number(), kind: v.picklist(KINDS), n: v.number() })), {
  lease: '1s',
  attempts: ATTEMPTS,
  keepDone: KEEP,
  id: 'id',
  result: text,
  tallies: {
    by: 'kind',
    waiting: tally('waiting'),
    done: tally('done'),
    failed: tally('failed'),
    also: { extra: 'q:extra' },
  },
})

type Queue = ReturnType<typeof queueAt>
const queueAt = (prefix: string, now: () => number) =>
  open({ declared }, fromNodeRedis(client), { prefix, now }).declared()

/** The same queue as it should be, in plain arrays. */
class Model {
  now = 0
  lastId = 0
  extra = 0
  waiting: string[] = []
  readonly running = new Map<string, { worker: string; deadline: number }>()
  readonly done = new Map<string, string>()
  readonly failed = new Set<string>()
  readonly kinds = new Map<string, 'a' | 'b'>()
  readonly expiries = new Map<string, number>()
  readonly tokens = new Map<string, string[]>()

  take(worker: string, count: number): string[] {
    const ids = this.waiting.splice(0, count)
    for (const id of ids) this.running.set(id, { worker, deadline: this.now + LEASE_MS })
    return ids
  }

  finish(worker: string, id: string, outcome: 'completed' | 'failed' | 'released'): string {
    if (this.running.get(id)?.worker !== worker) return this.done.has(id) ? 'done or trimmed' : 'not-held'
    this.running.delete(id)
    if (outcome === 'completed') this.done.set(id, worker)
    if (outcome === 'failed') this.failed.add(id)
    if (outcome !== 'released') this.expiries.delete(id)
    return outcome
  }

  recover(): { returned: string[]; failed: string[] } {
    const expired = [...this.running].filter(([, { deadline }]) => deadline <= this.now)
    // Redis orders by deadline, then by the bytes of the id.
    expired.sort(([a, { deadline: x }], [b, { deadline: y }]) => x - y || (a < b ? -1 : 1))
    const returned: string[] = []
    const failed: string[] = []
    for (const [id] of expired) {
      this.running.delete(id)
      const times = (this.expiries.get(id) ?? 0) + 1
      if (times > ATTEMPTS) {
        this.failed.add(id)
        this.expiries.delete(id)
        failed.push(id)
      } else {
        this.expiries.set(id, times)
        returned.push(id)
      }
    }
    this.waiting.unshift(...returned)
    return { returned, failed }
  }
}

interface Real {
  readonly queue: Queue
  readonly prefix: string
}

type Step = (model: Model, real: Real) => Promise<void>

const worker = fc.constantFrom('w1', 'w2', 'w3')
const pick = fc.nat({ max: 30 })

/** One of the ids that were ever given, or one that never was. */
const idOf = (model: Model, at: number) => String(1 + (at % (model.lastId + 1)))

const steps: fc.Arbitrary<{ readonly say: string; readonly run: Step }> = fc.oneof(
  fc
    .tuple(fc.array(fc.constantFrom(...KINDS), { maxLength: 6 }), fc.option(fc.constantFrom('t1', 't2')))
    .map(([kinds, token]) => ({
      say: `add ${kinds.join('')} ${token ?? ''}`,
      async run(model: Model, { queue }: Real) {
        const jobs = kinds.map((kind, n) => ({ kind, n }))
        const key = token === null ? undefined : `${token}/${kinds.length}`
        const answer = await queue.add(jobs, key === undefined ? {} : { token: key })
        const before = key === undefined ? undefined : model.tokens.get(key)
        if (before !== undefined && kinds.length > 0) {
          expect(answer).toEqual({ ids: before, added: 0 })
          return
        }
        const ids = kinds.map((kind) => {
          model.lastId += 1
          model.kinds.set(String(model.lastId), kind)
          return String(model.lastId)
        })
        model.waiting.push(...ids)
        if (key !== undefined) model.tokens.set(key, ids)
        expect(answer).toEqual({ ids, added: ids.length })
      },
    })),
  fc.tuple(worker, fc.integer({ min: 0, max: 4 })).map(([by, count]) => ({
    say: `${by} takes ${count}`,
    async run(model: Model, { queue }: Real) {
      const taken = (await queue.take(by, count)).map(({ id }) => id)
      let expected = model.take(by, count)
      if (expected.length === 0 && count > 0 && model.recover().returned.length > 0)
        expected = model.take(by, count)
      expect(taken).toEqual(expected)
    },
  })),
  fc
    .record({
      by: worker,
      completed: fc.array(pick, { maxLength: 3 }),
      failed: fc.array(pick, { maxLength: 1 }),
      released: fc.array(pick, { maxLength: 2 }),
      count: fc.nat({ max: 3 }),
    })
    .map(({ by, completed, failed, released, count }) => ({
      say: `${by} completes ${completed} fails ${failed} releases ${released} takes ${count}`,
      async run(model: Model, { queue }: Real) {
        const ids = (places: readonly number[]) => places.map((at) => idOf(model, at))
        const turn = { completed: ids(completed), failed: ids(failed), released: ids(released) }
        const answer = await queue.finishAndTake(by, {
          completed: turn.completed.map((id) => ({ id, result: `by ${by}`, add: { extra: 2 } })),
          failed: turn.failed.map((id) => ({ id, error: 'no' })),
          released: turn.released,
          take: count,
        })
        const expected = [
          ...turn.completed.map((id) => model.finish(by, id, 'completed')),
          ...turn.failed.map((id) => model.finish(by, id, 'failed')),
        ]
        // What is released waits again only behind what the same turn took.
        const given = turn.released.map((id) => ({ id, outcome: model.finish(by, id, 'released') }))
        expected.push(...given.map(({ outcome }) => outcome))
        model.extra += 2 * expected.slice(0, completed.length).filter((each) => each === 'completed').length
        const taken = model.take(by, count)
        model.waiting.unshift(...given.filter(({ outcome }) => outcome === 'released').map(({ id }) => id))
        expect(answer.taken.map(({ id }) => id)).toEqual(taken)
        for (const [index, { outcome }] of answer.finished.entries()) {
          if (expected[index] === 'done or trimmed') expect(['already-done', 'not-held']).toContain(outcome)
          else expect(outcome).toBe(expected[index])
        }
      },
    })),
  fc.tuple(worker, pick).map(([by, at]) => ({
    say: `${by} renews ${at}`,
    async run(model: Model, { queue }: Real) {
      const id = idOf(model, at)
      const lease = model.running.get(id)
      const mine = lease?.worker === by
      expect(await queue.renew(by, [id])).toEqual([mine])
      if (mine) lease.deadline = model.now + LEASE_MS
    },
  })),
  fc.constant({
    say: 'recover',
    async run(model: Model, { queue }: Real) {
      expect(await queue.recoverExpired()).toEqual(model.recover())
    },
  }),
  fc.integer({ min: 1, max: 1500 }).map((ms) => ({
    say: `${ms} ms pass`,
    async run(model: Model) {
      model.now += ms
    },
  })),
  fc.constant({
    say: 'SCRIPT FLUSH',
    async run() {
      await server.command('SCRIPT', 'FLUSH')
    },
  }),
)

/** What holds of the raw keys after every step. */
async function check(model: Model, { prefix, queue }: Real): Promise<void> {
  const raw = (command: string, part: string, ...more: (string | number)[]) =>
    server.command(command, `${prefix}q:${part}`, ...more)
  const waiting = ((await raw('LRANGE', 'waiting', 0, -1)) as string[]).map((job) =>
    String(JSON.parse(job).id),
  )
  const [running, holders, deadlines, failed, errors, done, finished] = (await Promise.all([
    raw('HKEYS', 'in-progress'),
    raw('HGETALL', 'holders'),
    raw('ZRANGE', 'deadlines', 0, -1, 'WITHSCORES'),
    raw('HKEYS', 'failed'),
    raw('HKEYS', 'errors'),
    raw('HKEYS', 'done'),
    raw('ZRANGE', 'finished', 0, -1),
  ])) as [string[], string[], string[], string[], string[], string[], string[]]
  expect(waiting).toEqual(model.waiting)
  expect(running.toSorted()).toEqual([...model.running.keys()].toSorted())
  expect(pairs(holders)).toEqual(new Map([...model.running].map(([id, lease]) => [id, lease.worker])))
  expect(pairs(deadlines)).toEqual(
    new Map([...model.running].map(([id, lease]) => [id, String(lease.deadline)])),
  )
  expect(failed.toSorted()).toEqual([...model.failed].toSorted())
  expect(errors.toSorted()).toEqual(failed.toSorted())
  expect(done).toHaveLength(Math.min(KEEP, model.done.size))
  expect(done.every((id) => model.done.has(id))).toBe(true)
  expect(done.toSorted()).toEqual(finished.toSorted())
  expect(waiting.length + running.length + failed.length + model.done.size).toBe(model.lastId)

  const count = (ids: Iterable<string>, kind: string) =>
    [...ids].filter((id) => model.kinds.get(id) === kind).length
  const stats = await queue.stats()
  for (const kind of KINDS) {
    expect(stats.tallies[`waiting:${kind}`]).toBe(count(model.waiting, kind))
    expect(stats.tallies[`done:${kind}`]).toBe(count(model.done.keys(), kind))
    expect(stats.tallies[`failed:${kind}`]).toBe(count(model.failed, kind))
  }
  expect(stats.tallies['also:extra']).toBe(model.extra)
}

function pairs(flat: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  for (let at = 0; at < flat.length; at += 2) found.set(flat[at]!, flat[at + 1]!)
  return found
}

test('after any verbs in any order each job is in exactly one place, and every counter tells the truth', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 40 }), async (walk) => {
      const model = new Model()
      const prefix = `${unique()}:`
      const real = { prefix, queue: queueAt(prefix, () => model.now) }
      for (const { run } of walk) {
        await run(model, real)
        await check(model, real)
      }
    }),
    { numRuns: 40 },
  )
}, 120_000)
