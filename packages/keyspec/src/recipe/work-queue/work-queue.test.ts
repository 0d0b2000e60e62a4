import { createClient } from 'redis'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { json } from '../../codec/json.ts'
import { text } from '../../codec/text.ts'
import { fromNodeRedis } from '../../connection/client/node-redis.ts'
import { DecodeError, EncodeError, SchemaError } from '../../errors.ts'
import { open, type OpenOptions } from '../../keyspace.ts'
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

const Page = v.object({ id: v.number(), url: v.string(), kind: v.picklist(['docket', 'comment']) })

const crawl = workQueue('queue:{<name>}', json(Page), {
  lease: '10s',
  attempts: 2,
  keepCompleted: 3,
  id: 'id',
  result: text,
  counters: {
    by: 'kind',
    waiting: { docket: 'queue:{<name>}:waiting-dockets', comment: 'queue:{<name>}:waiting-comments' },
    done: { docket: 'queue:{<name>}:dockets-done', comment: 'queue:{<name>}:comments-done' },
    failed: { docket: 'queue:{<name>}:dockets-failed' },
    also: { bytes: 'queue:{<name>}:bytes' },
  },
})

const docket = (url: string) => ({ url, kind: 'docket' as const })
const comment = (url: string) => ({ url, kind: 'comment' as const })

function fresh(options: OpenOptions = {}) {
  const prefix = `${unique()}:`
  const queue = open({ crawl }, fromNodeRedis(client), { prefix, ...options }).crawl({ name: 'a' })
  const key = (part: string) => `${prefix}queue:{a}:${part}`
  const raw = (...command: [string, ...(string | number)[]]) => server.command(...command)
  const keys = async () => {
    const [, found] = (await raw('SCAN', 0, 'MATCH', `${prefix}*`, 'COUNT', 10_000)) as [string, string[]]
    return found.map((name) => name.slice(prefix.length)).toSorted()
  }
  return { queue, key, raw, keys, prefix }
}

test('a job goes from the list into the hashes and out of them, as the declared keys have it', async () => {
  const { queue, key, raw, keys } = fresh({ now: () => 1_000 })
  expect(await queue.add([docket('a'), comment('b')])).toEqual({ ids: ['1', '2'], added: 2 })
  expect(await raw('LRANGE', key('waiting'), 0, -1)).toEqual([
    '{"id":1,"url":"a","kind":"docket"}',
    '{"id":2,"url":"b","kind":"comment"}',
  ])
  expect(await raw('GET', key('last-id'))).toBe('2')
  expect(await raw('MGET', key('waiting-dockets'), key('waiting-comments'))).toEqual(['1', '1'])

  expect(await queue.take('w')).toEqual([{ id: '1', job: { id: 1, url: 'a', kind: 'docket' } }])
  expect(await raw('HGETALL', key('in-progress'))).toEqual(['1', '{"id":1,"url":"a","kind":"docket"}'])
  expect(await raw('HGETALL', key('holders'))).toEqual(['1', 'w'])
  // Odd until the worker is known to have the job, then even.
  expect(await raw('ZSCORE', key('deadlines'), 1)).toBe('10999')
  expect(await queue.renew('w', [1])).toEqual([true])
  expect(await raw('ZRANGE', key('deadlines'), 0, -1, 'WITHSCORES')).toEqual(['1', '11000'])
  expect(await raw('GET', key('waiting-dockets'))).toBe('0')

  expect(await queue.complete('w', { id: 1, result: 'fine', add: { bytes: 42 } })).toEqual([
    { id: '1', outcome: 'completed' },
  ])
  expect(await raw('HGETALL', key('done'))).toEqual(['1', 'fine'])
  expect(await raw('ZRANGE', key('finished'), 0, -1, 'WITHSCORES')).toEqual(['1', '1000'])
  expect(await raw('MGET', key('dockets-done'), key('comments-done'), key('bytes'))).toEqual([
    '1',
    null,
    '42',
  ])
  expect(await queue.result(1)).toBe('fine')
  expect(await keys()).toEqual(
    ['waiting', 'done', 'finished', 'last-id', 'waiting-dockets', 'waiting-comments', 'dockets-done', 'bytes']
      .map((part) => `queue:{a}:${part}`)
      .toSorted(),
  )
})

