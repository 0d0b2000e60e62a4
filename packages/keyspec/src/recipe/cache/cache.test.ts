import { getEventListeners } from 'node:events'
import { createClient } from 'redis'
import * as v from 'valibot'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bytes } from '../../codec/bytes.ts'
import { float32 } from '../../codec/float32.ts'
import { json } from '../../codec/json.ts'
import type { Connection, Subscriber } from '../../connection/connection.ts'
import { fromNodeRedis, subscriberFromNodeRedis } from '../../connection/client/node-redis.ts'
import { ServerError } from '../../connection/server-error.ts'
import { EncodeError, SchemaError } from '../../errors.ts'
import { open, type OpenOptions } from '../../keyspace.ts'
import { param } from '../../param.ts'
import { eventually, unique } from '../../testing/eventually.ts'
import { startRedis, type TemporaryRedis } from '../../testing/redis.ts'
import { cache } from './cache.ts'
import { type CacheOptions } from './cache-options.ts'

type Client = ReturnType<typeof connect>

let server: TemporaryRedis
let client: Client
const connect = () => {
  const made = createClient({ socket: { path: server.socket, tls: false, reconnectStrategy: false } })
  return made.on('error', () => {})
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

let prefix: string
const extra: Client[] = []
beforeEach(() => {
  prefix = `${unique()}:`
})
afterEach(() => {
  for (const each of extra.splice(0)) each.destroy()
})

/** Another process, as far as Redis can tell. */
async function another(): Promise<Client> {
  const made = connect()
  extra.push(made)
  await made.connect()
  return made
}

const Ocr = v.object({ text: v.string(), confidence: v.optional(v.number(), 1) })
const page = (text: string) => ({ text, confidence: 0.5 })

function opened(over: Client | Connection = client, options: CacheOptions & OpenOptions = {}) {
  const { lock, lockTtl, ...opening } = options
  const declared = {
    ...(lock === undefined ? {} : { lock }),
    ...(lockTtl === undefined ? {} : { lockTtl }),
  }
  const schema = {
    ocr: cache('cache:ocr:<content>', json(Ocr), {
      ttl: '7d',
      params: { content: param.digest(16) },
      ...declared,
    }),
  }
  return open(schema, 'send' in over ? over : fromNodeRedis(over), { prefix, ...opening })
}

/** A load that ends when it is told to, and knows how often it was begun. */
function gate() {
  let begin!: () => void
  let give!: (value: unknown) => void
  let fail!: (error: Error) => void
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const ended = new Promise<unknown>((resolve, reject) => {
    give = resolve
    fail = reject
  })
  ended.catch(() => {})
  const gate = {
    calls: 0,
    signal: undefined as AbortSignal | undefined,
    begun,
    open: (value: unknown = page('loaded')) => give(value),
    fail,
    load: (signal: AbortSignal) => {
      gate.calls += 1
      gate.signal = signal
      begin()
      return ended as Promise<{ text: string; confidence: number }>
    },
  }
  return gate
}

const nothing = {
  hits: 0,
  nearHits: 0,
  misses: 0,
  undecodable: 0,
  loads: 0,
  waits: 0,
  unwritten: 0,
  unreachable: 0,
}
const KEY = 'cache:ocr:96cae35ce8a9b024'
const CONTENT = { content: { digest: '96cae35ce8a9b024' } }
const lockName = (name: string) => `${prefix}lock:${name.slice(prefix.length)}`
const lockOf = () => server.command('GET', `${prefix}lock:${KEY}`)
const storedIn = () => server.command('GET', `${prefix}${KEY}`)

describe('one load', () => {
  test('fills a missing entry under its document name, with its time to live, and gives the lock back', async () => {
    const keys = opened()
    expect(await keys.ocr(CONTENT).get()).toBeUndefined()
    expect(await keys.ocr(CONTENT).getOrLoad(() => page('a'))).toEqual(page('a'))
    expect(await storedIn()).toBe('{"text":"a","confidence":0.5}')
    expect(await server.command('PTTL', `${prefix}${KEY}`)).toBeGreaterThan(604_790_000)
    expect(await lockOf()).toBeNull()
    expect(await keys.ocr(CONTENT).getOrLoad(() => expect.fail('it is there'))).toEqual(page('a'))
    expect(keys.ocr.stats()).toEqual({ ...nothing, hits: 1, misses: 2, loads: 1 })
  })

  test('gives everybody a value of his own, as if he had read it', async () => {
    const keys = opened()
    const slow = gate()
    const asked = Array.from({ length: 3 }, () => keys.ocr(CONTENT).getOrLoad(slow.load))
    slow.open({ text: 'a', none: undefined })
    const values = await Promise.all(asked)
    for (const value of values) expect(value).toEqual({ text: 'a', confidence: 1 })
    expect(values[0]).not.toBe(values[1])
    expect(slow.calls).toBe(1)
    expect(keys.ocr.stats()).toEqual({ ...nothing, misses: 3, loads: 1, waits: 2 })
  })

  test('serves askers over any number of connections', async () => {
    const slow = gate()
    const all = await Promise.all(Array.from({ length: 4 }, async () => opened(await another())))
    const asked = all.flatMap((keys) =>
      Array.from({ length: 10 }, () => keys.ocr(CONTENT).getOrLoad(slow.load)),
    )
    await slow.begun
    await eventually(() => expect(all.reduce((sum, keys) => sum + keys.ocr.stats().waits, 0)).toBe(39))
    slow.open()
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 40 }, () => page('loaded')))
    expect(slow.calls).toBe(1)
    await eventually(async () => expect(await lockOf()).toBeNull())
  })

  test('holds a lock with its own random token for 10 s, renewed while it runs', async () => {
    const slow = gate()
    const asked = opened(client, { lockTtl: '3s' }).ocr(CONTENT).getOrLoad(slow.load)
    await slow.begun
    const owner = await lockOf()
    expect(owner).toMatch(/^[0-9a-f-]{36}$/)
    await server.command('PEXPIRE', `${prefix}lock:${KEY}`, 2500)
    await eventually(async () =>
      expect(await server.command('PTTL', `${prefix}lock:${KEY}`)).toBeGreaterThan(2500),
    )
    expect(await lockOf()).toBe(owner)
    slow.open()
    await asked
    const other = gate()
    const next = opened().ocr({ content: 'other' }).getOrLoad(other.load)
    await other.begun
    const lock = lockName(opened().ocr({ content: 'other' }).name)
    expect(await server.command('PTTL', lock)).toBeGreaterThan(9000)
    other.open()
    await next
  })

  test('that gives undefined keeps nothing, and each asks for himself', async () => {
    const keys = opened()
    const value: { text: string } | undefined = await keys.ocr(CONTENT).getOrLoad(async () => undefined)
    expect(value).toBeUndefined()
    expect(await storedIn()).toBeNull()
    expect(await keys.ocr(CONTENT).getOrLoad(() => page('b'))).toEqual(page('b'))
    expect(keys.ocr.stats()).toMatchObject({ loads: 2, unwritten: 0 })
  })

  test('that throws at once, or gives what its codec refuses, gives the lock back too', async () => {
    const keys = opened()
    const thrown = keys.ocr(CONTENT).getOrLoad(() => {
      throw new Error('at once')
    })
    await expect(thrown).rejects.toThrow('at once')
    const refused = keys.ocr(CONTENT).getOrLoad(() => ({ txt: 'a' }) as never)
    await expect(refused).rejects.toThrow(EncodeError)
    await eventually(async () => expect(await lockOf()).toBeNull())
    expect(await storedIn()).toBeNull()
  })

  test('is taken over when its process dies: the lock ends by itself', async () => {
    await server.command('SET', `${prefix}lock:${KEY}`, 'somebody-who-died', 'PX', 300)
    const [a, b] = [opened(), opened(await another())]
    const slow = gate()
    const asked = [a.ocr(CONTENT).getOrLoad(slow.load), b.ocr(CONTENT).getOrLoad(slow.load)]
    slow.open()
    expect(await Promise.all(asked)).toEqual([page('loaded'), page('loaded')])
    expect(slow.calls).toBe(1)
  })

  test('tells who waits that it is done, where there is a subscriber, who then listens no more', async () => {
    const subscriber = subscriberFromNodeRedis(await another())
    const channel = `${prefix}lock:${KEY}`
    const listeners = async () => ((await server.command('PUBSUB', 'NUMSUB', channel)) as unknown[])[1]
    const here = opened(client, { subscriber: subscriberFromNodeRedis(await another()) })
    const there = opened(await another(), { subscriber })
    const [slow, unused] = [gate(), gate()]
    const asked = here.ocr(CONTENT).getOrLoad(slow.load)
    await slow.begun
    const waiting = there.ocr(CONTENT).getOrLoad(unused.load)
    await eventually(async () => expect(await listeners()).toBe(1))
    let messages = 0
    const stop = await subscriberFromNodeRedis(await another()).subscribe(channel, () => (messages += 1))
    slow.open()
    expect(await Promise.all([asked, waiting])).toEqual([page('loaded'), page('loaded')])
    expect(unused.calls).toBe(0)
    await eventually(() => expect(messages).toBeGreaterThan(0))
    await stop()
    await eventually(async () => expect(await listeners()).toBe(0))
  })
})

