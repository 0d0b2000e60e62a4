import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bytes } from '../../codec/bytes.ts'
import { number } from '../../codec/number.ts'
import { integer } from '../../codec/integer.ts'
import { fromNodeRedis } from '../../connection/client/node-redis.ts'
import { DecodeError, EncodeError, SchemaError } from '../../errors.ts'
import { open } from '../../keyspace.ts'
import { validate } from '../../schema.ts'
import { eventually, unique } from '../../testing/eventually.ts'
import { startRedis, type TemporaryRedis } from '../../testing/redis.ts'
import type { SwapOptions } from './replace.ts'
import { swapHash } from './swap-hash.ts'
import { swapSet } from './swap-set.ts'

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

const forever = { ttl: 'forever', reason: 'replaced whole by each successful run' } as const

interface Over extends Partial<SwapOptions> {
  prefix?: string
  client?: typeof client
}

function opened({ prefix = `${unique()}:`, client: over = client, ...options }: Over = {}) {
  const schema = {
    trending: swapSet('trending:current', integer, { staging: 'trending:next', ...forever, ...options }),
    scored: swapHash('scored:current', integer, number, {
      staging: 'scored:next',
      ...forever,
      ...options,
    }),
    local: swapSet('local:<country>', integer, { staging: 'local:<country>:next', ttl: '2d' }),
  }
  return open(schema, fromNodeRedis(over), { prefix })
}

/** A client whose Redis is gone. */
async function lost() {
  const gone = await startRedis()
  const client = createClient({ socket: { path: gone.socket, tls: false, reconnectStrategy: false } })
  client.on('error', () => {})
  await client.connect()
  await gone.stop()
  return client
}

describe('a set', () => {
  test('is replaced whole, and leaves no staging key', async () => {
    const prefix = `${unique()}:`
    const key = opened({ prefix }).trending()
    expect(await key.replace([603, 604, 603])).toEqual({ replaced: true, size: 2 })
    expect(await key.members()).toEqual(new Set([603, 604]))
    expect(await key.replace(new Set([1, 2, 3]))).toEqual({ replaced: true, size: 3 })
    expect(await key.members()).toEqual(new Set([1, 2, 3]))
    expect(await key.size()).toBe(3)
    expect(await key.has(2)).toBe(true)
    expect(await key.has(603)).toBe(false)
    expect(((await server.command('SMEMBERS', `${prefix}trending:current`)) as string[]).toSorted()).toEqual([
      '1',
      '2',
      '3',
    ])
    expect(await server.command('TTL', `${prefix}trending:current`)).toBe(-1)
    expect(await server.command('EXISTS', `${prefix}trending:next`)).toBe(0)
  })

  test('stays as it is when there is nothing to put in its place', async () => {
    const key = opened().trending()
    await key.replace([1])
    expect(await key.replace([])).toEqual({ replaced: false, reason: 'empty' })
    expect(await key.members()).toEqual(new Set([1]))
  })

  test('ignores what another program left in the staging key', async () => {
    const prefix = `${unique()}:`
    const key = opened({ prefix }).trending()
    await server.command('SADD', `${prefix}trending:next`, '99')
    await key.replace([1])
    expect(await key.members()).toEqual(new Set([1]))
  })

  test('takes more values than Lua can unpack', async () => {
    const key = opened().trending()
    const values = Array.from({ length: 30_000 }, (_, index) => index)
    expect(await key.replace(values)).toEqual({ replaced: true, size: 30_000 })
    expect(await key.members()).toEqual(new Set(values))
  })

  test('reads as empty where it is missing, and says so once for each read', async () => {
    const missing: unknown[][] = []
    const key = opened({ onMissing: (...told) => missing.push(told) }).trending()
    expect(await key.members()).toEqual(new Set())
    expect(missing).toEqual([[key.name]])
    await key.replace([1])
    await key.members()
    expect(missing).toHaveLength(1)
  })

  test('stays whole when a value cannot be written', async () => {
    const key = opened().trending()
    await key.replace([1])
    await expect(key.replace([2, 2.5])).rejects.toThrow(EncodeError)
    expect(await key.members()).toEqual(new Set([1]))
  })

  test('names the key that holds a value of another kind', async () => {
    const key = opened().trending()
    await server.command('SADD', key.name, 'one')
    await expect(key.members()).rejects.toThrow(DecodeError)
  })

  test('has the time to live it declares, anew with each replacement, for each of its keys', async () => {
    const prefix = `${unique()}:`
    const key = opened({ prefix }).local({ country: 'fr' })
    await key.replace([1])
    await server.command('PEXPIRE', `${prefix}local:fr`, 1000)
    await key.replace([2])
    expect(await server.command('PTTL', `${prefix}local:fr`)).toBeGreaterThan(172_790_000)
    expect(await server.command('EXISTS', `${prefix}local:fr:next`)).toBe(0)
  })

  test('is never absent nor mixed while several writers replace it', async () => {
    const prefix = `${unique()}:`
    const others = await Promise.all([connect().connect(), connect().connect(), connect().connect()])
    const writers = [client, ...others].map((each) => opened({ prefix, client: each }).trending())
    // The set of a writer is 5,000 numbers with his remainder by four: two slices of a script.
    const mine = writers.map((_, who) => Array.from({ length: 5000 }, (_, n) => n * 4 + who))
    await writers[0]!.replace(mine[0]!)
    const looks: { size: number; writers: Set<number> }[] = []
    let writing = true
    const own = await connect().connect()
    const reader = (async () => {
      const key = opened({ prefix, client: own }).trending()
      while (writing) {
        const members = await key.members()
        looks.push({ size: members.size, writers: new Set([...members].map((member) => member % 4)) })
      }
    })()
    await Promise.all(
      writers.map(async (key, who) => {
        for (let round = 0; round < 15; round += 1) await key.replace(mine[who]!)
      }),
    )
    writing = false
    await reader
    expect(looks.length).toBeGreaterThan(0)
    for (const look of looks) {
      expect(look.size).toBe(5000)
      expect(look.writers.size).toBe(1)
    }
    for (const other of [...others, own]) other.destroy()
  })

  test('frees the old elements in the background', async () => {
    const key = opened().trending()
    await key.replace(Array.from({ length: 10_000 }, (_, n) => n))
    const freed = async () =>
      Number(/lazyfreed_objects:(\d+)/.exec(String(await server.command('INFO', 'memory')))?.[1])
    const before = await freed()
    await key.replace([1])
    await eventually(async () => expect(await freed()).toBeGreaterThan(before))
  })

  test.each(['rename', 'unlink', 'pexpire'])(
    'stays whole for a user without the permission for %s',
    async (forbidden) => {
      const prefix = `${unique()}:`
      const allowed = opened({ prefix }).local({ country: 'fr' })
      await allowed.replace([1])
      const username = unique()
      await server.command('ACL', 'SETUSER', username, 'on', 'nopass', '~*', '+@all', `-${forbidden}`)
      const limited = createClient({ socket: { path: server.socket, tls: false }, username, password: 'any' })
      await limited.connect()
      const denied = opened({ prefix, client: limited }).local({ country: 'fr' })
      await expect(denied.replace([2])).rejects.toThrow()
      expect(await allowed.members()).toEqual(new Set([1]))
      limited.destroy()
    },
  )

  test('keeps bytes as they are', async () => {
    const schema = { blobs: swapSet('blobs', bytes, { staging: 'blobs:next', ttl: '1h' }) }
    const key = open(schema, fromNodeRedis(client), { prefix: `${unique()}:` }).blobs()
    const blob = Buffer.from([0, 255, 128])
    await key.replace([blob])
    expect([...(await key.members())]).toEqual([blob])
    expect(await key.has(blob)).toBe(true)
  })
})