test('without a field for the id it stands before the job, whatever the codec writes', async () => {
  const prefix = `${unique()}:`
  const notes = workQueue('notes', text, { lease: '10s' })
  const queue = open({ notes }, fromNodeRedis(client), { prefix }).notes()
  await queue.add(['one\ntwo', ''])
  expect(await server.command('LRANGE', `${prefix}notes:waiting`, 0, -1)).toEqual(['1 one\ntwo', '2 '])
  expect(await queue.take('w', 5)).toEqual([
    { id: '1', job: 'one\ntwo' },
    { id: '2', job: '' },
  ])
  await queue.complete('w', { id: 1, result: { any: 'thing' } })
  expect(await queue.stats()).toMatchObject({ waiting: 0, inProgress: 1, done: 0, failed: 0 })
  expect(await server.command('EXISTS', `${prefix}notes:done`, `${prefix}notes:finished`)).toBe(0)
})

test('jobs that name their own id keep it, of any size', async () => {
  const prefix = `${unique()}:`
  const own = workQueue('own', json(v.looseObject({ id: v.union([v.string(), v.number()]) })), {
    lease: '10s',
    id: 'id',
    ids: 'given',
  })
  const queue = open({ own }, fromNodeRedis(client), { prefix }).own()
  expect(await queue.add([{ id: 'x-1' }, { id: '9007199254740993' }, { id: 7 }])).toEqual({
    ids: ['x-1', '9007199254740993', '7'],
    added: 3,
  })
  await server.command('RPUSH', `${prefix}own:waiting`, '{"id": 9007199254740995, "by": "python"}')
  const taken = await queue.take('w', 9)
  expect(taken.map(({ id }) => id)).toEqual(['x-1', '9007199254740993', '7', '9007199254740995'])
  await expect(queue.add([{ id: 'a b' }])).rejects.toThrow(EncodeError)
})

test('jobs are taken first in, first out, and what is given back is the next one again', async () => {
  const { queue } = fresh()
  await queue.add(Array.from({ length: 9 }, (_, index) => docket(`${index}`)))
  const urls = async (count: number) => (await queue.take('w', count)).map(({ job }) => job.url)
  expect(await urls(3)).toEqual(['0', '1', '2'])
  expect(await queue.release('w', [1, 3])).toEqual([
    { id: '1', outcome: 'released' },
    { id: '3', outcome: 'released' },
  ])
  expect(await urls(4)).toEqual(['0', '2', '3', '4'])
  expect((await queue.peek(2)).map(({ url }) => url)).toEqual(['5', '6'])
  expect(await urls(100)).toEqual(['5', '6', '7', '8'])
  expect(await urls(1)).toEqual([])
})

test('one call finishes jobs in every way and takes the next', async () => {
  const { queue, raw, key } = fresh()
  await queue.add([docket('a'), docket('b'), comment('c'), docket('d'), docket('e')])
  await queue.take('w', 3)
  const turned = await queue.completeAndTake('w', {
    completed: [{ id: 1, result: 'ok' }],
    failed: [{ id: 2, error: new Error('gone') }],
    released: [3],
    take: 1,
  })
  expect(turned.finished.map(({ outcome }) => outcome)).toEqual(['completed', 'failed', 'released'])
  expect(turned.taken.map(({ id }) => id)).toEqual(['4'])
  expect((await queue.peek()).map(({ id }) => id)).toEqual([3, 5])
  expect(await raw('HGETALL', key('failed'))).toEqual(['2', '{"id":2,"url":"b","kind":"docket"}'])
  expect(await raw('HGETALL', key('errors'))).toEqual(['2', 'gone'])
  expect(await queue.stats()).toEqual({
    waiting: 2,
    inProgress: 1,
    done: 1,
    failed: 1,
    expired: 0,
    orphans: 0,
    counters: {
      'waiting:docket': 1,
      'waiting:comment': 1,
      'done:docket': 1,
      'done:comment': 0,
      'failed:docket': 1,
      'also:bytes': 0,
    },
  })
  const failures = []
  for await (const failure of queue.failures()) failures.push(failure)
  expect(failures).toEqual([{ id: '2', kept: '{"id":2,"url":"b","kind":"docket"}', error: 'gone' }])
})