test('who is told that a load is done reads the entry first, and only then asks for its lock', async () => {
  await server.command('SET', `${prefix}lock:${KEY}`, 'somebody', 'PX', 60_000)
  let say = () => {}
  const subscriber: Subscriber = {
    async subscribe(_channel, heard) {
      say = () => heard('')
      return async () => {}
    },
  }
  const { connection, sent } = recorded(fromNodeRedis(client))
  const asked = opened(connection, { subscriber })
    .ocr(CONTENT)
    .getOrLoad(() => page('unwanted'))
  // An attempt is a SET of the lock, a GET of the entry and one of the lock: a GET of the entry behind it is of who was told.
  await eventually(() => {
    say()
    expect(sent.join(' ')).toContain('SET-lock GET-entry GET-lock GET-entry SET-lock')
  })
  await server.command('SET', `${prefix}${KEY}`, JSON.stringify(page('written')))
  say()
  expect(await asked).toEqual(page('written'))
})

/** A connection, and the commands that were sent over it, each with what it was sent to. */
function recorded(over: Connection): { readonly connection: Connection; readonly sent: readonly string[] } {
  const sent: string[] = []
  const send: Connection['send'] = (command, shape) => {
    sent.push(`${String(command[0])}-${String(command[1]).includes(':lock:') ? 'lock' : 'entry'}`)
    return over.send(command, shape)
  }
  return { connection: { ...over, send }, sent }
}

