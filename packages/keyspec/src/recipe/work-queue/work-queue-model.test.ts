import fc from 'fast-check'
import { createClient } from 'redis'
import * as v from 'valibot'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { json } from '../../codec/json.ts'
import { text } from '../../codec/text.ts'
import type { Connection } from '../../connection/connection.ts'
import { fromNodeRedis } from '../../connection/client/node-redis.ts'
import { UnknownOutcomeError } from '../../errors.ts'
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
  keepCompleted: KEEP,
  id: 'id',
  result: text,
  counters: {
    by: 'kind',
    waiting: tally('waiting'),
    done: tally('done'),
    failed: tally('failed'),
    also: { extra: 'q:extra' },
  },
})

type Queue = ReturnType<typeof queueAt>
const queueAt = (prefix: string, now: () => number, connection: Connection) =>
  open({ declared }, connection, { prefix, now }).declared()

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
}

/** A job in progress. Its deadline is odd until its worker is known to have it; a lost key leaves no holder or no deadline. */
interface Lease {
  worker: string | undefined
  deadline: number | undefined
}

/** The same queue as it should be, in plain arrays. */
class Model {
  now = 0
  lastId = 0
  extra = 0
  waiting: string[] = []
  readonly running = new Map<string, Lease>()
  readonly done = new Map<string, string>()
  readonly failed = new Set<string>()
  readonly kinds = new Map<string, 'a' | 'b'>()
  /** How often a lease ran out, by id, or `<id> unheard`. */
  readonly expiries = new Map<string, number>()
  readonly tokens = new Map<string, string[]>()
  /** What arrived and the server does not know of: `<worker> <id>`. */
  readonly arrived = new Set<string>()

  lease(isHeard: boolean): number {
    const end = this.now + LEASE_MS
    if (isHeard) return end - (end % 2)
    return end % 2 === 1 ? end : end - 1
  }

  finish(worker: string, id: string, outcome: 'completed' | 'failed' | 'released'): string {
    this.arrived.delete(`${worker} ${id}`)
    if (this.running.get(id)?.worker !== worker) return this.done.has(id) ? 'done or trimmed' : 'not-held'
    this.running.delete(id)
    if (outcome === 'completed') this.done.set(id, worker)
    if (outcome === 'failed') this.failed.add(id)
    if (outcome !== 'released') this.forget(id)
    return outcome
  }

  forget(id: string): void {
    this.expiries.delete(id)
    this.expiries.delete(`${id} unheard`)
  }

  /** Ends leases, then gives jobs: those that returned first. What was released stands before what else returned. */
  turn(worker: string, count: number, released: readonly string[]): string[] {
    const { returned } = this.expire()
    const taken = returned.splice(0, count)
    taken.push(...this.waiting.splice(0, count - taken.length))
    for (const id of taken) this.running.set(id, { worker, deadline: this.lease(false) })
    this.waiting.unshift(...released, ...returned)
    return taken
  }

  expire(): { returned: string[]; failed: string[] } {
    const expired = [...this.running].filter(([, { deadline }]) => (deadline ?? Infinity) <= this.now)
    // Redis orders by deadline, then by the bytes of the id.
    expired.sort(([a, { deadline: x }], [b, { deadline: y }]) => x! - y! || (a < b ? -1 : 1))
    const returned: string[] = []
    const failed: string[] = []
    for (const [id, { deadline }] of expired) {
      this.running.delete(id)
      const isHeard = deadline! % 2 === 0
      const field = isHeard ? id : `${id} unheard`
      const times = (this.expiries.get(field) ?? 0) + 1
      if (times > (isHeard ? ATTEMPTS : 10 * ATTEMPTS)) {
        this.failed.add(id)
        this.forget(id)
        failed.push(id)
      } else {
        this.expiries.set(field, times)
        returned.push(id)
      }
    }
    return { returned, failed }
  }

