import { createClient } from 'redis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { text } from '../../codec/text.ts'
import type { Connection } from '../../connection/connection.ts'
import { fromNodeRedis } from '../../connection/client/node-redis.ts'
import { LoadFailedError, LoadTimeoutError, SchemaError } from '../../errors.ts'
import { open } from '../../keyspace.ts'
import { eventually, unique } from '../../testing/eventually.ts'
import { startRedis, type TemporaryRedis } from '../../testing/redis.ts'
import { cache } from './cache.ts'
import { type CacheOptions } from './cache-options.ts'

type Client = ReturnType<typeof connect>

let server: TemporaryRedis
let prefix: string
const clients: Client[] = []
const connect = (user: { username?: string; password?: string } = {}) =>
  createClient({ socket: { path: server.socket, tls: false }, ...user }).on('error', () => {})

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
beforeEach(() => {
  prefix = `${unique()}:`
})
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy()
})

/** A cache over a connection of its own: another process, as far as Redis can tell. */
async function process(
  options: CacheOptions = {},
  over: (connection: Connection) => Connection = (it) => it,
  client: Client = connect(),
) {
  clients.push(client)
  await client.connect()
  const schema = { answer: cache('answer:<id>', text, { ttl: '1h', ...options }) }
  return open(schema, over(fromNodeRedis(client)), { prefix }).answer
}

const processes = (count: number, options: CacheOptions = {}) =>
  Promise.all(Array.from({ length: count }, () => process(options)))

const ID = { id: 1 }
const lockOf = () => server.command('GET', `${prefix}lock:answer:1`)
const storedIn = () => server.command('GET', `${prefix}answer:1`)
const never = () => new Promise<never>(() => {})

/** A load that ends when it is told to, however many processes call it. */
function gate() {
  let begin!: () => void
  let end!: (how: () => string | undefined) => void
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const ended = new Promise<() => string | undefined>((resolve) => (end = resolve))
  const made = {
    calls: 0,
    begun,
    end,
    async load() {
      made.calls += 1
      begin()
      return (await ended)()
    },
  }
  return made
}

const waiting = (all: readonly { stats(): { waits: number } }[], count: number) =>
  eventually(() => expect(all.reduce((sum, each) => sum + each.stats().waits, 0)).toBe(count))

describe('a load that hangs', () => {
  test('rejects with an error of its own, its signal is aborted, and its lock is given back', async () => {
    const answer = await process({ loadTimeout: '50ms' })
    let given: AbortSignal | undefined
    const asked = [1, 2].map(() =>
      answer(ID).getOrLoad((signal) => {
        given = signal
        return never()
      }),
    )
    for (const each of asked) {
      const error: unknown = await each.catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(LoadTimeoutError)
      expect(error).toMatchObject({ code: 'E_LOAD_TIMEOUT', key: `${prefix}answer:1` })
      expect((error as Error).message).toContain('50 ms')
    }
    expect(given?.aborted).toBe(true)
    expect(given?.reason).toBeInstanceOf(LoadTimeoutError)
    await eventually(async () => expect(await lockOf()).toBeNull())
  })

  test('is taken over by another process, and its late value overwrites nothing newer', async () => {
    const [hung, next] = [await process({ loadTimeout: '200ms' }), await process()]
    let giveLate!: (value: string) => void
    const first = hung(ID).getOrLoad(() => new Promise<string>((resolve) => (giveLate = resolve)))
    const failed = first.catch((reason: unknown) => reason)
    await eventually(() => expect(hung.stats().loads).toBe(1))
    const second = next(ID).getOrLoad(() => 'newer')
    await waiting([next], 1)
    expect(await failed).toBeInstanceOf(LoadTimeoutError)
    expect(await second).toBe('newer')
    giveLate('late')
    expect(await hung(ID).getOrLoad(() => 'unwanted')).toBe('newer')
    expect(await storedIn()).toBe('newer')
    expect(hung.stats()).toMatchObject({ loads: 1, unwritten: 0 })
  })

  test('in every process ends the waiting of each within twice its time and that of the lock', async () => {
    const options = { loadTimeout: '100ms', lockTtl: '300ms' } as const
    const all = await processes(8, options)
    const ends = await Promise.allSettled(all.map((answer) => answer(ID).getOrLoad(never)))
    for (const end of ends)
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'E_LOAD_TIMEOUT' } })
  })

  test('of many rejects for each of them by its name, and for those who share the load', async () => {
    const answer = await process({ loadTimeout: '50ms' })
    let shared: Promise<string> | undefined
    const asked = answer.many([{ id: 1 }, { id: 2 }]).getOrLoad(() => {
      shared = answer({ id: 2 }).getOrLoad(never)
      shared.catch(() => {})
      return never()
    })
    await expect(asked).rejects.toMatchObject({ code: 'E_LOAD_TIMEOUT', key: `${prefix}answer:1` })
    await expect(shared).rejects.toMatchObject({ code: 'E_LOAD_TIMEOUT', key: `${prefix}answer:2` })
    expect(answer.stats()).toMatchObject({ loads: 2, waits: 1 })
  })

  test('does not hold a caller whose signal ends, even where Redis does not answer', async () => {
    const answer = await process({}, (connection) => ({ ...connection, send: never }))
    const controller = new AbortController()
    const { signal } = controller
    const asked = [
      answer(ID).getOrLoad(() => 'a', { signal }),
      answer.many([ID]).getOrLoad(async () => ['a'], { signal }),
    ]
    controller.abort(new Error('gone home'))
    for (const each of asked) await expect(each).rejects.toThrow('gone home')
  })
})