describe('a load that lost its lock', () => {
  test('overwrites nothing that its successor wrote, and gives not his lock back', async () => {
    const keys = opened()
    const slow = gate()
    const asked = keys.ocr(CONTENT).getOrLoad(slow.load)
    await slow.begun
    await server.command('SET', `${prefix}lock:${KEY}`, 'successor', 'PX', 10_000)
    slow.open(page('old'))
    expect(await asked).toEqual(page('old'))
    expect(await storedIn()).toBeNull()
    expect(await lockOf()).toBe('successor')
    expect(keys.ocr.stats()).toMatchObject({ loads: 1, unwritten: 1 })
  })

  test('does not overwrite what was set meanwhile, even while it holds the lock', async () => {
    const keys = opened()
    const slow = gate()
    const asked = keys.ocr(CONTENT).getOrLoad(slow.load)
    await slow.begun
    await opened(await another())
      .ocr(CONTENT)
      .set(page('newer'))
    expect(await keys.ocr(CONTENT).getOrLoad(() => expect.fail('it is there'))).toEqual(page('newer'))
    slow.open(page('older'))
    expect(await asked).toEqual(page('older'))
    expect(await storedIn()).toBe(JSON.stringify(page('newer')))
    expect(await lockOf()).toBeNull()
  })

  test('does not bring back what was deleted meanwhile, and who asks after that gets a new load', async () => {
    const keys = opened()
    const [before, after] = [gate(), gate()]
    const early = keys.ocr(CONTENT).getOrLoad(before.load)
    await before.begun
    await keys.ocr(CONTENT).delete()
    const late = keys.ocr(CONTENT).getOrLoad(after.load)
    await after.begun
    before.open(page('before'))
    expect(await early).toEqual(page('before'))
    expect(await storedIn()).toBeNull()
    after.open(page('after'))
    expect(await late).toEqual(page('after'))
    expect(await storedIn()).toBe(JSON.stringify(page('after')))
  })
})

