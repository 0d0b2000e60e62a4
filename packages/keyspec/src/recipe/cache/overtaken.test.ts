import { createClient } from 'redis'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { text } from '../../codec/text.ts'
import type { Connection } from '../../connection/connection.ts'
import { fromNodeRedis } from '../../connection/client/node-redis.ts'
import { SchemaError } from '../../errors.ts'
import { open } from '../../keyspace.ts'
import { validate } from '../../schema.ts'
import { eventually, unique } from '../../testing/eventually.ts'
import { startRedis, type TemporaryRedis } from '../../testing/redis.ts'
import { cache } from './cache.ts'
import { type CacheOptions } from './cache-options.ts'

let server: TemporaryRedis
let prefix: string
const clients: { destroy(): void }[] = []

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
) {
  const client = createClient({ socket: { path: server.socket, tls: false } }).on('error', () => {})
  clients.push(client)
  await client.connect()
  const schema = { answer: cache('answer:<id>', text, { ttl: '1h', ...options }) }
  return open(schema, over(fromNodeRedis(client)), { prefix }).answer
}

type Process = Awaited<ReturnType<typeof process>>

/** A promise, and what resolves it. */
function deferred<T = void>() {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((done) => (resolve = done))
  return { promise, resolve }
}

/** A load that says when it has begun, and gives what it is told to. */
function gate() {
  const begun = deferred()
  const ended = deferred<string | undefined>()
  const load = () => {
    begun.resolve()
    return ended.promise
  }
  return { load, begun: begun.promise, give: ended.resolve }
}

/** A connection that holds back one reply, the first that it is told to. */
function holding() {
  let isIt: ((command: readonly unknown[], reply: unknown) => boolean) | undefined
  const held = deferred()
  const released = deferred()
  const over = (connection: Connection): Connection => ({
    ...connection,
    masters: () => connection.masters(),
    async send(command, shape) {
      const reply = await connection.send(command, shape)
      if (isIt?.(command, reply) !== true) return reply
      isIt = undefined
      held.resolve()
      await released.promise
      return reply
    },
  })
  return { over, hold: (which: typeof isIt) => (isIt = which), held: held.promise, release: released.resolve }
}

const ID = { id: 1 }
const storedIn = () => server.command('GET', `${prefix}answer:1`)
const waiting = (answer: Process, count: number) => eventually(() => expect(answer.stats().waits).toBe(count))

for (const verb of ['delete', 'getAndDelete'] as const) {
  test(`${verb}: a later call of the same process loads at once, and does not wait for the load that it overtook`, async () => {
    const answer = await process()
    const [older, newer] = [gate(), gate()]
    const early = answer(ID).getOrLoad(older.load)
    await older.begun
    await answer(ID)[verb]()
    const late = answer(ID).getOrLoad(newer.load)
    await newer.begun
    older.give('older')
    expect(await early).toBe('older')
    const joined = answer(ID).getOrLoad(() => 'unwanted')
    await waiting(answer, 1)
    newer.give('newer')
    expect(await Promise.all([late, joined])).toEqual(['newer', 'newer'])
    expect(await storedIn()).toBe('newer')
    expect(answer.stats()).toMatchObject({ loads: 2, unwritten: 1 })
  })

  test(`${verb} in another process: later calls load again, together; earlier ones get the older value`, async () => {
    const [answer, other] = [await process(), await process()]
    const older = gate()
    const early = answer(ID).getOrLoad(older.load)
    await older.begun
    await other(ID)[verb]()
    let loads = 0
    const late = [1, 2, 3].map(() => answer(ID).getOrLoad(() => `newer ${(loads += 1)}`))
    await waiting(answer, 3)
    older.give('older')
    expect(await early).toBe('older')
    expect(await Promise.all(late)).toEqual(['newer 1', 'newer 1', 'newer 1'])
    expect(await storedIn()).toBe('newer 1')
  })
}

test('a later call gets what another process loaded meanwhile, without a load of its own', async () => {
  const [answer, other] = [await process(), await process()]
  const older = gate()
  const early = answer(ID).getOrLoad(older.load)
  await older.begun
  await other(ID).delete()
  const late = answer(ID).getOrLoad(() => 'unwanted')
  await waiting(answer, 1)
  expect(await other(ID).getOrLoad(() => 'theirs')).toBe('theirs')
  older.give('older')
  expect(await early).toBe('older')
  expect(await late).toBe('theirs')
})

test('of many, a later call loads again those alone that were deleted, in one call', async () => {
  const [answer, other] = [await process(), await process()]
  const ids = [{ id: 1 }, { id: 2 }, { id: 3 }]
  const begun = deferred()
  const give = deferred()
  const early = answer.many(ids).getOrLoad(async (missing) => {
    begun.resolve()
    await give.promise
    return missing.map(({ id }) => `older ${id}`)
  })
  await begun.promise
  await other.many([{ id: 1 }, { id: 3 }]).delete()
  const asked: unknown[] = []
  const late = answer.many(ids).getOrLoad(async (missing) => {
    asked.push(missing)
    return missing.map(({ id }) => `newer ${id}`)
  })
  await waiting(answer, 3)
  give.resolve()
  expect(await early).toEqual(['older 1', 'older 2', 'older 3'])
  expect(await late).toEqual(['newer 1', 'older 2', 'newer 3'])
  expect(asked).toEqual([[{ id: 1 }, { id: 3 }]])
})

test('many deletes end the loads of this process too', async () => {
  const answer = await process()
  const older = gate()
  const early = answer(ID).getOrLoad(older.load)
  await older.begun
  await answer.many([ID]).delete()
  expect(await answer(ID).getOrLoad(() => 'newer')).toBe('newer')
  older.give('older')
  expect(await early).toBe('older')
  expect(await storedIn()).toBe('newer')
})

