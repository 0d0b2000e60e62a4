import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startProxy } from '../../../../../test-support/index.ts'
import type { Connection, Subscriber } from '../../connection/connection.ts'
import { fromNodeRedis, subscriberFromNodeRedis } from '../../connection/client/node-redis.ts'
import { LeaseLostError, SchemaError } from '../../errors.ts'
import { open, type OpenOptions } from '../../keyspace.ts'
import { eventually, startRedis, type TemporaryRedis, unique } from '../../testing/index.ts'
import type { Lease } from './lease.ts'
import { lock } from './lock.ts'

let redis: TemporaryRedis
const clients: { destroy(): void }[] = []

async function connectedClient(path = redis.socket) {
  const client = createClient({
    socket: { path, reconnectStrategy: 10 },
    disableOfflineQueue: true,
    commandOptions: { timeout: 1000 },
  })
  client.on('error', () => {})
  await client.connect()
  clients.push(client)
  return client
}

async function connect(path?: string): Promise<Connection> {
  return fromNodeRedis(await connectedClient(path))
}

beforeAll(async () => {
  redis = await startRedis()
})

afterAll(async () => {
  for (const client of clients) client.destroy()
  await redis.stop()
})

async function lockOf(
  declared: Parameters<typeof lock<'lock:<key*>'>>[1] = { ttl: '10s' },
  { connection, ...options }: OpenOptions & { connection?: Connection } = {},
) {
  const schema = { lock: lock('lock:<key*>', declared) }
  const keys = open(schema, connection ?? (await connect()), { prefix: `${unique()}:`, ...options })
  return keys.lock({ key: 'report:2024' })
}

function heldOf<F extends number | undefined>(result: Lease<F> | { acquired: false }): Lease<F> {
  if (!result.acquired) throw new Error('the lock was not acquired')
  return result
}