describe('of those who wait in eight processes', () => {
  test('all learn that the load failed, and it is not done again; the next caller loads', async () => {
    const all = await processes(8)
    const slow = gate()
    const asked = all.map((answer) => answer(ID).getOrLoad(slow.load))
    await waiting(all, 7)
    const secret = Object.assign(new TypeError('no page "hunter2"'), { code: 'ECONNREFUSED' })
    slow.end(() => {
      throw secret
    })
    const ends = await Promise.allSettled(asked)
    const errors = ends.map((end) => (end.status === 'rejected' ? (end.reason as Error) : undefined))
    expect(errors.filter((error) => error === secret)).toHaveLength(1)
    const others = errors.filter((error) => error instanceof LoadFailedError)
    expect(others).toHaveLength(7)
    for (const error of others) {
      expect(error).toMatchObject({ code: 'E_LOAD_FAILED', key: `${prefix}answer:1` })
      expect(error.failure).toEqual({ name: 'TypeError', code: 'ECONNREFUSED' })
      expect(JSON.stringify([error, error.message, error.cause])).not.toContain('hunter2')
    }
    expect(slow.calls).toBe(1)
    expect(await all[3]!(ID).getOrLoad(() => 'anew')).toBe('anew')
    expect(await storedIn()).toBe('anew')
    await eventually(async () => expect(await lockOf()).toBeNull())
  })

  test('all learn that the load gave nothing, and it is not done again; the next caller loads', async () => {
    const all = await processes(8)
    const slow = gate()
    const asked = all.map((answer) => answer(ID).getOrLoad(slow.load))
    await waiting(all, 7)
    slow.end(() => undefined)
    expect(await Promise.all(asked)).toEqual(all.map(() => undefined))
    expect(slow.calls).toBe(1)
    expect(await storedIn()).toBeNull()
    expect(await all[3]!(ID).getOrLoad(() => 'anew')).toBe('anew')
  })
})

describe('what is declared to be shared', () => {
  test('is a failure: callers of that moment are told of it, and do not load', async () => {
    const [here, there] = await processes(2, { failureTtl: '5s' })
    const failed = here!(ID).getOrLoad(() => Promise.reject(new Error('away')))
    await expect(failed).rejects.toThrow('away')
    await eventually(async () => expect(await lockOf()).toMatch(/^load failed:Error: all /))
    for (const answer of [here!, there!])
      await expect(answer(ID).getOrLoad(() => 'unwanted')).rejects.toMatchObject({
        code: 'E_LOAD_FAILED',
        failure: { name: 'Error', code: undefined },
      })
    const ttlMs = Number(await server.command('PTTL', `${prefix}lock:answer:1`))
    expect(ttlMs).toBeGreaterThan(250)
    expect(ttlMs).toBeLessThanOrEqual(5000)
    await server.command('DEL', `${prefix}lock:answer:1`)
    expect(await there!(ID).getOrLoad(() => 'anew')).toBe('anew')
  })

  test('is an absence, until the entry is written or deleted', async () => {
    const [here, there] = await processes(2, { absenceTtl: '5s' })
    const nothing = async (): Promise<string | undefined> => undefined
    expect(await here!(ID).getOrLoad(nothing)).toBeUndefined()
    await eventually(async () => expect(await lockOf()).toMatch(/^load absent all /))
    expect(await there!(ID).getOrLoad(() => 'unwanted')).toBeUndefined()
    await there!(ID).set('written')
    expect(await here!(ID).getOrLoad(() => 'unwanted')).toBe('written')
    await here!(ID).delete()
    expect(await there!(ID).getOrLoad(() => 'anew')).toBe('anew')
  })

  test('is an absence, of which a lost lock says nothing', async () => {
    const [here] = await processes(1, { absenceTtl: '5s' })
    const slow = gate()
    const asked = here!(ID).getOrLoad(slow.load)
    await slow.begun
    await server.command('SET', `${prefix}lock:answer:1`, 'successor')
    slow.end(() => undefined)
    expect(await asked).toBeUndefined()
    expect(await lockOf()).toBe('successor')
  })

  test('stands no longer than the key of the lock', () => {
    const declared = (options: CacheOptions) => () => cache('answer:<id>', text, { ttl: '1h', ...options })
    expect(declared({ failureTtl: '11s' })).toThrow(SchemaError)
    expect(declared({ absenceTtl: '2s', lockTtl: '1s' })).toThrow('declare a lockTtl that is as long')
    expect(declared({ absenceTtl: '10s', failureTtl: '10s' })).not.toThrow()
  })
})

