import type { Connection } from 'keyspec'
import { fromNodeRedis } from 'keyspec/node-redis'
import { startRedis, type TemporaryRedis, unique } from 'keyspec/testing'
import { createClient } from 'redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type KeyFacts, scanKeys, type ScanOptions } from './scan.ts'

let server: TemporaryRedis
let connection: Connection
const clients: { destroy(): void }[] = []

async function connected(user?: { username: string; password: string }): Promise<Connection> {
  const client = createClient({ socket: { path: server.socket, tls: false }, ...user })
  await client.connect()
  clients.push(client)
  return fromNodeRedis(client)
}

beforeAll(async () => {
  server = await startRedis()
  connection = await connected()
})

afterAll(async () => {
  for (const client of clients) client.destroy()
  await server.stop()
})

async function walked(options: ScanOptions, over = connection): Promise<KeyFacts[]> {
  const keys: KeyFacts[] = []
  for await (const batch of scanKeys(over, { maxLoad: 1, ...options })) keys.push(...batch)
  return keys
}

test('shows every key with its type and what was asked of it, whatever its bytes are', async () => {
  const prefix = `${unique()}[*?\\:`
  const binary = Buffer.concat([Buffer.from(prefix), Buffer.from([0xff, 0, 0xfe])])
  await server.command('SET', `${prefix}text`, 'x', 'PX', '60000')
  await server.command('SET', binary, 'x')
  await server.command('RPUSH', `${prefix}list`, 'a', 'b')
  await server.command('XADD', `${prefix}stream`, '*', 'a', 'b')
  await server.command('SET', 'elsewhere', 'x')

  const keys = await walked({ prefix, facts: ['ttl', 'memory', 'encoding', 'idle'] })
  const found = new Map(keys.map((key) => [key.name ?? 'binary', key]))
  expect([...found.keys()].sort()).toEqual(
    [`${prefix}list`, `${prefix}stream`, `${prefix}text`, 'binary'].sort(),
  )
  expect(found.get(`${prefix}text`)).toMatchObject({
    type: 'string',
    encoding: 'embstr',
    idleMs: expect.any(Number),
  })
  expect(found.get(`${prefix}text`)!.ttlMs).toBeGreaterThan(50_000)
  expect(found.get('binary')).toMatchObject({ key: binary, type: 'string', ttlMs: 'forever' })
  expect(found.get(`${prefix}list`)).toMatchObject({
    type: 'list',
    encoding: expect.stringMatching(/^(quicklist|listpack)$/), // listpack since Redis 7.2
  })
  expect(found.get(`${prefix}stream`)).toMatchObject({ type: 'stream', ttlMs: 'forever' })
  expect(found.get(`${prefix}list`)!.bytes).toBe(await server.command('MEMORY', 'USAGE', `${prefix}list`))
  expect(found.get(`${prefix}list`)).not.toHaveProperty('elements')
})

test('asks for nothing that was not wanted', async () => {
  const prefix = `${unique()}:`
  await server.command('SET', `${prefix}a`, 'x')
  const [key] = await walked({ prefix })
  expect(key).toEqual({ key: Buffer.from(`${prefix}a`), name: `${prefix}a`, type: 'string' })
})

test('a user who may not run scripts is shown the same', async () => {
  const prefix = `${unique()}:`
  for (let index = 0; index < 300; index += 1)
    void server.command('SET', `${prefix}${index}`, 'x', 'EX', '60')
  await server.command(
    'ACL',
    'SETUSER',
    'reader',
    'on',
    '>secret',
    '~*',
    '+@read',
    '+@keyspace',
    '+ping',
    '+client',
    '-@scripting',
  )
  const reader = await connected({ username: 'reader', password: 'secret' })
  const options = { prefix, facts: ['ttl', 'memory', 'encoding'] } as const
  const [plain, packed] = [await walked(options, reader), await walked(options)]
  const byName = (keys: readonly KeyFacts[]) =>
    keys.map(({ name, type, bytes, encoding }) => `${name} ${type} ${bytes} ${encoding}`).sort()
  expect(plain).toHaveLength(300)
  expect(byName(plain)).toEqual(byName(packed))
})

test('a sample looks at about as many keys as it is told, each once', async () => {
  const prefix = `${unique()}:`
  for (let index = 0; index < 3000; index += 1) void server.command('SET', `${prefix}${index}`, 'x')
  await server.command('PING')
  const sample = await walked({ sample: 500, count: 50 })
  expect(sample.length).toBeGreaterThanOrEqual(500)
  expect(sample.length).toBeLessThan(700)
  expect(new Set(sample.map(({ name }) => name)).size).toBe(sample.length)
})

test('keys that go or change while it walks are shown as they are, or not at all', async () => {
  const prefix = `${unique()}:`
  for (let index = 0; index < 1000; index += 1) void server.command('SET', `${prefix}${index}`, 'x')
  await server.command('PING')
  const keys: KeyFacts[] = []
  for await (const batch of scanKeys(connection, { prefix, count: 20, maxLoad: 1, facts: ['memory'] })) {
    keys.push(...batch)
    for (let n = 0; n < 20; n += 1) {
      const index = Math.floor(Math.random() * 1000)
      void server.command('UNLINK', `${prefix}${index}`)
      if (n % 2 === 0) void server.command('LPUSH', `${prefix}${index}`, 'a')
    }
  }
  expect(new Set(keys.map(({ type }) => type))).toEqual(new Set(['string', 'list']))
  expect(keys.every(({ bytes }) => bytes! > 0)).toBe(true)
})

test('stops where it is when it is told to', async () => {
  const stop = new AbortController()
  for (let index = 0; index < 500; index += 1) void server.command('SET', unique(), 'x')
  await server.command('PING')
  let batches = 0
  const walking = (async () => {
    for await (const batch of scanKeys(connection, { count: 10, signal: stop.signal })) {
      batches += batch.length > 0 ? 1 : 0
      if (batches === 2) stop.abort()
    }
  })()
  await expect(walking).rejects.toThrow(/abort/)
  expect(batches).toBe(2)
})
