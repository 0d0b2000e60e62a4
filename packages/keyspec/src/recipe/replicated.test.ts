import { GlideClient } from '@valkey/valkey-glide'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { connections } from '../../../../test-support/connections.ts'
import { defaultClients } from '../../../../test-support/default-clients.ts'
import { startProxy } from '../../../../test-support/proxy.ts'
import { type Connection, NO_KEY } from '../connection/connection.ts'
import { fromGlide } from '../connection/client/glide.ts'
import { guarded } from '../connection/guard/guarded.ts'
import { fromIoredis } from '../connection/client/ioredis.ts'
import { fromNodeRedis } from '../connection/client/node-redis.ts'
import { text } from '../codec/text.ts'
import { type KeyspecError, SchemaError } from '../errors.ts'
import { open } from '../keyspace.ts'
import { eventually, startRedis, type TemporaryRedis, unique } from '../testing/index.ts'
import { sleep } from '../timer.ts'
import { lock } from './lock/lock.ts'
import { sequence } from './sequence/sequence.ts'
import { workQueue } from './work-queue/work-queue.ts'

let primary: TemporaryRedis
let replica: TemporaryRedis
let connection: Connection
let replicating: Connection
const clients: { destroy(): void }[] = []

async function connect(
  options: { username?: string; password?: string } = {},
  port = primary.port!,
): Promise<Connection> {
  const socket = { port, host: '127.0.0.1', reconnectStrategy: 10 }
  const client = createClient({ ...options, socket, disableOfflineQueue: true })
  client.on('error', () => {})
  await client.connect()
  clients.push(client)
  return fromNodeRedis(client)
}

const config = { 'repl-diskless-sync-delay': '0' }

async function replicate(from: TemporaryRedis, to: TemporaryRedis): Promise<void> {
  await to.command('REPLICAOF', '127.0.0.1', `${from.port}`)
  await eventually(
    async () => expect(await to.command('INFO', 'replication')).toContain('master_link_status:up'),
    { within: '20s' },
  )
  // The link is up before the primary counts the replica's acknowledgements.
  await eventually(
    async () => {
      await from.command('SET', 'probe', 'x')
      expect(await from.command('WAIT', '1', '100')).toBe(1)
    },
    { within: '20s' },
  )
}

beforeAll(async () => {
  primary = await startRedis({ port: 'any', config })
  replica = await startRedis({ port: 'any', config })
  await replicate(primary, replica)
  connection = await connect()
  replicating = await connect()
})

afterEach(() => replica.resume())

afterAll(async () => {
  for (const client of clients) client.destroy()
  await Promise.all([primary.stop(), replica.stop()])
})

const replicated = { to: 1, within: '150ms' } as const
const schema = {
  lock: lock('lock:<key>', { ttl: '1m', fence: 'fence:<key>', replicated }),
  ids: sequence('ids', { ttl: 'forever', reason: 'ids never repeat', replicated }),
  jobs: workQueue('jobs', text, { lease: '1m', keepCompleted: 10, replicated }),
}
const keysOver = (over = replicating) =>
  open(schema, connection, { prefix: `${unique()}:`, replicating: over })

/** How often a command ran on the primary. */
async function calls(command: string): Promise<number> {
  const info = String(await primary.command('INFO', 'commandstats'))
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(info)?.[1] ?? 0)
}