test('what an error says of itself crosses processes only where it is a word', async () => {
  const [answer] = await processes(1, { failureTtl: '5s' })
  const error = Object.assign(new Error('secret'), { name: 'pass word', code: `hunter2:${'x'.repeat(70)}` })
  await answer!(ID)
    .getOrLoad(() => Promise.reject(error))
    .catch(() => {})
  await eventually(async () => expect(await lockOf()).toMatch(/^load failed:Error: all [0-9a-f-]{36}$/))
})

test('a program that knows the lock alone waits for an outcome as for a lock, and then loads', async () => {
  const [answer] = await processes(1)
  await answer!(ID)
    .getOrLoad(() => Promise.reject(new Error('away')))
    .catch(() => {})
  await eventually(async () =>
    expect(await server.command('SET', `${prefix}lock:answer:1`, 'old', 'NX', 'PX', 10_000)).toBe('OK'),
  )
  const waits = answer!(ID).getOrLoad(() => 'unwanted')
  await waiting([answer!], 1)
  await server.command('SET', `${prefix}answer:1`, 'theirs')
  expect(await waits).toBe('theirs')
})

test('without room for an outcome the lock is given back', async () => {
  const [answer] = await processes(1)
  const slow = gate()
  const asked = answer!(ID).getOrLoad(slow.load)
  await slow.begun
  await server.command('CONFIG', 'SET', 'maxmemory', '1')
  try {
    slow.end(() => undefined)
    expect(await asked).toBeUndefined()
    await eventually(async () => expect(await lockOf()).toBeNull())
  } finally {
    await server.command('CONFIG', 'SET', 'maxmemory', '0')
  }
})

test('a load that throws undefined has failed, and did not take too long', async () => {
  const [answer, other] = await processes(2)
  const nothing: unknown = undefined
  const slow = gate()
  const asked = answer!(ID).getOrLoad(async () => {
    await slow.load()
    throw nothing
  })
  await slow.begun
  const waits = other!(ID).getOrLoad(() => 'unwanted')
  await waiting([other!], 1)
  slow.end(() => undefined)
  await expect(asked).rejects.toBeUndefined()
  await expect(waits).rejects.toThrow(LoadFailedError)
})

test('a load of many may give its values at once, and is told if it gave none', async () => {
  const [answer] = await processes(1)
  const many = () => answer!.many([{ id: 1 }, { id: 2 }])
  await expect(many().getOrLoad((() => undefined) as never)).rejects.toThrow(
    'the load gave no array of values',
  )
  expect(
    await many().getOrLoad(((missing: readonly { id: number }[]) =>
      missing.map(({ id }) => `loaded ${id}`)) as never),
  ).toEqual(['loaded 1', 'loaded 2'])
})

test('a lock that another program left without a time to live is held no longer than a lock may be', async () => {
  const [answer, other] = await processes(2, { lockTtl: '200ms', loadTimeout: '10s' })
  await server.command('SET', `${prefix}lock:answer:1`, 'somebody who died')
  const load = () => 'loaded'
  expect(await Promise.all([answer!(ID).getOrLoad(load), other!(ID).getOrLoad(load)])).toEqual([
    'loaded',
    'loaded',
  ])
  expect(await storedIn()).toBe('loaded')
})

test('a user that may not write what was loaded is told of the permission', async () => {
  await server.command('ACL', 'SETUSER', 'reader', 'on', '>pw', '+@all', '-del', '~*', '&*')
  const answer = await process({}, undefined, connect({ username: 'reader', password: 'pw' }))
  await expect(answer(ID).getOrLoad(() => 'loaded')).rejects.toMatchObject({
    code: 'E_DENIED',
    message: expect.stringContaining('ACL SETUSER <user> +del'),
  })
  expect(await storedIn()).toBeNull()
})
