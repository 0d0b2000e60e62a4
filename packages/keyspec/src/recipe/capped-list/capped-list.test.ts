import { createClient } from 'redis'
import * as v from 'valibot'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bytes } from '../../codec/bytes.ts'
import { json } from '../../codec/json.ts'
import { text } from '../../codec/text.ts'
import { fromNodeRedis } from '../../connection/client/node-redis.ts'
import { EncodeError, SchemaError } from '../../errors.ts'
import { open } from '../../keyspace.ts'
import { unique } from '../../testing/eventually.ts'
import { startRedis, type TemporaryRedis } from '../../testing/redis.ts'
import { cappedList } from './capped-list.ts'

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

const Topic = v.object({ canonical_title: v.string() })
const topic = (canonical_title: string) => ({ canonical_title })
const options = { most: 3, ttl: '24h' } as const

function history(prefix = unique()) {
  const keys = open(
    { history: cappedList('topic_history:<id>', json(Topic), options) },
    fromNodeRedis(client),
    {
      prefix: `${prefix}:`,
    },
  )
  return keys.history({ id: 7 })
}

test('keeps the newest values, newest first, as the list of the document', async () => {
  const key = history()
  expect(await key.add(topic('a'))).toBe(1)
  expect(await key.add(topic('b'), topic('c'), topic('d'))).toBe(3)
  expect(await key.list()).toEqual([topic('d'), topic('c'), topic('b')])
  expect(await key.list(2)).toEqual([topic('d'), topic('c')])
  expect(await key.list(0)).toEqual([])
  expect(await key.list(99)).toHaveLength(3)
  expect(await key.latest()).toEqual(topic('d'))
  expect(await key.size()).toBe(3)
  expect(await server.command('LRANGE', key.name, 0, -1)).toEqual(
    ['d', 'c', 'b'].map((title) => `{"canonical_title":"${title}"}`),
  )
})

test('gives the list its time to live with every value added', async () => {
  const key = history()
  await key.add(topic('a'))
  expect(await server.command('PTTL', key.name)).toBeGreaterThan(86_390_000)
  await server.command('PEXPIRE', key.name, 1000)
  await key.add(topic('b'))
  expect(await server.command('PTTL', key.name)).toBeGreaterThan(86_390_000)
})

test('keeps the time to live that it was given at its creation where that is declared', async () => {
  const schema = { list: cappedList('list', text, { most: 2, ttl: '1h', renew: 'creation' }) }
  const key = open(schema, fromNodeRedis(client), { prefix: `${unique()}:` }).list()
  await key.add('a')
  expect(await server.command('PTTL', key.name)).toBeGreaterThan(3_590_000)
  await server.command('PEXPIRE', key.name, 60_000)
  await key.add('b')
  expect(await server.command('PTTL', key.name)).toBeLessThanOrEqual(60_000)
})

test('cuts a longer list of an older program at the next value added, and shows no more than it keeps before', async () => {
  const key = history()
  await server.command('RPUSH', key.name, ...['e', 'd', 'c', 'b', 'a'].map((t) => JSON.stringify(topic(t))))
  expect(await key.list()).toEqual([topic('e'), topic('d'), topic('c')])
  expect(await key.size()).toBe(3)
  await key.add(topic('f'))
  expect(await server.command('LLEN', key.name)).toBe(3)
  expect(await server.command('PTTL', key.name)).toBeGreaterThan(0)
  expect(await key.list()).toEqual([topic('f'), topic('e'), topic('d')])
})

test('adds more values at once than Lua can unpack', async () => {
  const schema = { list: cappedList('list', text, { most: 20_000, ttl: 'forever', reason: 'a test' }) }
  const key = open(schema, fromNodeRedis(client), { prefix: `${unique()}:` }).list()
  const values = Array.from({ length: 25_000 }, (_, index) => String(index))
  expect(await key.add(...values)).toBe(20_000)
  expect(await key.list()).toEqual(values.slice(5000).toReversed())
  expect(await server.command('PTTL', key.name)).toBe(-1)
})

test('never holds more than it keeps, nor loses its time to live, whoever adds at once', async () => {
  const prefix = unique()
  const others = await Promise.all([connect().connect(), connect().connect()])
  const keys = [client, ...others].map((each) =>
    open({ list: cappedList('list', text, options) }, fromNodeRedis(each), { prefix }).list(),
  )
  await Promise.all(keys.flatMap((key, who) => Array.from({ length: 50 }, (_, n) => key.add(`${who}-${n}`))))
  expect(await server.command('LLEN', keys[0]!.name)).toBe(3)
  expect(await server.command('PTTL', keys[0]!.name)).toBeGreaterThan(0)
  for (const other of others) other.destroy()
})

test('keeps bytes as they are', async () => {
  const schema = { list: cappedList('list', bytes, options) }
  const key = open(schema, fromNodeRedis(client), { prefix: `${unique()}:` }).list()
  const value = Buffer.from([0, 255, 128, 13, 10])
  await key.add(value)
  expect(await key.list()).toEqual([value])
  expect(await key.latest()).toEqual(value)
})

test('is empty before the first value and after clear', async () => {
  const key = history()
  expect(await key.list()).toEqual([])
  expect(await key.latest()).toBeUndefined()
  expect(await key.clear()).toBe(false)
  await key.add(topic('a'))
  expect(await key.clear()).toBe(true)
  expect(await server.command('EXISTS', key.name)).toBe(0)
})

test('writes nothing when one of the values is none of its codec', async () => {
  const key = history()
  await expect(key.add(topic('a'), { title: 'b' } as never)).rejects.toThrow(EncodeError)
  expect(await server.command('EXISTS', key.name)).toBe(0)
})

test('refuses to keep no values, or half a one', () => {
  for (const most of [0, -1, 1.5, NaN])
    expect(() => cappedList('list', text, { most, ttl: '1h' })).toThrow(SchemaError)
})