test('one holder at a time: the next is told how long the lock may be held', async () => {
  const key = await lockOf()
  const held = heldOf(await key.acquire())
  expect(held).toMatchObject({ acquired: true, exclusive: true, fence: undefined })
  const refused = await key.acquire()
  expect(refused).toMatchObject({ acquired: false })
  expect((refused as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(5000)
  expect(await held.release()).toBe(true)
  expect(await key.acquire()).toMatchObject({ acquired: true })
})

test('the key holds the holder’s random token, with the declared time to live', async () => {
  const key = await lockOf()
  const held = heldOf(await key.acquire())
  expect(await redis.command('GET', key.name)).toBe(held.token)
  const ttl = (await redis.command('PTTL', key.name)) as number
  expect(ttl).toBeGreaterThan(5000)
  expect(ttl).toBeLessThanOrEqual(10_000)
  expect(held.leftMs).toBeGreaterThan(5000)
  expect(held.leftMs).toBeLessThanOrEqual(ttl + 1000)
  await held.release()
  expect(await redis.command('EXISTS', key.name)).toBe(0)
  expect(held.leftMs).toBe(0)
})

test('a slow holder leaves the lock of its successor alone', async () => {
  const key = await lockOf()
  const slow = heldOf(await key.acquire())
  await redis.command('DEL', key.name)
  const next = heldOf(await key.acquire())
  expect(await slow.release()).toBe(false)
  expect(await slow.extend('1h')).toBe(false)
  expect(slow.leftMs).toBe(0)
  expect(await redis.command('GET', key.name)).toBe(next.token)
  expect(await redis.command('PTTL', key.name)).toBeLessThanOrEqual(10_000)
})

test('extend lets the lock end so long from now', async () => {
  const key = await lockOf()
  const held = heldOf(await key.acquire())
  expect(await held.extend('1h')).toBe(true)
  expect(await redis.command('PTTL', key.name)).toBeGreaterThan(3_000_000)
  expect(held.leftMs).toBeGreaterThan(3_000_000)
  expect(await held.extend()).toBe(true)
  expect(await redis.command('PTTL', key.name)).toBeLessThanOrEqual(10_000)
})

test('the locks of programs that write something else are respected', async () => {
  const key = await lockOf()
  await redis.command('SET', key.name, '1', 'NX', 'EX', '100')
  expect(await key.acquire()).toMatchObject({ acquired: false })
  expect(await redis.command('GET', key.name)).toBe('1')
  expect(await redis.command('PTTL', key.name)).toBeGreaterThan(50_000)
})

test('a lock that was left without a time to live is given one', async () => {
  const key = await lockOf()
  await redis.command('SET', key.name, '1')
  expect(await key.acquire()).toEqual({ acquired: false, retryAfterMs: 10_000 })
  expect(await redis.command('PTTL', key.name)).toBeGreaterThan(0)
})

test('of many that ask at once one is the holder', async () => {
  const prefix = `${unique()}:`
  const connections = await Promise.all([connect(), connect(), connect(), connect()])
  const keys = connections.map((connection) =>
    open({ lock: lock('lock:<key*>', { ttl: '10s' }) }, connection, { prefix }),
  )
  const asked = keys.flatMap((keyspace) =>
    Array.from({ length: 25 }, () => keyspace.lock({ key: 'a' }).acquire()),
  )
  expect((await Promise.all(asked)).filter(({ acquired }) => acquired)).toHaveLength(1)
})

test.each(['with', 'without'])('those who wait work one after another, %s a subscriber', async (how) => {
  const prefix = `${unique()}:`
  const workers = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const options: OpenOptions = how === 'with' ? { prefix, subscriber: await listen() } : { prefix }
      return open({ lock: lock('lock:<key*>', { ttl: '10s' }) }, await connect(), options)
    }),
  )
  const raw = await connectedClient()
  let inside = 0
  const jobs = workers.flatMap(({ lock: entry }) =>
    [1, 2, 3].map(() =>
      entry({ key: 'a' }).using(
        async () => {
          inside += 1
          expect(inside).toBe(1)
          const count = Number((await raw.get(`${prefix}count`)) ?? 0)
          await raw.set(`${prefix}count`, String(count + 1))
          inside -= 1
          return count
        },
        { wait: '20s' },
      ),
    ),
  )
  const done = await Promise.all(jobs)
  expect(done.every(({ acquired }) => acquired)).toBe(true)
  expect(await raw.get(`${prefix}count`)).toBe('12')
  expect(await redis.command('EXISTS', `${prefix}lock:a`)).toBe(0)
})

async function listen(): Promise<Subscriber> {
  return subscriberFromNodeRedis(await connectedClient())
}

