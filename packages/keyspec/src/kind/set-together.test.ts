import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { connections, type Opened } from '../../../../test-support/connections.ts'
import { defaultClients } from '../../../../test-support/default-clients.ts'
import { startProxy } from '../../../../test-support/index.ts'
import { bytes } from '../codec/bytes.ts'
import { text } from '../codec/text.ts'
import { NO_KEY } from '../connection/connection.ts'
import { open as openKeyspace } from '../keyspace.ts'
import { eventually, startRedis, type TemporaryRedis, unique } from '../testing/index.ts'
import { string } from './string.ts'

let redis: TemporaryRedis
beforeAll(async () => {
  redis = await startRedis({ port: 'any' })
})
afterAll(() => redis.stop())

async function calls(command: string): Promise<number> {
  const stats = String(await redis.command('INFO', 'commandstats'))
  return Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(stats)?.[1] ?? 0)
}

const schema = {
  note: string('note:<id>', text, { ttl: '1h' }),
  kept: string('kept:<id>', text, { ttl: 'forever', reason: 'a test' }),
  spread: string('spread:<id>', text, { ttl: '1h', jitter: 0.5 }),
  blob: string('blob:<id>', bytes, { ttl: '1h' }),
}

describe.each(connections.filter(([name]) => !name.includes('RESP2')))('over %s', (name, open) => {
  const isDear = !name.startsWith('node-redis')
  let opened: Opened
  beforeAll(async () => {
    opened = await open(redis)
  })
  afterAll(() => opened.close())

  test('every write of a tick is there, in its order, with its lifetime', async () => {
    const keys = openKeyspace(schema, opened.connection, { prefix: unique() })
    const ids = Array.from({ length: 150 }, (_, id) => id)
    await Promise.all([
      ...ids.map((id) => keys.note({ id }).set(`first ${id}`)),
      ...ids.map((id) => keys.kept({ id }).set(`kept ${id}`)),
      ...ids.map((id) => keys.spread({ id }).set(`spread ${id}`)),
      ...ids.map((id) => keys.blob({ id }).set(Buffer.from([id, 0xff, 0]))),
      keys.note({ id: 3 }).set('x'.repeat(5_000)),
      ...ids.filter((id) => id % 2 === 0).map((id) => keys.note({ id }).set(`second ${id}`)),
      keys.note({ id: 0 }).delete(),
      keys.note({ id: 0 }).set('third'),
    ])
    for (const id of ids) {
      const note =
        id === 0 ? 'third' : id === 3 ? 'x'.repeat(5_000) : id % 2 === 0 ? `second ${id}` : `first ${id}`
      expect(await redis.command('GET', keys.note({ id }).name)).toBe(note)
      expect(await keys.note({ id }).ttlMs()).toBeGreaterThan(3_500_000)
      expect(await keys.kept({ id }).get()).toBe(`kept ${id}`)
      expect(await keys.kept({ id }).ttlMs()).toBe('forever')
      expect(await keys.spread({ id }).get()).toBe(`spread ${id}`)
      expect(await keys.spread({ id }).ttlMs()).toBeLessThanOrEqual(3_600_000)
      expect(await keys.blob({ id }).get()).toEqual(Buffer.from([id, 0xff, 0]))
    }
  })

  test('short writes go out as one script where a command is dear, and by themselves where it is not', async () => {
    const keys = openKeyspace(schema, opened.connection, { prefix: unique() })
    await redis.command('CONFIG', 'RESETSTAT')
    await Promise.all(Array.from({ length: 65 }, (_, id) => keys.note({ id }).set('v')))
    const scripts = (await calls('evalsha')) + (await calls('eval'))
    expect(scripts).toBe(isDear ? 1 : 0)
  })

  test('each write has its own error', async () => {
    const keys = openKeyspace(schema, opened.connection, { prefix: unique() })
    await keys.note({ id: 'there' }).set('before')
    await redis.command('CONFIG', 'SET', 'maxmemory', '1')
    const outcomes = await Promise.allSettled(
      ['a', 'b', 'c', 'there'].map((id) => keys.note({ id }).set('after')),
    )
    await redis.command('CONFIG', 'SET', 'maxmemory', '0')
    for (const [at, id] of ['a', 'b', 'c', 'there'].entries()) {
      expect(outcomes[at]).toMatchObject({ reason: { code: 'E_OUT_OF_MEMORY', key: keys.note({ id }).name } })
    }
    expect(await keys.note({ id: 'there' }).get()).toBe('before')
  })
})

test('who may not run scripts still writes', async () => {
  const [, open] = connections.find(([name]) => name === 'ioredis')!
  await redis.command('ACL', 'SETUSER', 'writer', 'on', 'nopass', '~*', '+@all', '-@scripting')
  const opened = await open(redis)
  try {
    await opened.connection.send(['AUTH', 'writer', 'any'], { firstKey: 0, keyCount: 0 })
    const keys = openKeyspace(schema, opened.connection, { prefix: unique() })
    await Promise.all(['a', 'b', 'c'].map((id) => keys.note({ id }).set(id)))
    expect(await Promise.all(['a', 'b', 'c'].map((id) => keys.note({ id }).get()))).toEqual(['a', 'b', 'c'])
  } finally {
    await opened.close()
  }
})

test.each(defaultClients)(
  'over %s, writes of a tick whose answer was lost are not sent again',
  async (_name, open) => {
    const proxy = await startProxy(redis)
    onTestFinished(() => proxy.stop())
    const { connection, close } = await open(proxy, { requestTimeout: 5_000 })
    onTestFinished(async () => {
      await close()
    })
    const keys = openKeyspace(schema, connection, { prefix: unique() })
    const ids = [1, 2, 3]
    await Promise.all(ids.map((id) => keys.note({ id }).set('before')))
    proxy.stall('replies')
    const lost = ids.map((id) =>
      keys
        .note({ id })
        .set('ours')
        .catch((error: unknown) => error),
    )
    // A client may send them as several commands: what it had not sent when the connection was cut, it may send later.
    const written = () => Promise.all(ids.map((id) => redis.command('GET', keys.note({ id }).name)))
    await eventually(async () => expect(await written()).toEqual(['ours', 'ours', 'ours']))
    await redis.command('SET', keys.note({ id: 1 }).name, 'theirs')
    proxy.cut()
    await proxy.restore()
    for (const error of await Promise.all(lost)) expect(error).toMatchObject({ code: 'E_UNKNOWN_OUTCOME' })
    await eventually(() => connection.send(['PING'], NO_KEY), { within: '20s' })
    expect(await redis.command('GET', keys.note({ id: 1 }).name)).toBe('theirs')
  },
)
