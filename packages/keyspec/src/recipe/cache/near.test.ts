import { Redis } from 'ioredis'
import * as ioredis5 from 'ioredis-5'
import { createClient } from 'redis'
import * as redis5 from 'redis-5'
import * as v from 'valibot'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { startProxy } from '../../../../../test-support/proxy.ts'
import { float32 } from '../../codec/float32.ts'
import { isoDate } from '../../codec/iso-date.ts'
import { json } from '../../codec/json.ts'
import type { Command, Connection, Reply } from '../../connection/connection.ts'
import { fromIoredis, invalidationsFromIoredis } from '../../connection/client/ioredis.ts'
import type { Invalidations } from '../../connection/tracking/invalidations.ts'
import { fromNodeRedis, invalidationsFromNodeRedis } from '../../connection/client/node-redis.ts'
import { SchemaError } from '../../errors.ts'
import { open, type OpenOptions } from '../../keyspace.ts'
import { eventually, unique } from '../../testing/eventually.ts'
import { startRedis, type TemporaryRedis } from '../../testing/redis.ts'
import { cache } from './cache.ts'

let server: TemporaryRedis
let prefix: string
const closing: (() => unknown)[] = []
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
beforeEach(() => {
  prefix = `${unique()}:`
})
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function nodeRedis(path = server.socket) {
  const socket = { path, tls: false, reconnectStrategy: 5 } as const
  const client = createClient({ socket })
  const told = client.duplicate({ emitInvalidate: true })
  closing.push(
    () => client.destroy(),
    () => told.destroy(),
  )
  client.on('error', () => {})
  await Promise.all([client.connect(), told.connect()])
  return { connection: fromNodeRedis(client), invalidations: invalidationsFromNodeRedis(told) }
}

async function ioredis(path = server.socket) {
  const redis = new Redis({ path, retryStrategy: () => 5 })
  const told = redis.duplicate({ protocol: 2 })
  closing.push(
    () => redis.disconnect(),
    () => told.disconnect(),
  )
  redis.on('error', () => {})
  return { connection: fromIoredis(redis), invalidations: invalidationsFromIoredis(told) }
}

async function withNodeRedis5(path = server.socket) {
  const client = redis5.createClient({ RESP: 3, socket: { path, tls: false, reconnectStrategy: 5 } })
  const told = client.duplicate({ emitInvalidate: true })
  closing.push(
    () => client.destroy(),
    () => told.destroy(),
  )
  client.on('error', () => {})
  await Promise.all([client.connect(), told.connect()])
  return { connection: fromNodeRedis(client), invalidations: invalidationsFromNodeRedis(told) }
}

async function withIoredis5(path = server.socket) {
  const redis = new ioredis5.Redis({ path, retryStrategy: () => 5 })
  const told = redis.duplicate()
  closing.push(
    () => redis.disconnect(),
    () => told.disconnect(),
  )
  redis.on('error', () => {})
  return { connection: fromIoredis(redis), invalidations: invalidationsFromIoredis(told) }
}

const Page = v.object({ text: v.string(), tags: v.optional(v.array(v.string()), ['a']) })
const schema = {
  page: cache('page:<id>', json(Page), { ttl: '1h', near: { most: 100 } }),
  vector: cache('vector:<id>', float32(2), { ttl: '1h', near: { most: 100 } }),
  at: cache('at:<id>', isoDate, { ttl: '1h', near: { most: 100 } }),
  counted: cache('count:<id>', json(v.number()), { ttl: '1h', near: { most: 4 } }),
}

/** A keyspace with what it sent, and what it was told; `told` may keep a key to itself. */
function opened(
  { connection, invalidations }: { connection: Connection; invalidations: Invalidations },
  { told = () => true, ...options }: OpenOptions & { told?: (key: string | undefined) => boolean } = {},
) {
  const sent: Command[] = []
  const heard: (string | undefined)[] = []
  const spied: Connection = {
    ...connection,
    send(command, shape) {
      sent.push(command)
      return connection.send(command, shape)
    },
  }
  const passing: Invalidations = {
    ...invalidations,
    listen: (listener) =>
      invalidations.listen({
        ...listener,
        changed(key) {
          if (told(key)) listener.changed(key)
          heard.push(key)
        },
      }),
  }
  return { keys: open(schema, spied, { prefix, invalidations: passing, ...options }), sent, heard }
}

