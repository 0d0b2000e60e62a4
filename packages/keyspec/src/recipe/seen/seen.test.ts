import { createClient } from 'redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bytes } from '../../codec/bytes.ts'
import { integer } from '../../codec/integer.ts'
import { text } from '../../codec/text.ts'
import { fromNodeRedis } from '../../connection/node-redis.ts'
import { open } from '../../keyspace.ts'
import { unique } from '../../testing/eventually.ts'
import { startRedis, type TemporaryRedis } from '../../testing/redis.ts'
import { seen, type SeenOptions } from './seen.ts'

let server: TemporaryRedis
let client: ReturnType<typeof connect>
const connect = () => createClient({ socket: { path: server.socket, tls: false } })
beforeAll(async () => {
  server = await startRedis()
  client = connect()
  await client.connect()
})
afterAll(async () => {
  client.destroy()
  await server.stop()
})

function suggestions(options: SeenOptions & { prefix?: string; client?: typeof client } = {}) {
  const { prefix = `${unique()}:`, client: over = client, ...rest } = options
  const schema = { suggestions: seen('suggestions:<sessionId>', text, { ttl: '24h', ...rest }) }
  return open(schema, fromNodeRedis(over), { prefix }).suggestions({ sessionId: 's1' })
}

test('claims what was never claimed, in order, and each of the candidates once', async () => {
  const key = suggestions()
  expect(await key.claim(['b', 'a', 'b', 'c'])).toEqual(['b', 'a', 'c'])
  expect(await key.claim(['c', 'd', 'a', 'e'])).toEqual(['d', 'e'])
  expect(await key.claim(['a'])).toEqual([])
  expect(await key.claim([])).toEqual([])
  expect(((await server.command('SMEMBERS', key.name)) as string[]).toSorted()).toEqual([
    'a',
    'b',
    'c',
    'd',
    'e',
  ])
  expect(await server.command('PTTL', key.name)).toBeGreaterThan(86_390_000)
})

test('claims no more than asked, and leaves the others unclaimed', async () => {
  const key = suggestions()
  await key.claim(['a'])
  expect(await key.claim(['a', 'b', 'c', 'd'], { most: 2 })).toEqual(['b', 'c'])
  expect(await key.claim(['x'], { most: 0 })).toEqual([])
  expect(await key.has('d')).toBe(false)
  expect(await key.has('c')).toBe(true)
  expect(await key.size()).toBe(3)
})

test('lets values be claimed again when they are forgotten', async () => {
  const key = suggestions()
  await key.claim(['a', 'b', 'c'])
  expect(await key.forget('a', 'c', 'x')).toBe(2)
  expect(await key.forget()).toBe(0)
  expect(await key.claim(['a', 'b', 'c'])).toEqual(['a', 'c'])
})

test('honours what another program has put into the set', async () => {
  const key = suggestions()
  await server.command('SADD', key.name, 'sha256hash1')
  expect(await key.claim(['sha256hash1', 'sha256hash2'])).toEqual(['sha256hash2'])
  expect(await server.command('PTTL', key.name)).toBeGreaterThan(0)
})

test('claims each candidate for one caller, whoever asks at once over whichever connection', async () => {
  const prefix = `${unique()}:`
  const others = await Promise.all([connect().connect(), connect().connect(), connect().connect()])
  const keys = [client, ...others].map((each) => suggestions({ prefix, client: each }))
  const candidates = Array.from({ length: 200 }, (_, index) => `c${index}`)
  const claimed = await Promise.all(
    Array.from({ length: 80 }, (_, n) => keys[n % 4]!.claim(candidates, { most: 3 })),
  )
  expect(claimed.flat().toSorted()).toEqual(candidates.toSorted())
  expect(await server.command('SCARD', keys[0]!.name)).toBe(200)
  for (const other of others) other.destroy()
})

test('answers values as they were given, numbers and bytes alike', async () => {
  const schema = {
    ids: seen('ids', integer, { ttl: 'forever', because: 'a test' }),
    blobs: seen('blobs', bytes, { ttl: '1h', renew: 'creation' }),
  }
  const keys = open(schema, fromNodeRedis(client), { prefix: `${unique()}:` })
  expect(await keys.ids().claim(new Set([3, 1, 2]))).toEqual([3, 1, 2])
  expect(await server.command('PTTL', keys.ids().name)).toBe(-1)
  const blob = Buffer.from([0, 255, 128])
  expect(await keys.blobs().claim([blob, Buffer.from(blob)])).toEqual([blob])
  expect(await server.commandBuffer('SMEMBERS', keys.blobs().name)).toEqual([blob])
  await server.command('PEXPIRE', keys.blobs().name, 60_000)
  await keys.blobs().claim([Buffer.from('b')])
  expect(await server.command('PTTL', keys.blobs().name)).toBeLessThanOrEqual(60_000)
})

test('does what was declared while Redis cannot be reached', async () => {
  const gone = await startRedis()
  const lost = createClient({ socket: { path: gone.socket, tls: false, reconnectStrategy: false } })
  lost.on('error', () => {})
  await lost.connect()
  await gone.stop()
  const candidates = ['b', 'a', 'b', 'c']
  expect(await suggestions({ client: lost, unreachable: 'all' }).claim(candidates, { most: 2 })).toEqual([
    'b',
    'a',
  ])
  expect(await suggestions({ client: lost, unreachable: 'none' }).claim(candidates)).toEqual([])
  await expect(suggestions({ client: lost }).claim(candidates)).rejects.toThrow()
})