describe('only the holder', () => {
  test('finishes a job, and only once', async () => {
    const { queue, raw, key } = fresh()
    await queue.add([docket('a'), docket('b')])
    await queue.take('w', 2)
    expect(await queue.complete('other', { id: 1, result: 'x' })).toEqual([{ id: '1', outcome: 'not-held' }])
    expect(await queue.complete('w', { id: 99, result: 'x' })).toEqual([{ id: '99', outcome: 'not-held' }])
    expect(await queue.complete('w', { id: 1, result: 'x' }, { id: 1, result: 'y' })).toEqual([
      { id: '1', outcome: 'completed' },
      { id: '1', outcome: 'already-done' },
    ])
    expect(await queue.complete('w', { id: 1, result: 'z' })).toEqual([{ id: '1', outcome: 'already-done' }])
    expect(await queue.fail('w', [1], 'no')).toEqual([{ id: '1', outcome: 'already-done' }])
    expect(await raw('HGETALL', key('done'))).toEqual(['1', 'x'])
    expect(await raw('GET', key('dockets-done'))).toBe('1')
    expect(await raw('HLEN', key('failed'))).toBe(0)
    expect(await queue.running(2)).toMatchObject({ id: '2', worker: 'w', job: { url: 'b' } })
    expect(await queue.running(1)).toBeUndefined()
  })

  test('renews its lease', async () => {
    let now = 0
    const { queue, raw, key } = fresh({ now: () => now })
    await queue.add([docket('a')])
    await queue.take('w')
    now = 6_000
    expect(await queue.renew('w', [1, 2])).toEqual([true, false])
    expect(await queue.renew('other', [1])).toEqual([false])
    expect(await raw('ZSCORE', key('deadlines'), 1)).toBe('16000')
    now = 15_999
    expect(await queue.recoverExpired()).toEqual({ returned: [], failed: [] })
  })
})

describe('a lease that runs out', () => {
  test('returns the job at most `attempts` times, then the job has failed', async () => {
    let now = 0
    const { queue, raw, key } = fresh({ now: () => now })
    await queue.add([docket('a'), docket('b')])
    for (const round of [1, 2]) {
      expect((await queue.take('w')).map(({ id }) => id)).toEqual(['1'])
      now += 10_000
      expect(await queue.recoverExpired()).toEqual({ returned: ['1'], failed: [] })
      expect(await raw('HGETALL', key('attempts'))).toEqual(['1', String(round)])
    }
    await queue.take('w')
    now += 10_000
    expect((await queue.stats()).expired).toBe(1)
    expect(await queue.recoverExpired()).toEqual({ returned: [], failed: ['1'] })
    expect(await raw('HGETALL', key('errors'))).toEqual(['1', 'the lease ran out 3 times'])
    expect(await raw('EXISTS', key('attempts'), key('holders'), key('in-progress'), key('deadlines'))).toBe(0)
    expect((await queue.stats()).counters).toMatchObject({ 'waiting:docket': 1, 'failed:docket': 1 })
  })

  test('fences the worker that wakes up after it', async () => {
    let now = 0
    const { queue } = fresh({ now: () => now })
    await queue.add([docket('a')])
    await queue.take('sleeper')
    now = 10_000
    expect((await queue.take('other')).map(({ id }) => id)).toEqual(['1'])
    expect(await queue.renew('sleeper', [1])).toEqual([false])
    expect(await queue.complete('sleeper', { id: 1, result: 'late' })).toEqual([
      { id: '1', outcome: 'not-held' },
    ])
    expect(await queue.complete('other', { id: 1, result: 'ok' })).toEqual([
      { id: '1', outcome: 'completed' },
    ])
    expect(await queue.result(1)).toBe('ok')
  })

  test('is found by `take` itself when nothing else waits, in the order the jobs came', async () => {
    let now = 0
    const { queue } = fresh({ now: () => now })
    await queue.add([docket('a'), docket('b'), docket('c')])
    await queue.take('dead', 3)
    now = 60_000
    expect((await queue.take('w', 3)).map(({ id }) => id)).toEqual(['1', '2', '3'])
  })

  test('can be that of thousands', async () => {
    let now = 0
    const { queue } = fresh({ now: () => now })
    await queue.add(Array.from({ length: 6_001 }, (_, index) => docket(`${index}`)))
    expect(await queue.take('dead', 6_001)).toHaveLength(6_001)
    now = 60_000
    const { returned } = await queue.recoverExpired()
    expect(new Set(returned).size).toBe(6_001)
    expect((await queue.stats()).counters['waiting:docket']).toBe(6_001)
    const taken = await queue.take('w', 6_001)
    const results = taken.map(({ id }) => ({ id, result: 'r' }))
    expect((await queue.complete('w', ...results)).every(({ outcome }) => outcome === 'completed')).toBe(true)
    expect(await queue.stats()).toMatchObject({ waiting: 0, inProgress: 0, done: 3 })
  })
})