describe('a hash of scores', () => {
  test('is replaced whole and read back as a map', async () => {
    const prefix = `${unique()}:`
    const key = opened({ prefix }).scored()
    const scores = new Map([
      [603, 0.97],
      [604, 0.31],
    ])
    await key.replace([[1, 0]])
    expect(await key.replace(scores)).toEqual({ replaced: true, size: 2 })
    expect(await key.scores()).toEqual(scores)
    expect(await key.score(603)).toBe(0.97)
    expect(await key.score(1)).toBeUndefined()
    expect(await key.has(604)).toBe(true)
    expect(await key.size()).toBe(2)
    expect(await server.command('HGET', `${prefix}scored:current`, '604')).toBe('0.31')
    expect(await server.command('EXISTS', `${prefix}scored:next`)).toBe(0)
  })

  test('keeps pairs together over many slices', async () => {
    const key = opened().scored()
    const scores = new Map(Array.from({ length: 9001 }, (_, n) => [n, n / 2]))
    expect(await key.replace(scores)).toEqual({ replaced: true, size: 9001 })
    expect(await key.scores()).toEqual(scores)
  })

  test('reads as empty where it is missing, and stays when nothing comes', async () => {
    const missing: string[] = []
    const key = opened({ onMissing: (name) => missing.push(name) }).scored()
    expect(await key.scores()).toEqual(new Map())
    expect(missing).toEqual([key.name])
    expect(await key.replace([])).toEqual({ replaced: false, reason: 'empty' })
  })

  test('reads members as text beside scores in bytes', async () => {
    const schema = { map: swapHash('map', integer, bytes, { staging: 'map:next', ttl: '1h' }) }
    const key = open(schema, fromNodeRedis(client), { prefix: `${unique()}:` }).map()
    const blob = Buffer.from([0, 255, 128])
    await key.replace([[7, blob]])
    expect(await key.scores()).toEqual(new Map([[7, blob]]))
    expect(await key.score(7)).toEqual(blob)
  })
})

test('reads as missing while Redis cannot be reached, where that is declared', async () => {
  const client = await lost()
  const told: unknown[][] = []
  const keys = opened({ client, unreachable: 'empty', onMissing: (...what) => told.push(what) })
  expect(await keys.trending().members()).toEqual(new Set())
  expect(await keys.scored().scores()).toEqual(new Map())
  expect(told).toEqual([
    [keys.trending().name, expect.any(Error)],
    [keys.scored().name, expect.any(Error)],
  ])
  await expect(keys.trending().replace([1])).rejects.toThrow()
  await expect(opened({ client }).trending().members()).rejects.toThrow()
})

test('is refused where its two keys could not be exchanged', () => {
  const crossing = {
    trending: swapSet('trending:current', integer, { staging: 'trending:next', ...forever }),
  }
  expect(() => validate(crossing, { cluster: true })).toThrow('give them the same {hash tag}')
  const tagged = {
    trending: swapSet('{trending}:current', integer, { staging: '{trending}:next', ...forever }),
  }
  expect(() => validate(tagged, { cluster: true })).not.toThrow()
  expect(() => swapSet('t:<country>', integer, { staging: 't:next', ...forever })).toThrow(SchemaError)
})