describe('an entry that cannot be read', () => {
  test.each([
    ['no JSON', 'not json'],
    ['JSON of another shape', '{"txt":1}'],
    ['no text', Buffer.from([0x80, 0x04, 0x95, 0xff])],
  ])('is a counted miss and is replaced by the next load: %s', async (_, stored) => {
    const keys = opened()
    await server.command('SET', `${prefix}${KEY}`, stored)
    expect(await keys.ocr(CONTENT).get()).toBeUndefined()
    expect(await keys.ocr(CONTENT).getOrLoad(() => page('a'))).toEqual(page('a'))
    expect(await storedIn()).toBe(JSON.stringify(page('a')))
    expect(await server.command('PTTL', `${prefix}${KEY}`)).toBeGreaterThan(0)
    expect(keys.ocr.stats()).toEqual({ ...nothing, misses: 2, undecodable: 2, loads: 1 })
  })

  test('because it is of another type is an error that names the key, and stays', async () => {
    const keys = opened()
    await server.command('RPUSH', `${prefix}${KEY}`, 'a')
    await expect(keys.ocr(CONTENT).getOrLoad(() => page('a'))).rejects.toThrow(ServerError)
    expect(await server.command('TYPE', `${prefix}${KEY}`)).toBe('list')
  })
})

describe('while Redis', () => {
  test('cannot be reached, each process loads once for all who ask there, and other verbs reject', async () => {
    const gone = await startRedis()
    const lost = createClient({ socket: { path: gone.socket, tls: false, reconnectStrategy: false } })
    lost.on('error', () => {})
    await lost.connect()
    const keys = opened(fromNodeRedis(lost))
    await gone.stop()
    const slow = gate()
    const asked = Array.from({ length: 5 }, () => keys.ocr(CONTENT).getOrLoad(slow.load))
    await eventually(() => expect(keys.ocr.stats().misses).toBe(5))
    slow.open()
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 5 }, () => page('loaded')))
    expect(slow.calls).toBe(1)
    expect(keys.ocr.stats()).toMatchObject({ loads: 1, unreachable: 1, unwritten: 1 })
    await expect(keys.ocr(CONTENT).get()).rejects.toThrow()
    await expect(keys.ocr(CONTENT).set(page('a'))).rejects.toThrow()
    await expect(keys.ocr(CONTENT).delete()).rejects.toThrow()
  })

  test('is killed during a load, the load is answered all the same', async () => {
    const mortal = await startRedis()
    const doomed = createClient({ socket: { path: mortal.socket, tls: false, reconnectStrategy: false } })
    doomed.on('error', () => {})
    await doomed.connect()
    const keys = opened(fromNodeRedis(doomed))
    const slow = gate()
    const asked = keys.ocr(CONTENT).getOrLoad(slow.load)
    await slow.begun
    await mortal.stop()
    slow.open()
    expect(await asked).toEqual(page('loaded'))
    expect(keys.ocr.stats()).toMatchObject({ loads: 1, unreachable: 0, unwritten: 1 })
  })

  test('is killed while others wait, they load themselves', async () => {
    const mortal = await startRedis()
    const doomed = createClient({ socket: { path: mortal.socket, tls: false, reconnectStrategy: false } })
    doomed.on('error', () => {})
    await doomed.connect()
    await mortal.command('SET', `${prefix}lock:${KEY}`, 'somebody', 'PX', 60_000)
    const keys = opened(fromNodeRedis(doomed))
    const asked = keys.ocr(CONTENT).getOrLoad(() => page('mine'))
    await eventually(() => expect(keys.ocr.stats().waits).toBe(1))
    await mortal.stop()
    expect(await asked).toEqual(page('mine'))
  })

  test('has no room for a lock, the load is done without one', async () => {
    const full = await startRedis()
    await full.command('CONFIG', 'SET', 'maxmemory', '1')
    const over = createClient({ socket: { path: full.socket, tls: false } })
    await over.connect()
    const keys = opened(fromNodeRedis(over))
    expect(await keys.ocr(CONTENT).getOrLoad(() => page('a'))).toEqual(page('a'))
    expect(keys.ocr.stats()).toMatchObject({ unreachable: 1, unwritten: 1 })
    over.destroy()
    await full.stop()
  })
})