describe('adding again', () => {
  test('under the same token adds nothing, and answers the same ids', async () => {
    const { queue } = fresh()
    const jobs = Array.from({ length: 5_002 }, (_, index) => docket(`${index}`))
    const first = await queue.add(jobs, { token: 't' })
    expect(first.added).toBe(5_002)
    expect(await queue.add([docket('between')])).toEqual({ ids: ['5003'], added: 1 })
    expect(await queue.add(jobs, { token: 't' })).toEqual({ ids: first.ids, added: 0 })
    expect((await queue.stats()).waiting).toBe(5_003)
  })

  test('a job of the same name adds it once, within one call too', async () => {
    const { queue } = fresh()
    const byUrl = { unique: ({ url }: { url: string }) => url }
    expect(await queue.add([docket('a'), docket('b'), docket('a')], byUrl)).toEqual({
      ids: ['1', '2', '1'],
      added: 2,
    })
    expect(await queue.add([docket('c'), docket('b')], byUrl)).toEqual({ ids: ['3', '2'], added: 1 })
    expect((await queue.stats()).counters['waiting:docket']).toBe(3)
  })

  test('is remembered for the newest only', async () => {
    const prefix = `${unique()}:`
    const forgetful = workQueue('q', text, { lease: '1s', dedupeWindow: 2 })
    const queue = open({ forgetful }, fromNodeRedis(client), { prefix }).forgetful()
    const itself = { unique: (job: string) => job }
    await queue.add(['a', 'b', 'c'], itself)
    expect(await server.command('ZRANGE', `${prefix}q:recent`, 0, -1)).toEqual([
      '\x01unique:b',
      'b',
      '\x01unique:c',
      'c',
    ])
    expect((await queue.add(['a', 'c'], itself)).ids).toEqual(['4', '3'])
  })
})

describe('tokens and unique names', () => {
  const jobs = workQueue('q', text, { lease: '10s' })
  const opened = () => {
    const prefix = `${unique()}:`
    return { queue: open({ jobs }, fromNodeRedis(client), { prefix }).jobs(), recent: `${prefix}q:recent` }
  }
  const itself = { unique: (job: string) => job }

  test('are apart, whichever comes first, hostile ones too', async () => {
    const texts = ['imp', 'imp#1', '\x01token:0:imp', '\x01unique:imp', '1:imp', 'token:0:imp']
    for (const isTokenFirst of [true, false]) {
      const { queue } = opened()
      const asToken = async () => {
        for (const token of texts) expect((await queue.add(['x'], { token })).added).toBe(1)
      }
      if (isTokenFirst) await asToken()
      expect((await queue.add(texts, itself)).added).toBe(texts.length)
      if (!isTokenFirst) await asToken()
      expect((await queue.add(texts, itself)).added).toBe(0)
      for (const token of texts) expect((await queue.add(['x'], { token })).added).toBe(0)
    }
  })

  test('a token of many steps does not take the place of another token', async () => {
    const { queue } = opened()
    await queue.add(
      Array.from({ length: 5_001 }, (_, index) => `${index}`),
      { token: 'imp' },
    )
    expect(await queue.add(['x'], { token: 'imp#1' })).toEqual({ ids: ['5002'], added: 1 })
    expect(await queue.add(['x'], { token: 'imp#1' })).toEqual({ ids: ['5002'], added: 0 })
  })

  test('of the previous version are recognised, and it recognises names of this one', async () => {
    const { queue, recent } = opened()
    await server.command('ZADD', recent, 7, 'imp', 8, 'imp#1', 9, 'name')
    expect(await queue.add(['x'], { token: 'imp' })).toEqual({ ids: ['7'], added: 0 })
    expect(await queue.add(['name', 'new'], itself)).toEqual({ ids: ['9', '1'], added: 1 })
    expect(await server.command('ZSCORE', recent, 'new')).toBe('1')
    const many = Array.from({ length: 5_001 }, () => 'x')
    expect((await queue.add(many, { token: 'imp' })).added).toBe(0)
  })
})