test('who waits no longer is told how long the lock may be held', async () => {
  const key = await lockOf()
  await key.acquire()
  const refused = await key.acquire({ wait: '20ms' })
  expect(refused).toMatchObject({ acquired: false })
  expect((refused as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(5000)
})

test('the lock of a holder that died passes on when its time is over', async () => {
  const key = await lockOf({ ttl: '100ms' })
  const dead = heldOf(await key.acquire())
  const waiting = await Promise.all([1, 2, 3].map(() => key.acquire({ wait: '20s' })))
  // Three leases of 100 ms, none of them released, and all within the wait.
  expect(waiting.map(({ acquired }) => acquired)).toEqual([true, true, true])
  expect(new Set([dead.token, ...waiting.map((held) => heldOf(held).token)]).size).toBe(4)
})

test('release says so on the channel of the key’s name where the keyspace listens, and nobody stays subscribed', async () => {
  const subscriber = await listen()
  const key = await lockOf({ ttl: '10s' }, { subscriber })
  const heard: string[] = []
  await (await connectedClient()).subscribe(key.name, (message) => heard.push(message))
  const held = heldOf(await key.acquire())
  const next = key.acquire({ wait: '20s' })
  await eventually(async () =>
    expect(await redis.command('PUBSUB', 'NUMSUB', key.name)).toEqual([key.name, 2]),
  )
  await held.release()
  expect(await next).toMatchObject({ acquired: true })
  await eventually(() => expect(heard).toEqual(['']))
  await eventually(async () =>
    expect(await redis.command('PUBSUB', 'NUMSUB', key.name)).toEqual([key.name, 1]),
  )
})

describe('a reply that is lost', () => {
  test('does not lock out the one it was meant for: the same token asks again', async () => {
    await using proxy = await startProxy(redis)
    const key = await lockOf({ ttl: '1m' }, { connection: await connect(proxy.socket) })
    proxy.stall('replies')
    const acquiring = key.acquire({ wait: '20s' })
    const token = await eventually(async () => {
      const stored = await redis.command('GET', key.name)
      expect(stored).not.toBeNull()
      return stored
    })
    proxy.cut()
    await proxy.restore()
    const held = heldOf(await acquiring)
    expect(held.token).toBe(token)
    expect(await redis.command('GET', key.name)).toBe(token)
  })

  test('of an extension leaves the lease as it was known before, and of a release says that nobody knows', async () => {
    await using proxy = await startProxy(redis)
    const key = await lockOf({ ttl: '1m' }, { connection: await connect(proxy.socket) })
    const held = heldOf(await key.acquire())
    proxy.stall('replies')
    const extending = held.extend('1h')
    await eventually(async () => expect(await redis.command('PTTL', key.name)).toBeGreaterThan(3_000_000))
    proxy.cut()
    await expect(extending).rejects.toBeInstanceOf(Error)
    expect(held.leftMs).toBeGreaterThan(0)
    expect(held.leftMs).toBeLessThanOrEqual(60_000)
    await proxy.restore()
    await eventually(() => held.extend('2m'))
    expect(held.leftMs).toBeGreaterThan(60_000)

    proxy.stall('replies')
    const releasing = held.release()
    await eventually(async () => expect(await redis.command('EXISTS', key.name)).toBe(0))
    proxy.cut()
    await expect(releasing).rejects.toBeInstanceOf(Error)
    expect(held.leftMs).toBe(0)
    await proxy.restore()
    // It was given back by the first.
    expect(await eventually(() => held.release())).toBe(false)
  })
})

describe('the fence', () => {
  const fenced = (prefix: string, connection: Connection, now?: () => number) =>
    open(
      { lock: lock('lock:<key>', { ttl: '10s', fence: 'fence:<key>' }) },
      connection,
      now === undefined ? { prefix } : { prefix, now },
    ).lock({ key: 'a' })

  test('rises with each holder, and is kept for a week', async () => {
    const prefix = `${unique()}:`
    const key = fenced(prefix, await connect())
    const fences: number[] = []
    for (let i = 0; i < 20; i += 1) {
      const held = heldOf(await key.acquire())
      fences.push(held.fence)
      await held.release()
    }
    expect(fences).toEqual(fences.toSorted((a, b) => a - b))
    expect(new Set(fences).size).toBe(20)
    expect(await redis.command('GET', `${prefix}fence:a`)).toBe(String(fences.at(-1)))
    expect(await redis.command('PTTL', `${prefix}fence:a`)).toBeGreaterThan(600_000_000)
  })

  test('rises when the server’s clock goes back, and when its key was lost', async () => {
    const prefix = `${unique()}:`
    let now = Date.UTC(2024, 0, 1)
    const key = fenced(prefix, await connect(), () => now)
    const next = async () => {
      const held = heldOf(await key.acquire())
      await held.release()
      return held.fence
    }
    const first = await next()
    expect(first).toBe(now * 1000)
    now -= 3_600_000
    expect(await next()).toBe(first + 1)
    now += 3_600_001
    await redis.command('DEL', `${prefix}fence:a`)
    expect(await next()).toBeGreaterThan(first + 1)
  })

  test('stays higher when its key expires while the server’s clock was ahead', async () => {
    const prefix = `${unique()}:`
    const now = Date.now()
    let stepMs = 30 * 86_400_000
    const key = fenced(prefix, await connect(), () => now + stepMs)
    const ahead = heldOf(await key.acquire())
    await ahead.release()
    stepMs = 0
    const back = heldOf(await key.acquire())
    expect(back.fence).toBe(ahead.fence + 1)
    // The key lasts until a week after the instant that its number names: then the time gives a higher one.
    const ttl = (await redis.command('PTTL', `${prefix}fence:a`)) as number
    expect(Math.abs(now + ttl - (back.fence / 1000 + 604_800_000 + 10_000))).toBeLessThan(10_000)
  })

  test.each([
    ['text', ['SET', 'abc'], 'holds no fence'],
    ['a fraction', ['SET', '1.5'], 'holds no fence'],
    ['a power', ['SET', '1e3'], 'holds no fence'],
    ['nothing', ['SET', ''], 'holds no fence'],
    ['the last whole number', ['SET', '9007199254740991'], 'holds the last fence'],
    ['another type', ['LPUSH', '1'], 'holds no fence'],
  ])('that is %s takes no lock, and the error names its key', async (_what, [command, value], words) => {
    const prefix = `${unique()}:`
    const key = fenced(prefix, await connect())
    await redis.command(command!, `${prefix}fence:a`, value!)
    const before = await redis.command('DUMP', `${prefix}fence:a`)
    const refused = key.acquire()
    await expect(refused).rejects.toMatchObject({ code: 'E_SCRIPT' })
    await expect(refused).rejects.toThrow(`${prefix}fence:a ${words}`)
    expect(await redis.command('EXISTS', key.name)).toBe(0)
    expect(await redis.command('DUMP', `${prefix}fence:a`)).toEqual(before)
    // Nor does it wait for a better one.
    await expect(key.acquire({ wait: '1m' })).rejects.toMatchObject({ code: 'E_SCRIPT' })
  })

  test('a user who may not write it takes no lock', async () => {
    const prefix = `${unique()}:`
    await redis.command('ACL', 'SETUSER', `${prefix}worker`, 'on', '>pw', `~${prefix}lock:*`, '+@all')
    const client = createClient({
      socket: { path: redis.socket, tls: false },
      username: `${prefix}worker`,
      password: 'pw',
    })
    clients.push(client)
    await client.connect()
    const key = fenced(prefix, fromNodeRedis(client))
    await expect(key.acquire()).rejects.toMatchObject({ code: 'E_DENIED' })
    expect(await redis.command('EXISTS', key.name)).toBe(0)
  })

  test('a lock without one needs no permission to read the clock', async () => {
    const prefix = `${unique()}:`
    await redis.command('ACL', 'SETUSER', `${prefix}worker`, 'on', '>pw', '~*', '+@all', '-time')
    const client = createClient({
      socket: { path: redis.socket, tls: false },
      username: `${prefix}worker`,
      password: 'pw',
    })
    clients.push(client)
    await client.connect()
    const key = await lockOf({ ttl: '10s' }, { connection: fromNodeRedis(client) })
    expect(await key.using(() => 'done')).toEqual({ acquired: true, value: 'done' })
  })

  test('a refused one counts nothing', async () => {
    const prefix = `${unique()}:`
    const key = fenced(prefix, await connect())
    await key.acquire()
    const before = await redis.command('GET', `${prefix}fence:a`)
    await key.acquire()
    expect(await redis.command('GET', `${prefix}fence:a`)).toBe(before)
  })

  test('needs the lock’s placeholders, and a pattern that no lock could have', async () => {
    expect(() => lock('lock:<key>', { ttl: '10s', fence: 'fence:<id>' })).toThrow(SchemaError)
    const connection = await connect()
    const clash = { lock: lock('lock:<key*>', { ttl: '10s', fence: 'lock:fence:<key*>' }) }
    expect(() => open(clash, connection)).toThrow('could both own the key')
  })
})

describe('using', () => {
  test('runs the work under the lock, and gives it back', async () => {
    const key = await lockOf()
    const used = await key.using(async (signal, held) => {
      expect(await redis.command('GET', key.name)).toBe(held.token)
      expect(signal.aborted).toBe(false)
      return 42
    })
    expect(used).toEqual({ acquired: true, value: 42 })
    expect(await redis.command('EXISTS', key.name)).toBe(0)
  })

  test('work that releases the lock itself has its value returned, and its signal is not aborted', async () => {
    const key = await lockOf({ ttl: '1s' })
    const used = await key.using(async (signal, held) => {
      expect(await held.release()).toBe(true)
      expect(await held.release()).toBe(false)
      expect(held.leftMs).toBe(0)
      // Longer than the lease and its renewals: another holder is none of its business.
      expect(await key.acquire()).toMatchObject({ acquired: true })
      await new Promise((resolve) => setTimeout(resolve, 1100))
      expect(signal.aborted).toBe(false)
      return 'done'
    })
    expect(used).toEqual({ acquired: true, value: 'done' })
  })

  test('a release that the work does not wait for counts as well', async () => {
    const key = await lockOf()
    expect(
      await key.using((_, held) => {
        void held.release()
        return 'done'
      }),
    ).toEqual({ acquired: true, value: 'done' })
    expect(await redis.command('EXISTS', key.name)).toBe(0)
  })

  test('work that releases a lock that it had lost before is told so', async () => {
    const key = await lockOf()
    const used = key.using(async (_, held) => {
      await redis.command('SET', key.name, 'somebody else')
      expect(await held.release()).toBe(false)
      return 'done'
    })
    await expect(used).rejects.toThrow(LeaseLostError)
    expect(await redis.command('GET', key.name)).toBe('somebody else')
  })

  test('does nothing where somebody else holds it', async () => {
    const key = await lockOf()
    await key.acquire()
    const used = await key.using(() => expect.unreachable())
    expect(used).toMatchObject({ acquired: false, retryAfterMs: expect.any(Number) })
  })

  test('gives the lock back when the work fails, and passes its error on', async () => {
    const key = await lockOf()
    await expect(key.using(() => Promise.reject(new Error('no paper')))).rejects.toThrow('no paper')
    expect(await redis.command('EXISTS', key.name)).toBe(0)
  })

  test('renews the lock as long as the work takes', async () => {
    const key = await lockOf({ ttl: '3s' })
    const renewals = async () => {
      let seen = 0
      let before = Infinity
      await eventually(
        async () => {
          const ttl = (await redis.command('PTTL', key.name)) as number
          if (ttl > before) seen += 1
          before = ttl
          expect(seen).toBe(4)
        },
        { within: '20s' },
      )
      return seen
    }
    // Four renewals of a third each: the work outlives the lock's first lifetime.
    expect(await key.using(renewals)).toEqual({ acquired: true, value: 4 })
  })

  test('aborts the signal and rejects when somebody else has the lock, which stays theirs', async () => {
    const key = await lockOf({ ttl: '300ms' })
    const work = key.using(async (signal) => {
      await redis.command('SET', key.name, 'another')
      await eventually(() => expect(signal.aborted).toBe(true))
      expect(signal.reason).toBeInstanceOf(LeaseLostError)
    })
    await expect(work).rejects.toThrow(LeaseLostError)
    await expect(work).rejects.toMatchObject({ code: 'E_LEASE_LOST', key: key.name })
    expect(await redis.command('GET', key.name)).toBe('another')
  })

  test('aborts the signal at the next renewal after the server’s clock stepped over the lease, and says so', async () => {
    const key = await lockOf({ ttl: '600ms' })
    const rival = open({ lock: lock('<key*>', { ttl: '1h' }) }, await connect()).lock({ key: key.name })
    const work = key.using(async (signal, held) => {
      // What a step of the clock does to the key; the holder still counts on a lease.
      await redis.command('PEXPIRE', key.name, '0')
      expect(await rival.acquire()).toMatchObject({ acquired: true })
      expect(held.leftMs).toBeGreaterThan(0)
      await eventually(() => expect(signal.aborted).toBe(true))
      expect(held.leftMs).toBe(0)
    })
    await expect(work).rejects.toThrow(LeaseLostError)
    expect(await redis.command('PTTL', key.name)).toBeGreaterThan(1_000_000)
  })

  test('aborts the signal when the renewal is refused, and keeps the cause', async () => {
    const key = await lockOf({ ttl: '300ms' })
    const work = key.using(async (signal) => {
      await redis.command('DEL', key.name)
      await redis.command('LPUSH', key.name, 'another')
      await eventually(() => expect(signal.aborted).toBe(true))
      await redis.command('DEL', key.name)
    })
    await expect(work).rejects.toMatchObject({ code: 'E_LEASE_LOST', cause: { code: 'E_WRONG_TYPE' } })
  })

  test('rejects when the lock turns out to be lost only at the end', async () => {
    const key = await lockOf({ ttl: '1h' })
    await expect(key.using(() => redis.command('DEL', key.name))).rejects.toThrow(LeaseLostError)
  })
})

describe('while Redis is away', () => {
  async function away(declared: Parameters<typeof lock<'lock:<key*>'>>[1]) {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    const proxy = await startProxy(server)
    onTestFinished(() => proxy.stop())
    const key = await lockOf(declared, { connection: await connect(proxy.socket) })
    return { server, proxy, key }
  }

  test('the client’s error passes through, at once or when the wait is over', async () => {
    const { server, key } = await away({ ttl: '10s' })
    await server.kill()
    await expect(key.acquire()).rejects.not.toHaveProperty('code', 'E_SCRIPT')
    await expect(key.acquire({ wait: '30ms' })).rejects.toBeInstanceOf(Error)
    await expect(key.using(() => expect.unreachable())).rejects.toBeInstanceOf(Error)
  })

  test('who waits gets the lock when the server is back', async () => {
    const { server, key } = await away({ ttl: '10s' })
    await server.kill()
    const acquiring = key.acquire({ wait: '20s' })
    await server.restart()
    expect(await acquiring).toMatchObject({ acquired: true, exclusive: true })
  })

  test('with `proceed` the work is done anyway, and says that it has no lock', async () => {
    const { server, key } = await away({ ttl: '10s', unreachable: 'proceed' })
    await server.kill()
    const held = heldOf(await key.acquire())
    expect(held).toMatchObject({ exclusive: false, leftMs: 0 })
    expect(await held.release()).toBe(false)
    const used = await key.using((signal, { exclusive }) => [signal.aborted, exclusive])
    expect(used).toEqual({ acquired: true, value: [false, false] })
  })

  test('without it the signal is aborted once the lock can no longer be known to be held', async () => {
    const { proxy, key } = await away({ ttl: '300ms' })
    const work = key.using(async (signal) => {
      proxy.refuse()
      proxy.cut()
      await eventually(() => expect(signal.aborted).toBe(true))
    })
    await expect(work).rejects.toThrow(LeaseLostError)
  })

  test('with it the work goes on, even past the end of the lock', async () => {
    const { server, proxy, key } = await away({ ttl: '300ms', unreachable: 'proceed' })
    const used = await key.using(async (signal) => {
      proxy.refuse()
      proxy.cut()
      await eventually(async () => expect(await server.command('EXISTS', key.name)).toBe(0))
      await proxy.restore()
      return signal.aborted
    })
    expect(used).toEqual({ acquired: true, value: false })
  })

  test('work that ends within its lease is done, even if the lock cannot be given back', async () => {
    const { proxy, key } = await away({ ttl: '1m' })
    const used = await key.using(async () => {
      proxy.refuse()
      proxy.cut()
      return 'done'
    })
    expect(used).toEqual({ acquired: true, value: 'done' })
  })

  test('who gave up on a server that hangs leaves no lock behind when it goes on', async () => {
    const { server, key } = await away({ ttl: '1h' })
    server.pause()
    const waiting = [1, 2, 3].map(() => key.using(() => 'done', { wait: '20s' }))
    await expect(key.acquire()).rejects.toBeInstanceOf(Error) // after the client's time-out
    server.resume()
    const done = { acquired: true, value: 'done' }
    expect(await Promise.all(waiting)).toEqual([done, done, done])
    await eventually(async () => expect(await server.command('EXISTS', key.name)).toBe(0))
  })
})