describe('a signal', () => {
  test('of many calls has one listener, so that Node does not warn of a leak, and none after them', async () => {
    const keys = opened()
    const slow = gate()
    const { signal } = new AbortController()
    const asked = Array.from({ length: 20 }, () => keys.ocr(CONTENT).getOrLoad(slow.load, { signal }))
    await slow.begun
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    slow.open()
    await Promise.all(asked)
    await eventually(() => expect(getEventListeners(signal, 'abort')).toHaveLength(0))
  })

  test('ends one asker’s waiting and not the load of the others', async () => {
    const keys = opened()
    const slow = gate()
    const controller = new AbortController()
    const impatient = keys.ocr(CONTENT).getOrLoad(slow.load, { signal: controller.signal })
    const patient = keys.ocr(CONTENT).getOrLoad(slow.load)
    await slow.begun
    controller.abort(new Error('gone home'))
    await expect(impatient).rejects.toThrow('gone home')
    expect(slow.signal?.aborted).toBe(false)
    slow.open()
    expect(await patient).toEqual(page('loaded'))
  })

  test('of the last asker ends the load, and the next one loads anew', async () => {
    const keys = opened()
    const [slow, next] = [gate(), gate()]
    const controller = new AbortController()
    const { signal } = controller
    const asked = [1, 2].map(() => keys.ocr(CONTENT).getOrLoad(slow.load, { signal }))
    await slow.begun
    await eventually(() => expect(keys.ocr.stats().waits).toBe(1))
    controller.abort(new Error('gone home'))
    const again = keys.ocr(CONTENT).getOrLoad(next.load)
    for (const each of asked) await expect(each).rejects.toThrow('gone home')
    expect(slow.signal?.aborted).toBe(true)
    await next.begun
    slow.open(page('too late'))
    next.open()
    expect(await again).toEqual(page('loaded'))
    expect(await storedIn()).toBe(JSON.stringify(page('loaded')))
  })

  test('ends the waiting for another process, and one that is aborted already asks nothing', async () => {
    await server.command('SET', `${prefix}lock:${KEY}`, 'somebody', 'PX', 60_000)
    const keys = opened()
    const controller = new AbortController()
    const { signal } = controller
    const asked = keys.ocr(CONTENT).getOrLoad(() => expect.fail('it is locked'), { signal })
    await eventually(() => expect(keys.ocr.stats().waits).toBe(1))
    controller.abort(new Error('gone home'))
    await expect(asked).rejects.toThrow('gone home')
    await expect(keys.ocr(CONTENT).getOrLoad(() => page('a'), { signal })).rejects.toThrow('gone home')
    expect(keys.ocr.stats().misses).toBe(1)
  })
})