describe('an id that comes twice', () => {
  test.each([
    ['in one call', async (queue: Given) => void (await queue.add([given('a', 1), given('a', 2)]))],
    [
      'while the first waits',
      async (queue: Given) => {
        await queue.add([given('a', 1)])
        await queue.add([given('a', 2)])
      },
    ],
  ])('%s: the jobs are done one after the other', async (_, add) => {
    const { queue, raw } = named()
    await add(queue)
    await queue.add([given('b', 3)])
    expect((await queue.take('w', 9)).map(({ job }) => job.n)).toEqual([1, 3])
    expect(await queue.take('v', 9)).toEqual([])
    expect((await queue.stats()).counters).toMatchObject({ 'waiting:k': 1 })
    expect(await queue.complete('w', { id: 'a', result: 'one' })).toMatchObject([{ outcome: 'completed' }])
    expect((await queue.take('v')).map(({ job }) => job.n)).toEqual([2])
    expect(await queue.complete('w', { id: 'a', result: 'late' })).toMatchObject([
      { outcome: 'already-done' },
    ])
    expect(await queue.complete('v', { id: 'a', result: 'two' })).toMatchObject([{ outcome: 'completed' }])
    expect((await queue.stats()).counters).toMatchObject({ 'waiting:k': 0, 'done:k': 2 })
    expect(await raw('LLEN', 'waiting')).toBe(0)
  })

  test('while the first is in progress, and one turn ends the first: it waits for the next turn', async () => {
    const { queue } = named()
    await queue.add([given('a', 1), given('a', 2)])
    await queue.take('w')
    const completed = [{ id: 'a', result: 'one' }]
    expect((await queue.completeAndTake('w', { completed, take: 1 })).taken).toEqual([])
    expect((await queue.take('w')).map(({ job }) => job.n)).toEqual([2])
    expect(await queue.running('a')).toMatchObject({ worker: 'w', deadline: expect.any(Date) as Date })
  })

  const declared = workQueue('q', json(v.object({ id: v.string(), n: v.number(), kind: v.literal('k') })), {
    lease: '10s',
    id: 'id',
    ids: 'given',
    keepCompleted: 10,
    result: text,
    counters: { by: 'kind', waiting: { k: 'q:waiting-k' }, done: { k: 'q:done-k' } },
  })
  type Given = ReturnType<typeof named>['queue']
  const given = (id: string, n: number) => ({ id, n, kind: 'k' as const })
  function named() {
    const prefix = `${unique()}:`
    const raw = (command: string, part: string) => server.command(command, `${prefix}q:${part}`)
    return { queue: open({ declared }, fromNodeRedis(client), { prefix }).declared(), raw }
  }
})

test('of the results the newest are kept, and what other programs left in the hash gives way', async () => {
  let now = 0
  const { queue, raw, key } = fresh({ now: () => (now += 1) })
  await raw('HSET', key('done'), 'old-1', 'x', 'old-2', 'x', 'old-3', 'x', 'old-4', 'x')
  await queue.add(Array.from({ length: 10 }, (_, index) => docket(`${index}`)))
  for (let turn = 0; turn < 10; turn += 1) {
    const [taken] = await queue.take('w')
    await queue.complete('w', { id: taken!.id, result: 'r' })
  }
  expect(((await raw('HKEYS', key('done'))) as string[]).toSorted()).toEqual(['10', '8', '9'])
  expect(await raw('ZRANGE', key('finished'), 0, -1)).toEqual(['8', '9', '10'])
})

