import { createClient } from 'redis'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { json } from '../../codec/json.ts'
import { text } from '../../codec/text.ts'
import { fromNodeRedis } from '../../connection/client/node-redis.ts'
import { open } from '../../keyspace.ts'
import type { Script } from '../../script/script.ts'
import { unique } from '../../testing/eventually.ts'
import { startRedis, type TemporaryRedis } from '../../testing/redis.ts'
import type { WorkQueue } from './queue.ts'
import * as scripts from './scripts.ts'
import { workQueue } from './work-queue.ts'

let server: TemporaryRedis
let client: ReturnType<typeof connect>

function connect(as: { username?: string; password?: string } = {}) {
  return createClient({ socket: { path: server.socket, tls: false }, ...as })
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

const Job = v.object({ id: v.number(), kind: v.picklist(['a', 'b']) })
const declared = workQueue('q', json(Job), {
  lease: '10s',
  attempts: 1,
  keepCompleted: 4,
  id: 'id',
  result: text,
  counters: {
    by: 'kind',
    waiting: { a: 'q:waiting-a', b: 'q:waiting-b' },
    done: { a: 'q:done-a', b: 'q:done-b' },
    failed: { a: 'q:failed-a', b: 'q:failed-b' },
    also: { extra: 'q:extra' },
  },
})

type Queue = WorkQueue<v.InferOutput<typeof Job>, { kind: 'a' | 'b' }, string, string>

/** Every verb that writes, each with as much to do as can be. */
const verbs: { readonly [name: string]: (queue: Queue) => Promise<unknown> } = {
  add: (queue) => queue.add([{ kind: 'a' }, { kind: 'b' }]),
  'add with a token': (queue) => queue.add([{ kind: 'a' }], { token: 'new' }),
  'add with names': (queue) => queue.add([{ kind: 'a' }, { kind: 'b' }], { unique: ({ kind }) => kind }),
  take: (queue) => queue.take('w', 2),
  complete: (queue) => queue.complete('w', { id: 3, result: 'r', add: { extra: 2 } }),
  fail: (queue) => queue.fail('w', [3], 'no'),
  release: (queue) => queue.release('w', [3, 4]),
  completeAndTake: (queue) =>
    queue.completeAndTake('w', {
      completed: [{ id: 3, result: 'r', add: { extra: 1 } }],
      failed: [{ id: 4, error: 'no' }],
      released: [5],
      take: 3,
    }),
  renew: (queue) => queue.renew('w', [3, 4]),
  held: (queue) => queue.held('w'),
  recoverExpired: (queue) => queue.recoverExpired(),
  repair: (queue) => queue.repair(),
  recount: (queue) => queue.recount(),
}

/** A queue with jobs in every place, leases that ran out for the first and for the last time, and full results. */
async function prepared(connection = fromNodeRedis(client)) {
  const prefix = `${unique()}:`
  const clock = { now: 1_000_000 }
  const queue: Queue = open({ declared }, fromNodeRedis(client), { prefix, now: () => clock.now }).declared()
  await queue.add(
    Array.from({ length: 20 }, (_, index) => ({ kind: index % 2 === 0 ? ('a' as const) : ('b' as const) })),
    { token: 'first' },
  )
  await queue.take('dead', 2)
  await queue.renew('dead', [1, 2])
  clock.now += 10_000
  await queue.recoverExpired()
  await queue.take('dead', 1)
  await queue.renew('dead', [1])
  clock.now += 2
  const [taken] = await queue.take('dead', 1)
  clock.now += 5_000
  expect(taken!.id).toBe('2')
  await queue.take('w', 8)
  for (const id of [6, 7, 8, 9]) await queue.complete('w', { id, result: 'old', add: { extra: 1 } })
  await queue.fail('w', [10], 'old')
  await queue.renew('w', [3, 4, 5])
  await server.command('HDEL', `${prefix}q:holders`, '5')
  await server.command('HSET', `${prefix}q:holders`, '5', 'w', 'nobody’s', 'w')
  await server.command('ZADD', `${prefix}q:deadlines`, 5, 'nothing')
  clock.now += 5_000
  const other: Queue = open({ declared }, connection, { prefix, now: () => clock.now }).declared()
  return { prefix, queue, other }
}

/** Every key of a queue with its bytes. */
async function dump(prefix: string): Promise<Map<string, string>> {
  const all = new Map<string, string>()
  const [, keys] = (await server.command('SCAN', 0, 'MATCH', `${prefix}*`, 'COUNT', 1_000_000)) as [
    string,
    string[],
  ]
  for (const key of keys.toSorted()) {
    const type = String(await server.command('TYPE', key))
    const contents = {
      string: ['GET', key],
      list: ['LRANGE', key, 0, -1],
      hash: ['HGETALL', key],
      set: ['SMEMBERS', key],
      zset: ['ZRANGE', key, 0, -1, 'WITHSCORES'],
    }[type] as [string, ...(string | number)[]]
    const found = await server.command(...contents)
    const lines = Array.isArray(found) && type !== 'list' ? pairsOf(found as string[]) : [found]
    all.set(key.slice(prefix.length), `${type} ${JSON.stringify(lines)}`)
  }
  return all
}

function pairsOf(flat: readonly string[]): string[] {
  return flat.flatMap((name, at) => (at % 2 === 0 ? [`${name}=${flat[at + 1]}`] : [])).toSorted()
}

const parts = (
  'waiting in-progress holders deadlines attempts done finished failed errors recent last-id ' +
  'waiting-a waiting-b done-a done-b failed-a failed-b extra'
).split(' ')

describe.each(Object.entries(verbs))('%s', (name, run) => {
  test('changes nothing if any one of its keys is of another type', async () => {
    let refused = 0
    for (const part of parts) {
      const { prefix, other: queue } = await prepared()
      const key = `${prefix}q:${part}`
      await server.command('DEL', key)
      await server.command('SADD', key, 'a set')
      const before = await dump(prefix)
      const outcome = await run(queue).then(
        () => 'done',
        (error: { code: string }) => error.code,
      )
      if (outcome === 'done')
        expect((await dump(prefix)).get(`q:${part}`), part).toBe(before.get(`q:${part}`))
      else {
        refused += 1
        expect(outcome, part).toBe('E_WRONG_TYPE')
        // A repair of many steps may have done some of them.
        if (name !== 'repair') expect(await dump(prefix), part).toEqual(before)
      }
    }
    expect(refused).toBeGreaterThan(0)
  }, 60_000)

  test('changes nothing if a counter holds no number, or would leave the range of whole numbers', async () => {
    if (name === 'recount' || name === 'repair') return
    for (const part of parts.filter(
      (each) => each.includes('-a') || each === 'extra' || each === 'last-id',
    )) {
      for (const value of ['many', '01', '9007199254740991']) {
        const { prefix, other: queue } = await prepared()
        await server.command('SET', `${prefix}q:${part}`, value)
        const before = await dump(prefix)
        try {
          await run(queue)
          expect((await dump(prefix)).get(`q:${part}`)).toMatch(new RegExp(`"${value}"|"\\d+"`))
        } catch (error) {
          expect((error as Error).message).toContain(`${prefix}q:${part}`)
          expect(await dump(prefix), `${part} ${value}`).toEqual(before)
        }
      }
    }
  }, 60_000)
})

describe('a user without one of the commands', () => {
  // They clear what stands for no job any more, when all else has been done.
  const MAY_BE_LAST = new Set(['zrem', 'zremrangebyrank'])
  const script = (each: { readonly name: string }) => each as unknown as Script<string, {}, unknown>
  const own: { readonly [verb: string]: readonly { readonly name: string }[] } = {
    renew: [scripts.renew],
    held: [scripts.held],
    repair: [scripts.repair, scripts.recount],
    recount: [scripts.recount],
  }
  const commandsFor = (verb: string) => {
    const run = own[verb] ?? [verb.startsWith('add') ? scripts.add : scripts.turn]
    return [...new Set(run.flatMap((each) => commandsOf(script(each))))]
  }

  test.each(Object.entries(verbs))(
    '%s: no job is lost or doubled, and counters tell the truth',
    async (verb, run) => {
      for (const command of commandsFor(verb)) {
        const user = unique()
        await server.command('ACL', 'SETUSER', user, 'on', '>pass', '~*', '&*', '+@all', `-${command}`)
        const limited = connect({ username: user, password: 'pass' })
        await limited.connect()
        const { prefix, queue, other } = await prepared(fromNodeRedis(limited))
        const before = await places(prefix)
        const outcome = await run(other).then(
          () => 'done',
          () => 'refused',
        )
        limited.destroy()
        await server.command('ACL', 'DELUSER', user)
        const after = await places(prefix, command)
        if (outcome === 'refused' && !MAY_BE_LAST.has(command)) expect(after, command).toEqual(before)
        expect(after.counters, command).toEqual(after.truth)
        // With all rights, everything goes on.
        await run(queue)
        const last = await places(prefix, `${command}, then all`)
        expect(last.counters, command).toEqual(last.truth)
        await queue.repair()
        expect(await queue.stats()).toMatchObject({ orphans: 0 })
      }
    },
    120_000,
  )

  /** Where each job is, and the counters, as they are and as they should be. */
  async function places(prefix: string, command = '') {
    const raw = (command: string, part: string, ...more: (string | number)[]) =>
      server.command(command, `${prefix}q:${part}`, ...more)
    const waiting = (await raw('LRANGE', 'waiting', 0, -1)) as string[]
    const running = (await raw('HKEYS', 'in-progress')) as string[]
    const failed = (await raw('HKEYS', 'failed')) as string[]
    const counter = async (part: string) => Number((await raw('GET', part)) ?? 0)
    const count = (kind: string) => waiting.filter((job) => job.includes(`"kind":"${kind}"`)).length
    const all = [
      ...waiting.map((job) => String((JSON.parse(job) as { id: number }).id)),
      ...running,
      ...failed,
    ]
    expect(new Set(all).size, command).toBe(all.length)
    const last = await counter('last-id')
    const done = (await counter('done-a')) + (await counter('done-b'))
    return {
      waiting,
      running: running.toSorted(),
      failed: failed.toSorted(),
      attempts: await raw('HGETALL', 'attempts'),
      recent: await raw('ZRANGE', 'recent', 0, -1),
      counters: {
        a: await counter('waiting-a'),
        b: await counter('waiting-b'),
        failed: (await counter('failed-a')) + (await counter('failed-b')),
        all: last,
      },
      truth: { a: count('a'), b: count('b'), failed: failed.length, all: all.length + done },
    }
  }
})

/** The commands that a script names, as its source has them. */
function commandsOf({ source }: Script<string, {}, unknown>): string[] {
  return [...source.matchAll(/(?:call|batch|prove)\('([A-Z]+)'/g)].map(([, command]) =>
    command!.toLowerCase(),
  )
}