test('calls that come while a load is under way share its value, if nothing was deleted', async () => {
  const answer = await process()
  const slow = gate()
  const early = answer(ID).getOrLoad(slow.load)
  await slow.begun
  const late = answer(ID).getOrLoad(() => 'unwanted')
  await waiting(answer, 1)
  slow.give('loaded')
  expect(await Promise.all([early, late])).toEqual(['loaded', 'loaded'])
  expect(answer.stats()).toMatchObject({ loads: 1, unwritten: 0 })
})

test('a later call does not get an entry that an earlier call read before the delete', async () => {
  const { over, hold, held, release } = holding()
  const [answer, other] = [await process({}, over), await process()]
  await server.command('SET', `${prefix}lock:answer:1`, 'theirs', 'PX', 10_000)
  const early = answer(ID).getOrLoad(() => 'unwanted')
  await waiting(answer, 1)
  hold(([name], reply) => name === 'GET' && String(reply) === 'deleted')
  await server.command('SET', `${prefix}answer:1`, 'deleted')
  await held
  await other(ID).delete()
  const late = answer(ID).getOrLoad(() => 'newer')
  await waiting(answer, 2)
  release()
  expect(await early).toBe('deleted')
  expect(await late).toBe('newer')
})

test('a later call does not get what was loaded, kept and deleted before it began', async () => {
  const { over, hold, held, release } = holding()
  const [answer, other] = [await process({}, over), await process()]
  const older = gate()
  const early = answer(ID).getOrLoad(older.load)
  await older.begun
  hold(([name]) => String(name).startsWith('EVAL'))
  older.give('older')
  await held
  expect(await storedIn()).toBe('older')
  await other(ID).delete()
  const late = answer(ID).getOrLoad(() => 'newer')
  await waiting(answer, 1)
  release()
  expect(await early).toBe('older')
  expect(await late).toBe('newer')
})

for (const options of [{}, { absenceTtl: '5s' }] as const) {
  test(`an absence is shared with later calls unless a delete overtook it: ${JSON.stringify(options)}`, async () => {
    const [answer, other] = [await process(options), await process()]
    const slow = gate()
    const early = answer(ID).getOrLoad(slow.load)
    await slow.begun
    const late = answer(ID).getOrLoad(() => 'unwanted')
    await waiting(answer, 1)
    slow.give(undefined)
    expect(await Promise.all([early, late])).toEqual([undefined, undefined])
    expect(answer.stats().loads).toBe(1)

    await other(ID).delete()
    const overtaken = gate()
    const before = answer(ID).getOrLoad(overtaken.load)
    await overtaken.begun
    await other(ID).delete()
    const after = answer(ID).getOrLoad(() => 'newer')
    await eventually(() => expect(answer.stats().misses).toBe(4))
    overtaken.give(undefined)
    expect(await before).toBeUndefined()
    expect(await after).toBe('newer')
  })
}

test('the signal of a later call ends its second wait', async () => {
  const [answer, other] = [await process(), await process()]
  const [older, newer] = [gate(), gate()]
  const early = answer(ID).getOrLoad(older.load)
  await older.begun
  await other(ID).delete()
  const controller = new AbortController()
  let given: AbortSignal | undefined
  const late = answer(ID).getOrLoad(
    (signal) => {
      given = signal
      return newer.load()
    },
    { signal: controller.signal },
  )
  const gone = late.catch((reason: unknown) => reason)
  await waiting(answer, 1)
  older.give('older')
  expect(await early).toBe('older')
  await newer.begun
  controller.abort(new Error('gone home'))
  expect(await gone).toMatchObject({ message: 'gone home' })
  await eventually(() => expect(given?.aborted).toBe(true))
})

test('a hit and a miss send what they always sent', async () => {
  const sent: unknown[] = []
  const answer = await process({}, (connection) => ({
    ...connection,
    masters: () => connection.masters(),
    send(command, shape) {
      sent.push(command[0])
      return connection.send(command, shape)
    },
  }))
  await answer(ID).getOrLoad(() => 'a')
  sent.splice(0)
  await answer({ id: 2 }).getOrLoad(() => 'b')
  expect(sent).toEqual(['GET', 'SET', 'GET', expect.stringMatching(/^EVAL/)])
  sent.splice(0)
  await answer({ id: 2 }).getOrLoad(() => 'unwanted')
  expect(sent).toEqual(['GET'])
})

test('on a cluster, the lock must share the slot of the entry', () => {
  const at = (pattern: string, options: CacheOptions = {}, under = '') =>
    validate({ page: cache(pattern, text, { ttl: '1h', ...options }) }, { cluster: true, prefix: under })
  const apart = { lock: 'busy:<id>' }
  expect(() => at('page:<id>', apart)).toThrow(SchemaError)
  expect(() => at('page:<id>', apart)).toThrow('put "{page:<id>}" into all but the first')
  expect(() => at('page:<id>', apart, 'app:')).toThrow('put "{app:page:<id>}" into all but the first')
  expect(() => at('page:<id>', { lock: 'lock:{page:<id>}' }, 'app:')).toThrow(SchemaError)
  expect(() => at('page}<id>')).toThrow(SchemaError)
  at('page:<id>')
  at('page:<id>', {}, 'app:')
  expect(() => at('page:{<id>}', { lock: 'lock:<id>' })).toThrow(SchemaError)
  at('page:{<id>}')
  at('page:{<id>}', { lock: 'lock:{<id>}' }, 'app:')
  at('page:<id>', {}, '{app}:')
  at('page:<id>', { lock: 'lock:{page:<id>}' })
  at('page:<id>', { lock: 'lock:{app:page:<id>}' }, 'app:')
})