  recover(): { returned: string[]; failed: string[] } {
    for (const pair of this.arrived) {
      const [worker, id] = pair.split(' ') as [string, string]
      const lease = this.running.get(id)
      if (lease?.worker === worker && lease.deadline !== undefined) lease.deadline += lease.deadline % 2
    }
    this.arrived.clear()
    const { returned, failed } = this.expire()
    this.waiting.unshift(...returned)
    return { returned, failed }
  }
}

interface Real {
  readonly queue: Queue
  readonly prefix: string
  readonly connection: Lossy
}

/** Runs a verb that gives jobs to a worker; if its answer is lost, they do not arrive. */
async function given<A>(
  { connection }: Real,
  isLost: boolean,
  act: () => Promise<A>,
): Promise<A | undefined> {
  connection.isLosing = isLost
  try {
    return await act()
  } catch (error) {
    if (!isLost || !(error instanceof UnknownOutcomeError)) throw error
    return undefined
  } finally {
    connection.isLosing = false
  }
}

type Step = (model: Model, real: Real) => Promise<void>

const worker = fc.constantFrom('w1', 'w2', 'w3')
const pick = fc.nat({ max: 30 })
const lost = fc.nat({ max: 4 }).map((at) => at === 0)

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
  fc.tuple(worker, fc.integer({ min: 0, max: 4 }), lost).map(([by, count, isLost]) => ({
    say: `${by} takes ${count}${isLost ? ', answer lost' : ''}`,
    async run(model: Model, real: Real) {
      const taken = await given(real, isLost, async () => real.queue.take(by, count))
      const expected = model.turn(by, count, [])
      if (taken === undefined) return
      expect(taken.map(({ id }) => id)).toEqual(expected)
      for (const id of expected) model.arrived.add(`${by} ${id}`)
    },
  })),
  fc
    .record({
      by: worker,
      completed: fc.array(pick, { maxLength: 3 }),
      failed: fc.array(pick, { maxLength: 1 }),
      released: fc.array(pick, { maxLength: 2 }),
      count: fc.nat({ max: 3 }),
      isLost: lost,
    })
    .map(({ by, completed, failed, released, count, isLost }) => ({
      say: `${by} completes ${completed} fails ${failed} releases ${released} takes ${count}${isLost ? ', answer lost' : ''}`,
      async run(model: Model, real: Real) {
        const ids = (places: readonly number[]) => places.map((at) => idOf(model, at))
        const turn = { completed: ids(completed), failed: ids(failed), released: ids(released) }
        if (completed.length + failed.length + released.length + count === 0) return
        const answer = await given(real, isLost, () =>
          real.queue.completeAndTake(by, {
            completed: turn.completed.map((id) => ({ id, result: `by ${by}`, add: { extra: 2 } })),
            failed: turn.failed.map((id) => ({ id, error: 'no' })),
            released: turn.released,
            take: count,
          }),
        )
        const expected = [
          ...turn.completed.map((id) => model.finish(by, id, 'completed')),
          ...turn.failed.map((id) => model.finish(by, id, 'failed')),
        ]
        // What is released waits again only behind what the same turn took.
        const ends = turn.released.map((id) => ({ id, outcome: model.finish(by, id, 'released') }))
        expected.push(...ends.map(({ outcome }) => outcome))
        model.extra += 2 * expected.slice(0, completed.length).filter((each) => each === 'completed').length
        const back = ends.filter(({ outcome }) => outcome === 'released').map(({ id }) => id)
        const taken = model.turn(by, count, back)
        if (answer === undefined) return
        expect(answer.taken.map(({ id }) => id)).toEqual(taken)
        for (const id of taken) model.arrived.add(`${by} ${id}`)
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
      if (mine) lease.deadline = model.lease(true)
      model.arrived.delete(`${by} ${id}`)
    },
  })),
  fc.tuple(worker, lost).map(([by, isLost]) => ({
    say: `${by} asks what it holds${isLost ? ', answer lost' : ''}`,
    async run(model: Model, real: Real) {
      const held = await given(real, isLost, () => real.queue.held(by))
      const leases = [...model.running].filter(([, lease]) => lease.worker === by)
      leases.sort(([a, { deadline: x = 0 }], [b, { deadline: y = 0 }]) => x - y || (a < b ? -1 : 1))
      for (const [id, lease] of leases) {
        lease.deadline = model.lease(lease.deadline !== undefined && lease.deadline % 2 === 0)
        if (held !== undefined) model.arrived.add(`${by} ${id}`)
      }
      if (held !== undefined) expect(held.map(({ id }) => id)).toEqual(leases.map(([id]) => id))
    },
  })),
  fc.constant({
    say: 'the leases are lost',
    async run(model: Model, { prefix }: Real) {
      await server.command('DEL', `${prefix}q:deadlines`)
      for (const lease of model.running.values()) lease.deadline = undefined
    },
  }),
  fc.constant({
    say: 'the holders are lost',
    async run(model: Model, { prefix }: Real) {
      await server.command('DEL', `${prefix}q:holders`)
      for (const lease of model.running.values()) lease.worker = undefined
    },
  }),
  fc.constant({
    say: 'repair',
    async run(model: Model, { queue }: Real) {
      const without = [...model.running.values()].filter(({ deadline }) => deadline === undefined)
      for (const lease of without) lease.deadline = model.lease(false)
      expect(await queue.repair()).toEqual({ leased: without.length, dropped: 0, recounted: 0 })
    },
  }),
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
  const leases = [...model.running]
  const heldBy = leases.filter(([, { worker: by }]) => by !== undefined)
  const leased = leases.filter(([, { deadline }]) => deadline !== undefined)
  expect(pairs(holders)).toEqual(new Map(heldBy.map(([id, lease]) => [id, lease.worker])))
  expect(pairs(deadlines)).toEqual(new Map(leased.map(([id, lease]) => [id, String(lease.deadline)])))
  const attempts = pairs((await raw('HGETALL', 'attempts')) as string[])
  expect(attempts).toEqual(new Map([...model.expiries].map(([field, times]) => [field, String(times)])))
  expect(failed.toSorted()).toEqual([...model.failed].toSorted())
  expect(errors.toSorted()).toEqual(failed.toSorted())
  expect(done).toHaveLength(Math.min(KEEP, model.done.size))
  expect(done.every((id) => model.done.has(id))).toBe(true)
  expect(done.toSorted()).toEqual(finished.toSorted())
  expect(waiting.length + running.length + failed.length + model.done.size).toBe(model.lastId)

  const count = (ids: Iterable<string>, kind: string) =>
    [...ids].filter((id) => model.kinds.get(id) === kind).length
  const stats = await queue.stats()
  expect(stats.orphans).toBe(leases.length - Math.min(heldBy.length, leased.length))
  for (const kind of KINDS) {
    expect(stats.counters[`waiting:${kind}`]).toBe(count(model.waiting, kind))
    expect(stats.counters[`done:${kind}`]).toBe(count(model.done.keys(), kind))
    expect(stats.counters[`failed:${kind}`]).toBe(count(model.failed, kind))
  }
  expect(stats.counters['also:extra']).toBe(model.extra)
}

function pairs(flat: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  for (let at = 0; at < flat.length; at += 2) found.set(flat[at]!, flat[at + 1]!)
  return found
}

test('after any verbs in any order each job is in exactly one place, and every counter tells the truth', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 50 }), async (walk) => {
      const model = new Model()
      const prefix = `${unique()}:`
      const connection = new Lossy()
      const real = { prefix, connection, queue: queueAt(prefix, () => model.now, connection) }
      for (const { run } of walk) {
        await run(model, real)
        await check(model, real)
      }
    }),
    { numRuns: 60 },
  )
}, 120_000)