describe('a lock', () => {
  test('says how many replicas have it, and it is there then', async () => {
    const key = keysOver().lock({ key: 'a' })
    const held = await key.acquire()
    if (!held.acquired) throw new Error('the lock was not acquired')
    expect(held.replicas).toBe(1)
    expect(await replica.command('GET', key.name)).toBe(held.token)
    expect(await held.extend('1h')).toBe(true)
    expect(held.replicas).toBe(1)
    expect(await replica.command('PTTL', key.name)).toBeGreaterThan(3_000_000)
    expect(await held.release()).toBe(true)
    expect(await primary.command('EXISTS', key.name)).toBe(0)
  })

  test('is acquired all the same where the replica does not answer in time, and says so', async () => {
    const key = keysOver().lock({ key: 'a' })
    replica.pause()
    const held = await key.acquire()
    if (!held.acquired) throw new Error('the lock was not acquired')
    expect(held.replicas).toBe(0)
    // The lease counts from the question, so that what was waited for is gone from it.
    expect(held.leftMs).toBeLessThanOrEqual(60_000 - 150)
    expect(await held.extend()).toBe(true)
    expect(held.replicas).toBe(0)
    replica.resume()
    await eventually(async () => {
      await held.extend()
      expect(held.replicas).toBe(1)
    })
    expect(await key.acquire()).toMatchObject({ acquired: false })
    await held.release()
  })

  test('that is refused waits for no replica', async () => {
    const key = keysOver().lock({ key: 'a' })
    await key.acquire()
    const before = await calls('wait')
    await key.acquire({ wait: '50ms' })
    expect(await calls('wait')).toBe(before)
  })

  test('is kept and given back by `using`, which passes the number on', async () => {
    const key = keysOver().lock({ key: 'a' })
    expect(await key.using((_, { replicas }) => replicas)).toEqual({ acquired: true, value: 1 })
    expect(await primary.command('EXISTS', key.name)).toBe(0)
  })

  test('without the declaration says nothing of replicas', async () => {
    const { plain } = open({ plain: lock('plain:<key>', { ttl: '1m' }) }, connection, {
      prefix: `${unique()}:`,
      replicating,
    })
    const before = await calls('wait')
    const held = await plain({ key: 'a' }).acquire()
    expect((held as { replicas?: number }).replicas).toBeUndefined()
    expect(await calls('wait')).toBe(before)
  })
})

describe('a sequence', () => {
  test('says how many replicas have its number, and it is there then', async () => {
    const key = keysOver().ids()
    expect(await key.next()).toEqual({ first: 1, last: 1, replicas: 1 })
    expect(await key.nextMany(10)).toEqual({ first: 2, last: 11, replicas: 1 })
    expect(await replica.command('GET', key.name)).toBe('11')
    expect(await key.atLeast(100)).toEqual({ last: 100, replicas: 1 })
    expect(await replica.command('GET', key.name)).toBe('100')
    expect(await key.current()).toBe(100)
  })

  test('that is not raised claims no replica, since newer servers let WAIT count only what its connection wrote', async () => {
    const prefix = `${unique()}:`
    const key = open(schema, connection, { prefix, replicating }).ids()
    replica.pause()
    const { plain } = open({ plain: sequence('ids', { ttl: 'forever', reason: 'one' }) }, connection, {
      prefix,
    })
    expect(await plain().atLeast(100)).toBe(100)
    const before = await calls('wait')
    expect(await key.atLeast(100)).toEqual({ last: 100, replicas: 0 })
    expect(await calls('wait')).toBe(before)
  })

  test('gives the number all the same where the replica does not answer in time, and says so', async () => {
    const key = keysOver().ids()
    replica.pause()
    expect(await key.next()).toEqual({ first: 1, last: 1, replicas: 0 })
    replica.resume()
    await eventually(async () => expect((await key.next()).replicas).toBe(1))
  })

  test('gives each number once, to many that ask at once', async () => {
    const key = keysOver().ids()
    const taken = await Promise.all(Array.from({ length: 20 }, () => key.next()))
    expect(taken.map(({ last }) => last)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1))
    expect(taken.every(({ replicas }) => replicas === 1)).toBe(true)
  })
})