describe('of a failed job one field is kept', () => {
  const Named = v.object({ id: v.number(), url: v.optional(v.unknown()) })
  const declared = workQueue('q', json(Named), { lease: '1s', attempts: 1, id: 'id', failedField: 'url' })
  function named() {
    const prefix = `${unique()}:`
    const clock = { now: 1_000 }
    const queue = open({ declared }, fromNodeRedis(client), { prefix, now: () => clock.now }).declared()
    const raw = (...command: [string, string, ...(string | number)[]]) => {
      const [name, part, ...rest] = command
      return server.command(name, `${prefix}q:${part}`, ...rest)
    }
    return { queue, clock, raw }
  }

  test('where it is text; else the whole job is', async () => {
    const { queue, raw } = named()
    await queue.add([{ url: 'https://a' }, { url: 7 }, {}])
    await raw('RPUSH', 'waiting', '{"id":4,"url":"https://d","more":true}')
    const taken = await queue.take('w', 4)
    await queue.fail(
      'w',
      taken.map(({ id }) => id),
      'no',
    )
    const failed = (await raw('HGETALL', 'failed')) as string[]
    expect(
      Object.fromEntries(failed.flatMap((id, at) => (at % 2 === 0 ? [[id, failed[at + 1]]] : []))),
    ).toEqual({
      1: 'https://a',
      2: '{"id":2,"url":7}',
      3: '{"id":3}',
      4: 'https://d',
    })
    const kept = []
    for await (const job of queue.failures()) kept.push(job)
    expect(kept).toContainEqual({ id: '1', kept: 'https://a', error: 'no' })
  })

  test('of one whose leases ran out too', async () => {
    const { queue, clock, raw } = named()
    await queue.add([{ url: 'https://a' }])
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await queue.take('w')
      await queue.renew('w', ['1'])
      clock.now += 2_000
      await queue.recoverExpired()
    }
    expect(await raw('HGETALL', 'failed')).toEqual(['1', 'https://a'])
  })
})

test('of more results at once than are kept, the newest are', async () => {
  const { queue, raw, key } = fresh()
  await queue.add(Array.from({ length: 6 }, (_, index) => docket(`${index}`)))
  const taken = await queue.take('w', 6)
  await queue.completeAndTake('w', { completed: taken.map(({ id }) => ({ id, result: `r${id}` })), take: 0 })
  expect(await raw('ZRANGE', key('finished'), 0, -1)).toEqual(['4', '5', '6'])
  const done = (await raw('HGETALL', key('done'))) as string[]
  expect(new Set(done)).toEqual(new Set(['4', 'r4', '5', 'r5', '6', 'r6']))
})

test('jobs that are all known ask nothing of the sequence', async () => {
  const { queue, raw, key } = fresh()
  const twice = { unique: ({ url }: { url: string }) => url }
  expect(await queue.add([docket('a')], twice)).toMatchObject({ added: 1 })
  await raw('DEL', key('last-id'))
  await raw('LPUSH', key('last-id'), 'of another type')
  expect(await queue.add([docket('a')], twice)).toEqual({ ids: ['1'], added: 0 })
  await expect(queue.add([docket('b')], twice)).rejects.toMatchObject({ code: 'E_WRONG_TYPE' })
})

test('a worker gets back what it holds, after a lost answer', async () => {
  let now = 0
  const { queue, raw, key } = fresh({ now: () => now })
  await queue.add([docket('a'), docket('b'), docket('c')])
  await queue.take('w', 2)
  await queue.take('other', 1)
  now = 5_000
  expect((await queue.held('w')).map(({ id }) => id)).toEqual(['1', '2'])
  expect(await raw('ZSCORE', key('deadlines'), 2)).toBe('14999')
  // An even score: the worker was heard to have the job. That stays, at any time.
  await queue.renew('w', ['1'])
  for (now of [6_000, 6_001, 6_003]) {
    await queue.held('w')
    const score = Number(await raw('ZSCORE', key('deadlines'), 1))
    expect(score % 2).toBe(0)
    expect([now + 10_000, now + 9_999]).toContain(score)
  }
  expect(await queue.held('nobody')).toEqual([])
  const running = []
  for await (const each of queue.inProgress()) running.push(each)
  expect(running.find(({ id }) => id === '3')).toEqual({
    id: '3',
    job: { id: 3, url: 'c', kind: 'docket' },
    worker: 'other',
    deadline: new Date(10_000),
  })
})

