import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bytes } from '../../codec/bytes.ts'
import { integer } from '../../codec/integer.ts'
import { text } from '../../codec/text.ts'
import type { Connection } from '../../connection/connection.ts'
import { fromNodeRedis } from '../../connection/client/node-redis.ts'
import { NotSentError, UnknownOutcomeError } from '../../errors.ts'
import { open } from '../../keyspace.ts'
import { unique } from '../../testing/eventually.ts'
import { startRedis, type TemporaryRedis } from '../../testing/redis.ts'
import { dedupe, type DedupeOptions } from './dedupe.ts'

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

function suggestions(options: DedupeOptions & { prefix?: string; client?: typeof client } = {}) {
  const { prefix = `${unique()}:`, client: over = client, ...rest } = options
  const schema = { suggestions: dedupe('suggestions:<sessionId>', text, { ttl: '24h', ...rest }) }
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
    ids: dedupe('ids', integer, { ttl: 'forever', reason: 'a test' }),
    blobs: dedupe('blobs', bytes, { ttl: '1h', renew: 'creation' }),
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

/** A connection whose scripts fail from the given one on, as a server that has gone would make them. */
function failingFrom(scripts: number, error: Error): Connection {
  const over = fromNodeRedis(client)
  let run = 0
  return {
    ...over,
    send(command, shape) {
      if (String(command[0]).startsWith('EVAL') && (run += 1) >= scripts) return Promise.reject(error)
      return over.send(command, shape)
    },
  }
}

describe('more than 2,000 candidates', () => {
  const many = Array.from({ length: 5000 }, (_, n) => `c${n}`)
  const declare = (options: DedupeOptions = {}) => ({ ids: dedupe('ids', text, { ttl: '1h', ...options }) })

  test('are claimed in steps, each value for one caller, in order, and no more than asked', async () => {
    const prefix = `${unique()}:`
    const other = await connect().connect()
    const keys = [client, other].map((each) => suggestions({ prefix, client: each }))
    expect(await keys[0]!.claim(many, { most: 2500 })).toEqual(many.slice(0, 2500))
    const claimed = await Promise.all(keys.map((key) => key.claim([...many, ...many])))
    expect(claimed.flat().toSorted()).toEqual(many.slice(2500).toSorted())
    expect(await keys[0]!.size()).toBe(5000)
    expect(await keys[0]!.forget(...many)).toBe(5000)
    other.destroy()
  })

  test('are given back if a later step fails, so that no claim is lost', async () => {
    await suggestions().claim(['warm']) // the script is known to the server, so that each step is one command
    const prefix = `${unique()}:`
    const error = new UnknownOutcomeError('no answer', 'ids')
    const broken = open(declare(), failingFrom(3, error), { prefix }).ids()
    await server.command('SADD', broken.name, 'c1')
    await expect(broken.claim(many)).rejects.toBe(error)
    expect(await server.command('SMEMBERS', broken.name)).toEqual(['c1'])
  })

  test('answer what was declared for those that could not be asked', async () => {
    const error = new NotSentError('closed', 'ids')
    const claimedBy = async (unreachable: 'all' | 'none') => {
      const prefix = `${unique()}:`
      const key = open(declare({ unreachable }), failingFrom(3, error), { prefix }).ids()
      await server.command('SADD', key.name, 'c1')
      return key.claim([...many, 'c0', 'c4999'])
    }
    const asked = many.slice(0, 4000).filter((id) => id !== 'c1')
    expect(await claimedBy('none')).toEqual(asked)
    expect(await claimedBy('all')).toEqual([...asked, ...many.slice(4000)])
  })
})