describe('a work queue', () => {
  test('says how many replicas have what was added and finished, and it is there then', async () => {
    const queue = keysOver().jobs()
    expect(await queue.add(['a', 'b', 'c', 'd'])).toEqual({
      ids: ['1', '2', '3', '4'],
      added: 4,
      replicas: 1,
    })
    expect(await replica.command('LLEN', queue.names.waiting)).toBe(4)
    const before = await calls('wait')
    expect(await queue.take('w', 3)).toHaveLength(3)
    expect(await calls('wait')).toBe(before)
    expect(await queue.complete('w', { id: 1, result: 'done' })).toEqual([
      { id: '1', outcome: 'completed', replicas: 1 },
    ])
    expect(await replica.command('HGET', queue.names.done, '1')).toBe('"done"')
    const turn = { failed: [{ id: 2, error: 'no' }], released: [3], take: 1 }
    expect(await queue.completeAndTake('w', turn)).toMatchObject({
      finished: [
        { id: '2', outcome: 'failed', replicas: 1 },
        { id: '3', outcome: 'released', replicas: 1 },
      ],
      taken: [{ id: '4', job: 'd' }],
    })
  })

  test('adds and finishes all the same where the replica does not answer in time, and says so', async () => {
    const queue = keysOver().jobs()
    replica.pause()
    expect(await queue.add(['a'])).toEqual({ ids: ['1'], added: 1, replicas: 0 })
    await queue.take('w')
    expect(await queue.complete('w', { id: 1, result: 1 })).toEqual([
      { id: '1', outcome: 'completed', replicas: 0 },
    ])
    replica.resume()
    await eventually(async () => expect((await queue.add(['b'])).replicas).toBe(1))
  })

  test('that changes nothing waits for no replica, and claims none', async () => {
    const queue = keysOver().jobs()
    await queue.add(['a'], { token: 't' })
    await queue.take('w')
    await queue.complete('w', { id: 1, result: 1 })
    const before = await calls('wait')
    expect(await queue.add(['a'], { token: 't' })).toEqual({ ids: ['1'], added: 0, replicas: 0 })
    expect(await queue.complete('w', { id: 1, result: 1 }, { id: 2, result: 1 })).toEqual([
      { id: '1', outcome: 'already-done', replicas: 0 },
      { id: '2', outcome: 'not-held', replicas: 0 },
    ])
    expect(await calls('wait')).toBe(before)
  })

  test('names the fewest replicas of the steps that a long add takes', async () => {
    const key = unique()
    let waits = 0
    const second: Connection = {
      ...replicating,
      masters: () => replicating.masters(),
      send: async (command, shape) => {
        const reply = await replicating.send(command, shape)
        return command[0] === 'WAIT' && (waits += 1) === 2 ? 0 : reply
      },
    }
    const queue = open(schema, connection, { prefix: `${key}:`, replicating: second }).jobs()
    const jobs = Array.from({ length: 10_001 }, (_, index) => `${index}`)
    expect(await queue.add(jobs)).toMatchObject({ added: 10_001, replicas: 0 })
    expect(waits).toBe(3)
  })

  test('without the declaration says nothing of replicas', async () => {
    const options = { prefix: `${unique()}:`, replicating }
    const { plain } = open({ plain: workQueue('jobs', text, { lease: '1m' }) }, connection, options)
    expect(await plain().add(['a'])).toEqual({ ids: ['1'], added: 1 })
    await plain().take('w')
    expect(await plain().complete('w', { id: 1, result: 1 })).toEqual([{ id: '1', outcome: 'completed' }])
  })
})

test.each(connections)('over %s it says how many replicas acknowledged', async (_name, connectTo) => {
  const { connection: over, close } = await connectTo(primary)
  onTestFinished(async () => void (await close()))
  const key = keysOver(over).ids()
  expect(await key.next()).toEqual({ first: 1, last: 1, replicas: 1 })
  replica.pause()
  expect(await key.next()).toEqual({ first: 2, last: 2, replicas: 0 })
  replica.resume()
  await eventually(async () => expect((await key.next()).replicas).toBe(1))
})

test('other verbs are not held up while a write waits for a replica that hangs', async () => {
  const keys = keysOver()
  await keys.ids().next()
  replica.pause()
  const slow = keys.ids().next()
  const order: string[] = []
  await Promise.all([
    slow.then(() => order.push('acknowledged')),
    keys
      .ids()
      .current()
      .then(() => order.push('read')),
  ])
  expect(order).toEqual(['read', 'acknowledged'])
})