describe('waiting for jobs', () => {
  test('ends empty when the time is over or the signal says so', async () => {
    const { queue } = fresh()
    expect(await queue.takeWhenAvailable('w', { wait: '30ms' })).toEqual([])
    const stop = new AbortController()
    const waiting = queue.takeWhenAvailable('w', { wait: '1h', signal: stop.signal })
    stop.abort()
    expect(await waiting).toEqual([])
  })

  test('gets what comes meanwhile, by asking again', async () => {
    const { queue } = fresh()
    const waiting = queue.takeWhenAvailable('w', { wait: '1h', count: 5 })
    await queue.add([docket('a')])
    expect(await waiting).toHaveLength(1)
  })
})

describe('what cannot be right', () => {
  test('a job that its schema refuses is not written, nor are its neighbours', async () => {
    const { queue, keys } = fresh()
    await expect(queue.add([docket('a'), { url: 'b', kind: 'x' as never }])).rejects.toThrow(EncodeError)
    expect(await keys()).toEqual([])
  })

  test('a job that cannot be read goes to the failed ones and does not stop the others', async () => {
    const { queue, raw, key } = fresh()
    await raw('RPUSH', key('waiting'), 'garbage', '{"id": 5, "url": "no kind"}', '[]')
    await queue.add([docket('a')])
    expect((await queue.take('w', 10)).map(({ id }) => id)).toEqual(['1'])
    const failed = (await raw('HGETALL', key('failed'))) as string[]
    expect(failed.filter((_, index) => index % 2 === 1).toSorted()).toEqual([
      '[]',
      'garbage',
      '{"id": 5, "url": "no kind"}',
    ])
    expect(await raw('HGET', key('errors'), 5)).toContain('kind')
    expect(await raw('HLEN', key('in-progress'))).toBe(1)
    await raw('RPUSH', key('waiting'), 'garbage')
    await expect(queue.peek()).rejects.toThrow(DecodeError)
  })

  test('jobs that cannot be read are told, and those behind them given in their place', async () => {
    const { queue, raw, key } = fresh()
    const nameless = Array.from({ length: 1_500 }, (_, at) => `garbage ${at}`)
    await raw('RPUSH', key('waiting'), ...nameless, '{"id": 5, "url": "no kind"}', '[]')
    await queue.add([docket('a')])
    const { taken, unreadable } = await queue.completeAndTake('w', { take: 1 })
    expect(taken.map(({ id }) => id)).toEqual(['1'])
    expect(unreadable).toHaveLength(1_502)
    const reasons = new Map(unreadable.map(({ id, error }) => [id, error.message]))
    expect(reasons.get('5')).toContain('kind')
    for (const [id, reason] of reasons)
      if (id !== '5')
        expect([id, reason]).toEqual([
          expect.stringMatching(/^unreadable-/),
          expect.stringMatching(/^\S+: holds a value that is not .*: it names no id$/),
        ])
    expect(await raw('HLEN', key('failed'))).toBe(1_502)
    expect((await queue.completeAndTake('w', { take: 1 })).unreadable).toEqual([])
    expect((await queue.completeAndTake('w', {})).unreadable).toEqual([])
  })

  test('one call gives up after a hundred steps without a job, and the next goes on', async () => {
    const { queue, raw, key } = fresh()
    const refused = Array.from({ length: 101 }, (_, at) => `{"id": ${at + 5}, "url": "no kind"}`)
    await raw('RPUSH', key('waiting'), ...refused)
    await queue.add([docket('a')])
    expect(await queue.take('w')).toEqual([])
    expect(await raw('HLEN', key('failed'))).toBe(101)
    expect(await queue.take('w')).toMatchObject([{ id: '1' }])
  })

  test('a counter that drifted below zero stops there, and a recount sets it right', async () => {
    const { queue, raw, key } = fresh()
    await queue.add([docket('a'), docket('b'), comment('c')])
    await raw('MSET', key('waiting-dockets'), '-3', key('waiting-comments'), '77')
    await queue.take('w')
    expect(await raw('GET', key('waiting-dockets'))).toBe('0')
    expect(await queue.recount()).toBe(2)
    expect((await queue.stats()).counters).toMatchObject({ 'waiting:docket': 1, 'waiting:comment': 1 })
    expect(await queue.recount()).toBe(0)
  })

  test('a counter that is no number stops the verb before anything has moved', async () => {
    const { queue, raw, key } = fresh()
    await queue.add([comment('a'), docket('b')])
    await raw('SET', key('waiting-comments'), 'many')
    await expect(queue.take('w', 2)).rejects.toThrow(key('waiting-comments'))
    expect(await raw('LLEN', key('waiting'))).toBe(2)
    expect(await raw('GET', key('waiting-dockets'))).toBe('1')
    expect(await raw('EXISTS', key('in-progress'), key('holders'))).toBe(0)
  })

  test('a key of another type is named, and no job is lost', async () => {
    const { queue, raw, key } = fresh()
    await queue.add([docket('a')])
    await raw('SET', key('in-progress'), 'x')
    await expect(queue.take('w')).rejects.toMatchObject({ code: 'E_WRONG_TYPE' })
    expect(await raw('LLEN', key('waiting'))).toBe(1)
  })

  test.each([
    ['a field that is no name', () => workQueue('q', text, { lease: '1s', id: 'a b' })],
    ['ids given by nobody', () => workQueue('q', text, { lease: '1s', ids: 'given' })],
    ['half a result', () => workQueue('q', text, { lease: '1s', keepCompleted: 0.5 })],
    [
      'a key of another queue',
      () => workQueue('q:<a>', text, { lease: '1s', keys: { failed: 'failed:<b>' } }),
    ],
  ])('%s is a SchemaError', (_, declare) => {
    expect(declare).toThrow(SchemaError)
  })

  test('an amount for a counter that is not declared, or for none that could be, is refused', async () => {
    const { queue, key, raw } = fresh()
    await queue.add([docket('a')])
    await queue.take('w')
    for (const add of [{ 'bytes 100 bytes': 1 }, { bytes_: 1 }, { '': 1 }, { constructor: 1 }] as {}[])
      await expect(queue.complete('w', { id: 1, result: 'x', add })).rejects.toThrow(TypeError)
    await expect(queue.complete('w', { id: 1, result: 'x', add: { bytes: 0.5 } })).rejects.toThrow(RangeError)
    expect(await raw('GET', key('bytes'))).toBe(null)
    expect(await queue.complete('w', { id: 1, result: 'x', add: { bytes: 1 } })).toMatchObject([
      { outcome: 'completed' },
    ])
    expect(await raw('GET', key('bytes'))).toBe('1')
  })

  test('no verb throws, whatever it is given', () => {
    const { queue } = fresh()
    const none = undefined as never
    const verbs: Promise<unknown>[] = [
      queue.add(none),
      queue.add([docket('a')], { token: '' }),
      queue.add([docket('a')], { unique: () => '' }),
      queue.add([docket('a')], {
        unique: () => {
          throw new Error('no name')
        },
      }),
      queue.take(''),
      queue.take('w', 0.5),
      queue.takeWhenAvailable('w', { wait: 'soon' as never }),
      queue.complete('w', none),
      queue.fail('w', none, 'x'),
      queue.completeAndTake('w', none),
      queue.renew('', [1]),
      queue.renew('w', none),
      queue.held(''),
    ]
    return Promise.all(verbs.map((verb) => expect(verb).rejects.toThrow()))
  })

  test('a token and unique names at once, and an empty worker, are refused', async () => {
    const { queue } = fresh()
    await expect(queue.add([docket('a')], { token: 't', unique: () => 'x' })).rejects.toThrow(TypeError)
    await expect(queue.take('')).rejects.toThrow('a worker has a name')
  })
})

test('SCRIPT FLUSH in the middle goes unnoticed', async () => {
  const { queue } = fresh()
  await queue.add([docket('a')])
  await server.command('SCRIPT', 'FLUSH')
  expect(await queue.take('w')).toHaveLength(1)
  await server.command('SCRIPT', 'FLUSH')
  expect(await queue.complete('w', { id: 1, result: 'r' })).toEqual([{ id: '1', outcome: 'completed' }])
})