describe('many', () => {
  const vectors = {
    embedding: cache('emb:<text>', float32(3), { ttl: '7d', params: { text: param.digest(16) } }),
  }
  const vectorOf = ({ text }: { text: unknown }) => Float32Array.of(String(text).length, 0.5, -1)
  const texts = (...all: string[]) => all.map((text) => ({ text }))

  test('are looked up together, and those that are missing loaded by one call, each once', async () => {
    const keys = open(vectors, fromNodeRedis(client), { prefix })
    await keys.embedding({ text: 'a' }).set([9, 9, 9])
    const asked: unknown[] = []
    const wanted = texts('bb', 'a', 'ccc', 'bb')
    const many = keys.embedding.many(wanted)
    const values = await many.getOrLoad(async (missing) => {
      asked.push(missing.map(({ text }) => text))
      return missing.map(vectorOf)
    })
    expect(asked).toEqual([['bb', 'ccc']])
    const [bb, ccc] = texts('bb', 'ccc').map(vectorOf)
    expect(values).toEqual([bb, Float32Array.of(9, 9, 9), ccc, bb])
    expect((await server.commandBuffer('GET', keys.embedding({ text: 'ccc' }).name)) as Buffer).toEqual(
      Buffer.from(Float32Array.of(3, 0.5, -1).buffer),
    )
    expect(await server.command('PTTL', keys.embedding({ text: 'bb' }).name)).toBeGreaterThan(0)
    expect(await many.get()).toEqual(values)
    for (const { name } of many) expect(await server.command('EXISTS', lockName(name))).toBe(0)
    expect(keys.embedding.stats()).toMatchObject({ hits: 5, misses: 3, loads: 2, unwritten: 0 })
  })

  test('share loads with whoever asks for one of them, here and elsewhere', async () => {
    const here = open(vectors, fromNodeRedis(client), { prefix })
    const there = open(vectors, fromNodeRedis(await another()), { prefix })
    let loads = 0
    const load = async (missing: readonly { text: unknown }[]) => {
      loads += missing.length
      await eventually(() => expect(here.embedding.stats().misses + there.embedding.stats().misses).toBe(8))
      return missing.map(vectorOf)
    }
    const answers = await Promise.all([
      here.embedding.many(texts('a', 'bb', 'ccc')).getOrLoad(load),
      there.embedding.many(texts('ccc', 'bb', 'dddd')).getOrLoad(load),
      here.embedding({ text: 'bb' }).getOrLoad(async () => (await load(texts('bb')))[0]!),
      there.embedding({ text: 'dddd' }).getOrLoad(async () => (await load(texts('dddd')))[0]!),
    ])
    expect(answers.flat().map((vector) => (vector instanceof Float32Array ? vector[0] : 0))).toEqual([
      1, 2, 3, 3, 2, 4, 2, 4,
    ])
    expect(loads).toBe(4)
  })

  test('are loaded in a second call where the other process failed', async () => {
    const here = open(vectors, fromNodeRedis(client), { prefix })
    await server.command('SET', lockName(here.embedding({ text: 'a' }).name), 'x', 'PX', 300)
    const asked: unknown[] = []
    const values = await here.embedding.many(texts('a', 'bb')).getOrLoad(async (missing) => {
      asked.push(missing.map(({ text }) => text))
      return missing.map(vectorOf)
    })
    expect(asked).toEqual([['bb'], ['a']])
    expect(values).toEqual(texts('a', 'bb').map(vectorOf))
  })

  test('tell a load that gave too few values', async () => {
    const keys = open(vectors, fromNodeRedis(client), { prefix })
    const many = keys.embedding.many(texts('a', 'bb'))
    const asked = many.getOrLoad(async () => [])
    await expect(asked).rejects.toThrow('2 entries were to be loaded, but the load gave 0 values')
    const names = [...many].flatMap(({ name }) => [name, lockName(name)])
    await eventually(async () => expect(await server.command('EXISTS', ...names)).toBe(0))
  })

  test('are deleted with their locks', async () => {
    const keys = open(vectors, fromNodeRedis(client), { prefix })
    const many = keys.embedding.many(texts('a', 'bb', 'ccc'))
    await keys.embedding({ text: 'a' }).set([1, 2, 3])
    await server.command('SET', lockName(keys.embedding({ text: 'bb' }).name), 'x')
    expect(await many.delete()).toBe(1)
    const names = [...many].flatMap(({ name }) => [name, lockName(name)])
    expect(await server.command('EXISTS', ...names)).toBe(0)
    expect(await keys.embedding.many([]).getOrLoad(async () => expect.fail('none is missing'))).toEqual([])
  })
})

test('declares its lock as a key of its own, with the same placeholders', () => {
  const kind = cache('emb:<model>:<hash>', bytes, { ttl: '7d', subject: 'hash' })
  expect(kind.keys.map(({ pattern, type, lifetime }) => [pattern.text, type, lifetime.ttlMs])).toEqual([
    ['emb:<model>:<hash>', 'string', 604_800_000],
    ['lock:emb:<model>:<hash>', 'string', 10_000],
  ])
  expect(kind.keys[1]!.subject).toBe('hash')
  expect(() => cache('emb:<model>', bytes, { ttl: '7d', lock: 'lock:emb' })).toThrow(SchemaError)
})

test('spreads expiry where that is declared', async () => {
  const schema = { v: cache('v:<n>', json(v.number()), { ttl: '100s', jitter: 0.5 }) }
  const keys = open(schema, fromNodeRedis(client), { prefix })
  const all = keys.v.many(Array.from({ length: 20 }, (_, n) => ({ n })))
  await all.getOrLoad(async (missing) => missing.map(({ n }) => Number(n)))
  const ttls = (await Promise.all([...all].map((key) => key.ttlMs()))) as number[]
  expect(Math.min(...ttls)).toBeGreaterThan(45_000)
  expect(Math.max(...ttls)).toBeLessThanOrEqual(100_000)
  expect(Math.max(...ttls) - Math.min(...ttls)).toBeGreaterThan(5000)
})