test.each(defaultClients)(
  'over %s every command of a replicated write settles within the bound of the adapter and `within`',
  async (_name, openClient) => {
    const proxy = await startProxy(primary)
    onTestFinished(() => proxy.stop())
    const options = { requestTimeout: 400, timeout: '400ms' } as const
    const { connection: over, close } = await openClient(proxy, options)
    onTestFinished(async () => void (await close()))
    const sent: Promise<unknown>[] = []
    const recording: Connection = {
      ...over,
      masters: () => over.masters(),
      send(command, shape) {
        if (command[0] === 'WAIT') proxy.stall('replies')
        const reply = over.send(command, shape)
        sent.push(reply.catch((error: KeyspecError) => error.code))
        return reply
      },
    }
    const key = keysOver(recording).ids()
    const start = performance.now()
    expect(await key.next()).toEqual({ first: 1, last: 1, replicas: 0 })
    // The session, the script's text or its hash, and WAIT.
    expect((await Promise.all(sent)).at(-1)).toBe('E_UNKNOWN_OUTCOME')
    expect(performance.now() - start).toBeLessThan(20_000)
  },
)

test.each(defaultClients)(
  'over %s a replica that answers late, but within the time, is counted',
  async (_name, openClient) => {
    const { connection: over, close } = await openClient(primary, {})
    onTestFinished(async () => void (await close()))
    const patient = {
      ids: sequence('ids', {
        ttl: 'forever',
        reason: 'a test',
        replicated: { to: 1, within: '20s' },
      }),
    }
    const { ids } = open(patient, connection, { prefix: `${unique()}:`, replicating: over })
    await ids().next()
    replica.pause()
    const late = ids().next()
    // Longer than GLIDE gives a command by itself.
    await sleep(600)
    replica.resume()
    expect(await late).toEqual({ first: 2, last: 2, replicas: 1 })
  },
)

test('one write and its WAIT go at a time, however many keyspaces share the connection', async () => {
  const log: string[] = []
  let writes = 0
  const recording: Connection = {
    ...replicating,
    masters: () => replicating.masters(),
    async send(command, shape) {
      const name = String(command[0])
      if (name === 'CLIENT') return replicating.send(command, shape)
      log.push(name)
      writes += 1
      expect(writes).toBe(1)
      try {
        return await replicating.send(command, shape)
      } finally {
        writes -= 1
      }
    },
  }
  await Promise.all([1, 2, 3].map(() => keysOver(recording).ids().next()))
  expect(log.map((command) => (command === 'WAIT' ? command : 'write'))).toEqual([
    'write',
    'WAIT',
    'write',
    'WAIT',
    'write',
    'WAIT',
  ])
})

test('the text of a script is sent once, not with every write', async () => {
  const key = keysOver(await connect()).ids()
  await key.next()
  await key.next()
  const before = [await calls('eval'), await calls('evalsha')]
  for (let call = 0; call < 5; call += 1) await key.next()
  expect([await calls('eval'), await calls('evalsha')]).toEqual([before[0], before[1]! + 5])
})

test('a write that is refused waits for nobody, and the next one goes on', async () => {
  const key = keysOver().ids()
  await primary.command('SET', key.name, 'twelve')
  const before = await calls('wait')
  await expect(key.next()).rejects.toThrow(key.name)
  expect(await calls('wait')).toBe(before)
  await primary.command('SET', key.name, '12')
  expect(await key.next()).toEqual({ first: 13, last: 13, replicas: 1 })
})

test('a client that went to another server between a write and its WAIT has no acknowledgement', async () => {
  await using other = await startRedis({ port: 'any', config })
  await using another = await startRedis({ port: 'any', config })
  await replicate(other, another)
  const [before, after] = [replicating, await connect({}, other.port)]
  let aim = before
  const key = keysOver({
    ...before,
    masters: () => aim.masters(),
    async send(command, shape) {
      const reply = await aim.send(command, shape)
      if (String(command[0]).startsWith('EVAL')) aim = after
      return reply
    },
  }).ids()
  // As after a failover that lost the write: WAIT alone would answer 1, of a server that never saw it.
  expect(await key.next()).toEqual({ first: 1, last: 1, replicas: 0 })
  expect(await after.send(['WAIT', '1', '1000'], NO_KEY)).toBe(1)
})