type Keys = ReturnType<typeof opened>['keys']

/** Waits until copies are kept and served. */
async function live(keys: Keys): Promise<void> {
  await keys.page({ id: 'live' }).set({ text: 'x' })
  const { nearHits } = keys.page.stats()
  await eventually(
    async () => {
      await keys.page({ id: 'live' }).get()
      expect(keys.page.stats().nearHits).toBeGreaterThan(nearHits)
    },
    { within: '10s' },
  )
}

const page = (text: string) => ({ text, tags: ['b'] })
const write = (id: string, text: string) =>
  server.command('SET', `${prefix}page:${id}`, JSON.stringify(page(text)))

describe.each([
  ['node-redis', nodeRedis],
  ['ioredis', ioredis],
  ['node-redis 5', withNodeRedis5],
  ['ioredis 5', withIoredis5],
])('over %s a copy', (_name, connect) => {
  test('answers without a word to Redis, until the message that somebody else wrote', async () => {
    const { keys, sent, heard } = opened(await connect())
    await live(keys)
    await write('1', 'first')
    await eventually(() => expect(heard).toContain(`${prefix}page:1`))
    expect(await keys.page({ id: 1 }).get()).toEqual(page('first'))
    const before = keys.page.stats()
    const already = sent.filter(([name]) => name !== 'INFO').length
    for (let n = 0; n < 100; n++) expect(await keys.page({ id: 1 }).get()).toEqual(page('first'))
    expect(await keys.page({ id: 1 }).getOrLoad(() => expect.fail('it is there'))).toEqual(page('first'))
    expect(await keys.page.many([{ id: 1 }, { id: 1 }]).get()).toEqual([page('first'), page('first')])
    expect(await keys.page.many([{ id: 1 }]).getOrLoad(async () => [])).toEqual([page('first')])
    expect(sent.filter(([name]) => name !== 'INFO').length).toBe(already)
    expect(keys.page.stats().nearHits - before.nearHits).toBe(104)
    expect(keys.page.stats().hits - before.hits).toBe(104)

    const messages = heard.length
    await write('1', 'second')
    await eventually(() => expect(heard.length).toBeGreaterThan(messages))
    expect(await keys.page({ id: 1 }).get()).toEqual(page('second'))
    await server.command('DEL', `${prefix}page:1`)
    await eventually(() => expect(heard.length).toBeGreaterThan(messages + 1))
    expect(await keys.page({ id: 1 }).get()).toBeUndefined()
  })

  test('goes when everything does', async () => {
    const { keys, heard } = opened(await connect())
    await live(keys)
    await server.command('FLUSHALL')
    await eventually(() => expect(heard).toContain(undefined))
    expect(await keys.page({ id: 'live' }).get()).toBeUndefined()
  })

  test('does not outlive the connection that tells of changes, and comes back with it', async () => {
    await using proxy = await startProxy({ url: `unix://${server.socket}` })
    const { connection } = await connect()
    const { invalidations } = await connect(proxy.socket)
    const { keys } = opened({ connection, invalidations })
    await live(keys)
    await write('1', 'first')
    await eventually(async () => expect(await keys.page({ id: 1 }).get()).toEqual(page('first')))
    proxy.refuse()
    proxy.cut()
    const { nearHits } = keys.page.stats()
    await write('1', 'second')
    await eventually(async () => expect(await keys.page({ id: 1 }).get()).toEqual(page('second')))
    await write('1', 'third')
    expect(await keys.page({ id: 1 }).get()).toEqual(page('third'))
    expect(keys.page.stats().nearHits - nearHits).toBeLessThan(2)
    await proxy.restore()
    await live(keys)
    await write('1', 'fourth')
    await eventually(async () => expect(await keys.page({ id: 1 }).get()).toEqual(page('fourth')))
  })

  test('is never older than what was told, however often the connection that tells is killed', async () => {
    const { connection, invalidations } = await connect()
    const ids = ['a', 'b', 'c']
    // What a read that begins now must find at least: what was told of, and what stood there when the telling began.
    const written = new Map(ids.map((id) => [id, 0]))
    const floor = new Map(ids.map((id) => [id, 0]))
    const messages = new Map(ids.map((id) => [id, 0]))
    const { keys } = opened({
      connection,
      invalidations: {
        ...invalidations,
        listen: (listener) =>
          invalidations.listen({
            ...listener,
            changed(key) {
              listener.changed(key)
              const id = key?.slice(`${prefix}count:`.length) ?? ''
              if (!ids.includes(id) || !key!.startsWith(`${prefix}count:`)) return
              // Each write has a message of its own, since it waits for the answer of the one before.
              const count = messages.get(id)! + 1
              messages.set(id, count)
              floor.set(id, Math.max(floor.get(id)!, count))
            },
          }),
        async track(prefixes) {
          const before = new Map(written)
          const runId = await invalidations.track(prefixes)
          for (const id of ids) {
            messages.set(id, before.get(id)!)
            floor.set(id, Math.max(floor.get(id)!, before.get(id)!))
          }
          return runId
        },
      },
    })
    await live(keys)
    let isOver = false
    const reader = async (id: string) => {
      while (!isOver) {
        const least = floor.get(id)!
        const found = (await keys.counted({ id }).get()) ?? 0
        if (found < least) throw new Error(`${id} was ${found}, although ${least} had been told`)
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const reading = Promise.all(ids.map(reader))
    for (let n = 1; n <= 60; n++) {
      for (const id of ids) {
        await server.command('SET', `${prefix}count:${id}`, String(n))
        written.set(id, n)
      }
      if (n % 30 === 15) await killTracking()
      if (n % 30 === 0) await live(keys)
    }
    isOver = true
    await reading
    expect(keys.counted.stats().nearHits).toBeGreaterThan(10)
    for (const id of ids) await eventually(async () => expect(await keys.counted({ id }).get()).toBe(60))
  })
})

/** Kills every connection that is in tracking mode (flag `t`). */
async function killTracking(): Promise<void> {
  const list = String(await server.command('CLIENT', 'LIST'))
  for (const line of list.split('\n')) {
    const id = /^id=(\d+).* flags=\w*t/.exec(line)?.[1]
    if (id !== undefined) await server.command('CLIENT', 'KILL', 'ID', id)
  }
}

test.each([
  ['node-redis', nodeRedis],
  ['ioredis', ioredis],
] as const)(
  'over %s, a connection that has gone silent is not trusted for longer than 3 s',
  async (_, client) => {
    await using proxy = await startProxy({ url: `unix://${server.socket}` })
    const { connection } = await client()
    const { invalidations } = await client(proxy.socket)
    const { keys } = opened({ connection, invalidations })
    const isRead = async (text: string) => {
      const from = performance.now()
      await server.command('SET', `${prefix}page:live`, JSON.stringify(page(text)))
      await eventually(async () => expect(await keys.page({ id: 'live' }).get()).toEqual(page(text)))
      expect(performance.now() - from).toBeLessThan(6000)
    }
    await live(keys)
    proxy.stall('replies')
    await isRead('unheard')
    // What it had to tell is told behind the answer: then copies may be trusted again.
    await proxy.restore()
    await live(keys)
    // The server has ended the connection, and nobody tells the client.
    proxy.halfOpen()
    await isRead('told to nobody')
    proxy.cut()
    await live(keys)
  },
)

test('own writes are seen by own reads at once, whether one waits for them or not', async () => {
  const { keys } = opened(await nodeRedis(), { told: () => false })
  await live(keys)
  const mine = keys.page({ id: 1 })
  for (let n = 0; n < 20; n++) {
    const writing = mine.set(page(`${n}`))
    expect(await mine.get()).toEqual(page(`${n}`))
    await writing
    expect(await mine.get()).toEqual(page(`${n}`))
    expect(await mine.get()).toEqual(page(`${n}`))
  }
  expect(keys.page.stats().nearHits).toBeGreaterThan(10)
  await mine.update((old) => ({ ...old!, text: 'updated' }))
  expect((await mine.get())?.text).toBe('updated')
  await mine.delete()
  expect(await mine.get()).toBeUndefined()
  expect(await mine.getOrLoad(() => page('loaded'))).toEqual(page('loaded'))
  expect(await mine.get()).toEqual(page('loaded'))
  await keys.page.many([{ id: 1 }]).set([page('many')])
  expect(await mine.get()).toEqual(page('many'))
  await keys.page.many([{ id: 1 }]).delete()
  expect(await mine.get()).toBeUndefined()
})

test('an answer that an invalidation has overtaken is not kept', async () => {
  const { connection, invalidations } = await nodeRedis()
  let hold: Promise<unknown> | undefined
  const slow: Connection = {
    ...connection,
    async send(command, shape): Promise<Reply> {
      const reply = await connection.send(command, shape)
      if (command[0] === 'GET') await hold
      return reply
    },
  }
  const { keys, heard } = opened({ connection: slow, invalidations })
  await live(keys)
  await write('1', 'first')
  await eventually(() => expect(heard).toContain(`${prefix}page:1`))
  const messages = heard.length
  let release!: (value?: unknown) => void
  hold = new Promise((resolve) => (release = resolve))
  const early = [keys.page({ id: 1 }).get(), keys.page({ id: 1 }).get()]
  // Both have been asked of Redis, on the connection that is asked now.
  await connection.send(['PING'], { firstKey: 0, keyCount: 0 })
  await write('1', 'second')
  await eventually(() => expect(heard.length).toBeGreaterThan(messages))
  release()
  expect(await Promise.all(early)).toEqual([page('first'), page('first')])
  hold = undefined
  expect(await keys.page({ id: 1 }).get()).toEqual(page('second'))
})

test('a copy ends with its key, even where nobody tells of it; and nothing is kept of what is absent', async () => {
  const { keys } = opened(await nodeRedis(), { told: () => false })
  await live(keys)
  expect(await keys.page({ id: 1 }).get()).toBeUndefined()
  await write('1', 'first')
  expect(await keys.page({ id: 1 }).get()).toEqual(page('first'))

  await server.command('SET', `${prefix}page:2`, JSON.stringify(page('short')), 'PX', 300)
  expect(await keys.page({ id: 2 }).get()).toEqual(page('short'))
  const { nearHits } = keys.page.stats()
  expect(await keys.page({ id: 2 }).get()).toEqual(page('short'))
  expect(keys.page.stats().nearHits).toBe(nearHits + 1)
  await eventually(async () => expect(await keys.page({ id: 2 }).get()).toBeUndefined())
  expect(await server.command('EXISTS', `${prefix}page:2`)).toBe(0)
})

test('everybody shares one frozen value, or reads his own where it could be changed', async () => {
  const { keys } = opened(await nodeRedis())
  await live(keys)
  await keys.page({ id: 1 }).set({ text: 'a' })
  const loaded = await keys.page({ id: 2 }).getOrLoad(() => ({ text: 'loaded' }))
  expect(() => (loaded.text = 'b')).toThrow(TypeError)
  const [first, second] = await eventually(async () => {
    const all = [await keys.page({ id: 1 }).get(), await keys.page({ id: 1 }).get()]
    expect(all[0]).toBe(all[1])
    return all
  })
  expect(first).toBe(second)
  expect(() => first!.tags.push('b')).toThrow(TypeError)

  for (const [key, value, other] of [
    [keys.vector({ id: 1 }), Float32Array.of(1, 2), Float32Array.of(9, 2)],
    [keys.at({ id: 1 }), new Date(1000), new Date(2000)],
  ] as const) {
    await key.set(value as never)
    const hits = () => keys.vector.stats().nearHits + keys.at.stats().nearHits
    const before = hits()
    await eventually(async () => {
      const mine = await key.get()
      if (mine instanceof Float32Array) mine[0] = 9
      else (mine as Date).setTime(2000)
      expect(mine).toEqual(other)
      expect(hits()).toBeGreaterThan(before)
    })
    expect(await key.get()).toEqual(value)
  }
})

test('many read what is near from memory and the rest together', async () => {
  const { keys, sent } = opened(await nodeRedis())
  await live(keys)
  for (const id of ['1', '2', '3']) await write(id, id)
  await eventually(async () => {
    await keys.page({ id: 2 }).get()
    const { nearHits } = keys.page.stats()
    await keys.page({ id: 2 }).get()
    expect(keys.page.stats().nearHits).toBe(nearHits + 1)
  })
  const already = sent.length
  const many = keys.page.many([{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }])
  expect(await many.get()).toEqual([page('1'), page('2'), page('3'), undefined])
  const names = sent.slice(already).map(([name]) => name)
  expect(names.filter((name) => name !== 'INFO')).toEqual(['PTTL', 'GET', 'PTTL', 'PTTL', 'MGET', 'EXISTS'])
})

test('where nobody tells of changes, and while another server does, Redis is read each time', async () => {
  const { connection } = await nodeRedis()
  const alone = open(schema, connection, { prefix })
  await alone.page({ id: 1 }).set({ text: 'a' })
  await write('1', 'first')
  for (const text of ['second', 'third']) {
    await write('1', text)
    const found = await alone.page({ id: 1 }).get()
    expect(found).toEqual(page(text))
    expect(Object.isFrozen(found)).toBe(true)
  }

  await using other = await startRedis()
  const elsewhere = await nodeRedis(other.socket)
  let tracked = 0
  const told = {
    ...elsewhere.invalidations,
    track: (prefixes: readonly string[]) =>
      elsewhere.invalidations.track(prefixes).finally(() => (tracked += 1)),
  }
  const torn = open(schema, connection, { prefix, invalidations: told })
  await eventually(() => expect(tracked).toBeGreaterThan(1))
  for (let n = 0; n < 3; n++) await torn.page({ id: 1 }).get()
  expect(torn.page.stats()).toMatchObject({ hits: 3, nearHits: 0 })
})

test('a server that refuses to tell is said once, and read each time', async () => {
  await server.command('ACL', 'SETUSER', 'untold', 'on', 'nopass', '~*', '&*', '+@all', '-client')
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  closing.push(
    () => warn.mockRestore(),
    () => server.command('ACL', 'DELUSER', 'untold'),
  )
  const { connection } = await nodeRedis()
  const told = new Redis({ path: server.socket, username: 'untold', password: 'x', protocol: 2 })
  closing.push(() => told.disconnect())
  const keys = open(schema, connection, { prefix, invalidations: invalidationsFromIoredis(told) })
  await write('1', 'first')
  await eventually(() => expect(warn).toHaveBeenCalledOnce())
  expect(warn.mock.calls[0]![0]).toContain('Redis is read each time: CLIENT was refused: NOPERM')
  for (let n = 0; n < 3; n++) expect(await keys.page({ id: 1 }).get()).toEqual(page('first'))
  expect(keys.page.stats()).toMatchObject({ hits: 3, nearHits: 0 })
})

test('what makes no sense is refused before any I/O', async () => {
  const { connection, invalidations } = await nodeRedis()
  const near = { most: 10 }
  open(schema, connection, { prefix, invalidations })
  for (const [declare, words] of [
    [() => open(schema, connection, { invalidations }), 'serve another keyspace already'],
    [
      () => open(schema, { ...connection, cluster: true }, { prefix: '{near}:', invalidations }),
      'not on a cluster',
    ],
    [() => cache('a:<b>', isoDate, { ttl: '1h', near: { most: 0 } }), '1 or more'],
    [() => cache('a:<b>', isoDate, { ttl: '1h', renew: 'read', near }), 'renewed by reads'],
    [() => invalidationsFromNodeRedis(createClient()), 'emitInvalidate: true'],
    [() => invalidationsFromIoredis(new Redis({ lazyConnect: true })), 'protocol: 2'],
    [
      () => invalidationsFromIoredis(new Redis({ lazyConnect: true, protocol: 2, keyPrefix: 'a' })),
      'keyPrefix',
    ],
  ] as const) {
    expect(declare).toThrow(SchemaError)
    expect(declare).toThrow(words)
  }
  const bare = { bare: cache('<id>', isoDate, { ttl: '1h', near }) }
  const other = await nodeRedis()
  expect(() => open(bare, connection, { invalidations: other.invalidations })).toThrow(
    'every key that changes',
  )
})