test.each(['wait', 'client'])(
  'a user who may not %s writes without an acknowledgement, and is warned once',
  async (command) => {
    await primary.command('ACL', 'SETUSER', 'writer', 'reset', 'on', '>pw', '~*', '+@all', `-${command}`)
    const over = await connect({ username: 'writer', password: 'pw' })
    using warned = vi.spyOn(process, 'emitWarning').mockReturnValue()
    const key = keysOver(over).ids()
    expect(await key.next()).toEqual({ first: 1, last: 1, replicas: 0 })
    expect(await key.next()).toEqual({ first: 2, last: 2, replicas: 0 })
    expect(warned.mock.calls).toEqual([
      [expect.stringMatching(/no write is known to be acknowledged.*NOPERM/), { type: 'KeyspecWarning' }],
    ])
  },
)

describe('open refuses', () => {
  test('the declaration without a second connection, naming the entry', () => {
    for (const member of ['lock', 'ids', 'jobs'] as const) {
      const opening = () => open({ [member]: schema[member] }, connection)
      expect(opening).toThrow(SchemaError)
      expect(opening).toThrow(`${member}: \`replicated\` needs a connection of its own`)
    }
  })

  test('the same connection twice', () => {
    expect(() => open(schema, replicating, { replicating })).toThrow('a client of its own')
  })

  test('two connections over one client', async () => {
    const nodeRedis = createClient()
    const ioredis = new Redis({ lazyConnect: true })
    const glide = await GlideClient.createClient({ addresses: [{ host: '127.0.0.1', port: primary.port! }] })
    onTestFinished(() => glide.close())
    const pairs = [
      [fromNodeRedis(nodeRedis), fromNodeRedis(nodeRedis)],
      [fromNodeRedis(nodeRedis), fromNodeRedis(nodeRedis.withTypeMapping({}))],
      [fromIoredis(ioredis), fromIoredis(ioredis)],
      [fromGlide(glide), fromGlide(glide)],
    ] as const
    for (const [first, second] of pairs) {
      for (const over of [first, guarded(first)])
        for (const replicating of [second, guarded(second)])
          expect(() => open(schema, over, { replicating })).toThrow('a client of its own')
      expect(() => open(schema, connection, { replicating: second })).not.toThrow()
    }
  })

  test('a lock that waits for replicas as long as it is held, or longer', () => {
    const declared = (within: '9999ms' | '10s' | '30d') => () =>
      lock('lock:<key>', { ttl: '10s', replicated: { to: 1, within } })
    expect(declared('9999ms')).not.toThrow()
    for (const within of ['10s', '30d'] as const) {
      expect(declared(within)).toThrow(SchemaError)
      expect(declared(within)).toThrow(`waits up to ${within} for replicas, and the lock is over after 10s`)
    }
  })

  test('a cluster, where WAIT has no node to go to', () => {
    const cluster = { ...connection, cluster: true }
    const tagged = { ids: sequence('{ids}', { ttl: 'forever', reason: 'unique', replicated }) }
    expect(() => open(tagged, cluster, { replicating })).toThrow('does not work on a cluster')
  })

  test('a number of replicas that is none', () => {
    for (const to of [0, -1, 1.5, NaN]) {
      const ids = sequence('ids', { ttl: 'forever', reason: 'unique', replicated: { to, within: '1s' } })
      expect(() => open({ ids }, connection, { replicating })).toThrow(SchemaError)
    }
    const never = { to: 1, within: '0s' } as const
    const ids = sequence('ids', { ttl: 'forever', reason: 'unique', replicated: never })
    expect(() => open({ ids }, connection, { replicating })).toThrow(SchemaError)
  })
})
