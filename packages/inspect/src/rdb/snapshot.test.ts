import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Connection } from 'keyspec'
import { fromNodeRedis } from 'keyspec/node-redis'
import { eventually, startRedis, type TemporaryRedis } from 'keyspec/testing'
import { createClient } from 'redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { all } from '../../../../test-support/connected.ts'
import { peeker, type StoredValue } from '../scan/peek.ts'
import { type KeyFacts, scanKeys } from '../scan/scan.ts'
import { replicaSnapshot } from './replica.ts'
import { SnapshotError } from './snapshot-error.ts'
import { snapshotSource, type SnapshotSourceOptions } from './snapshot.ts'
import { isRedis6, embedsKeys } from '../../../../test-support/server-version.ts'

let redis: TemporaryRedis
let connection: Connection
/** The whole of it, and one without what is large, which is read again and again. */
let large: Buffer
let small: Buffer

beforeAll(async () => {
  // Redis 6.2 has DEBUG without a setting.
  const debug: Record<string, string> = isRedis6 ? {} : { 'enable-debug-command': 'yes' }
  redis = await startRedis({ config: { ...debug, 'repl-diskless-sync-delay': '0' } })
  const client = createClient({ socket: { path: redis.socket, tls: false } })
  await client.connect()
  connection = fromNodeRedis(client)
  afterAll(async () => {
    client.destroy()
    await redis.stop()
  })
  await fillSmall()
  small = await saved()
  await fillLarge()
  large = await saved()
}, 60_000)

async function saved(): Promise<Buffer> {
  // Refused while the server saves by itself, as after many writes.
  await eventually(() => redis.command('SAVE'), { within: '20s' })
  return readFileSync(join(redis.directory, 'dump.rdb'))
}

async function fillSmall(): Promise<void> {
  const { command } = redis
  // Names that are numbers, that can be packed, that are none, and that are no text.
  for (const name of ['', '7', '-300', '70000', '5000000000', 'ab'.repeat(30), 'é:\n', '\u0000'])
    await command('SET', name, 'x')
  await command('SET', Buffer.from([0xff, 0x3a, 0x80]), 'x')
  for (const [at, value] of [
    '0',
    '-1',
    '300',
    '-70000',
    '2147483648',
    '-9223372036854775808',
    '9223372036854775807', // what is an int
    '9223372036854775808',
    '007',
    '+1',
    '1.5',
    '',
    '-',
    'text',
    'x'.repeat(44),
    '-0', // what is embstr
    'x'.repeat(45),
    'ab'.repeat(500),
    '€'.repeat(30), // what is raw
  ].entries())
    await command('SET', `string:${at}`, value)
  await command('SET', 'ttl:hour', 'x', 'PX', 3_600_000)
  await command('SET', 'ttl:century', 'x', 'PXAT', 4_000_000_000_123)
  await command('RPUSH', 'list:small', 'a', '1', '-5', '300', '-70000', '5000000000', 'x'.repeat(100))
  await command('SADD', 'set:ints', 1, 2, -3)
  await command('SADD', 'set:wide', 1, 70_000, 5_000_000_000)
  await command('SADD', 'set:words', 'a', 'b')
  await command('HSET', 'hash:small', 'a', 1, 'b', 'two')
  await command('ZADD', 'zset:small', 1.5, 'a', '-inf', 'b', 3, 'c')
  await command('XADD', 'stream:empty', 'MAXLEN', 0, '1-1', 'a', 'b')
  for (let at = 1; at < 10; at += 1) {
    await command('XADD', 'stream:groups', `5-${at}`, 'user', `u${at}`, 'at', at)
    await command('XADD', 'stream:mixed', `${at}00-0`, at % 2 === 0 ? 'even' : 'odd', at)
  }
  await command('XDEL', 'stream:mixed', '100-0', '500-0')
  await command('XGROUP', 'CREATE', 'stream:groups', 'one', '0')
  await command('XGROUP', 'CREATE', 'stream:groups', 'two', '$')
  await command('XREADGROUP', 'GROUP', 'one', 'ann', 'COUNT', 3, 'STREAMS', 'stream:groups', '>')
  await command('XREADGROUP', 'GROUP', 'one', 'bob', 'COUNT', 2, 'STREAMS', 'stream:groups', '>')
  if (isRedis6) return // it has no functions
  await command('FUNCTION', 'LOAD', '#!lua name=own\nredis.register_function("own", function() return 1 end)')
}

async function fillLarge(): Promise<void> {
  const { command } = redis
  await command('SETRANGE', 'large:string', 10 * 2 ** 20, 'x')
  await command('CONFIG', 'SET', 'rdbcompression', 'no')
  await command('SETRANGE', 'large:unpacked', 2 ** 21, 'x')
  await command('SET', 'n'.repeat(2 ** 18), 'x')
  if (!isRedis6) await command('DEBUG', 'QUICKLIST-PACKED-THRESHOLD', '100b')
  await command('RPUSH', 'list:plain', 'y'.repeat(200), 'small', 'z'.repeat(300))
  const fill = `for at = 1, 3000 do
    redis.call('RPUSH', 'list:long', 'element ' .. at)
    redis.call('SADD', 'set:large', 'member ' .. at)
    redis.call('HSET', 'hash:large', 'field ' .. at, string.rep('v', at % 100))
    redis.call('ZADD', 'zset:large', at / 3, 'member ' .. at)
    redis.call('XADD', 'stream:long', '*', 'at', at)
    redis.call('SET', 'many:' .. at, at, 'EX', 1000)
  end`
  await command('EVAL', fill, '0')
  await command('SELECT', 3)
  await command('SET', 'elsewhere', 'x')
  await command('SELECT', 0)
}

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

interface Found {
  readonly keys: readonly KeyFacts[]
  readonly values: readonly StoredValue[]
  readonly facts: ReturnType<typeof snapshotSource>['facts'][number]
}

async function read(
  bytes: AsyncIterable<Uint8Array>,
  options?: SnapshotSourceOptions,
  goesOn = false,
): Promise<Found> {
  const source = snapshotSource([{ open: () => bytes, goesOn }], options)
  const keys: KeyFacts[] = []
  const values: StoredValue[] = []
  for await (const step of source.steps({})) {
    keys.push(...step.keys)
    for await (const peeked of source.values(step.keys, {})) values.push(...peeked)
  }
  return { keys, values, facts: source.facts[0]! }
}

const id = ({ key }: KeyFacts) => key.toString('latin1')
const sorted = (keys: readonly KeyFacts[], told: (key: KeyFacts) => unknown) =>
  keys
    .map((key) => [id(key).slice(0, 100), told(key)] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))

test('shows the keys, types, encodings and times to live that the server has', async () => {
  const { keys, facts } = await read(pieces(large, 2 ** 16))
  const live = (await all(scanKeys(connection, { maxLoad: 1, facts: ['ttl', 'encoding'] }))).flat()
  expect(keys.length).toBeGreaterThan(3_040)
  const told = ({ name, type, encoding }: KeyFacts) => ({ name, type, encoding })
  // There its encoding is a matter of its key and its time to live too.
  const asked = (key: KeyFacts) =>
    told(embedsKeys && key.type === 'string' ? { ...key, encoding: 'unknown' } : key)
  // What was written piece by piece stays `raw`, however short; here nothing is.
  expect(sorted(keys, told)).toEqual(sorted(live, asked))
  const before = new Map(live.map((key) => [id(key), key.ttlMs!]))
  for (const key of keys) {
    const ttlMs = before.get(id(key))!
    if (ttlMs === 'forever') expect(key.ttlMs).toBe('forever')
    // It was taken before the walk, and is known to the second.
    else expect(Math.abs((key.ttlMs as number) - ttlMs)).toBeLessThan(60_000)
  }
  expect(facts).toMatchObject({
    server: expect.stringMatching(/^(Redis|Valkey) \d/),
    size: keys.length,
    expired: 0,
    elsewhere: 1,
    bytes: large.length,
  })
  expect(Math.abs(Date.now() - facts.takenAtMs!)).toBeLessThan(60_000)
})

test('sizes are those of the file: together with its head they make up all of it', async () => {
  const { keys } = await read(pieces(large, 2 ** 20))
  const total = keys.reduce((sum, { bytes }) => sum + bytes!, 0)
  expect(large.length - total).toBeGreaterThan(0)
  expect(large.length - total).toBeLessThan(400)
  const unpacked = keys.find(({ name }) => name === 'large:unpacked')!
  expect(unpacked.bytes).toBe('large:unpacked'.length + 1 + 1 + 5 + 2 ** 21 + 1)
})

test('values begin as the server shows them', async () => {
  const { keys, values } = await read(pieces(large, 2 ** 16))
  const peek = peeker()
  const compared: string[] = []
  for (const [at, key] of keys.entries()) {
    const { name, type, encoding } = key
    if (name?.startsWith('many:') === true) continue
    const { count, ...begun } = await peek.alone(connection, key.key)
    if (encoding === 'hashtable')
      expect(values[at]!.elements.length).toBe(Math.min(count, 10) * (type === 'hash' ? 2 : 1))
    else if (encoding === 'skiplist') expect(values[at]!.elements.length).toBe(20)
    else expect(values[at], `${name}`).toEqual(begun)
    compared.push(type)
  }
  expect(new Set(compared)).toEqual(new Set(['string', 'list', 'set', 'hash', 'zset', 'stream']))
})

test('of a large collection the beginning is kept, and no more than is asked for', async () => {
  const { keys, values } = await read(pieces(large, 1000), { valueBytes: 2000 })
  const elements = (name: string) => {
    const { elements, omitted } = values[keys.findIndex((key) => key.name === name)]!
    return [elements.length, omitted]
  }
  expect([elements('set:large'), elements('hash:large'), elements('zset:large')]).toEqual([
    [10, 0],
    [20, 0],
    [20, 0],
  ])
  // Its first node is larger than that.
  expect(elements('list:long')).toEqual([0, 1])
  expect(elements('string:16')).toEqual([1, 0])
  const none = await read(pieces(large, 1000), { valueBytes: 0 })
  expect(none.values.every((value) => value.elements.length === 0)).toBe(true)
  expect(none.keys.length).toBe(keys.length)
})

test('it makes no difference in which pieces the bytes come', async () => {
  const told = async (size: number) => {
    const { keys, values } = await read(pieces(small, size))
    return keys.map(({ key, name, type, ttlMs, bytes, encoding, idleMs }, at) => ({
      key,
      name,
      type,
      ttlMs,
      bytes,
      encoding,
      idleMs,
      value: values[at],
    }))
  }
  const whole = await told(small.length)
  for (const size of [1, 2, 3, 17, 1000]) expect(await told(size)).toEqual(whole)
})

test('a server sends it to a replica, by its length or straight from the process that saves', async () => {
  const whole = await read(pieces(large, 2 ** 16))
  for (const diskless of ['yes', 'no']) {
    await redis.command('CONFIG', 'SET', 'repl-diskless-sync', diskless)
    const { keys, facts } = await read(replicaSnapshot({ path: redis.socket }), {}, true)
    expect(sorted(keys, ({ type, bytes }) => [type, bytes])).toEqual(
      sorted(whole.keys, ({ type, bytes }) => [type, bytes]),
    )
    expect(facts.elsewhere).toBe(1)
  }
  // The server saves to its disk, twice, and waits until it is there.
}, 120_000)

test('where the connection stays open, it ends with its last byte', async () => {
  await using own = await startRedis()
  // A value that is kept, with less behind it than it has itself.
  await own.command('RPUSH', 'list', ...Array.from({ length: 100 }, (_, at) => `element ${at}`))
  await own.command('SAVE')
  const bytes = readFileSync(join(own.directory, 'dump.rdb'))
  for (let to = bytes.length - 200; to < bytes.length; to += 1) {
    async function* open(): AsyncGenerator<Buffer> {
      yield bytes.subarray(0, to)
      // Redis 6.2 sends a mark behind it, and waits.
      yield Buffer.concat([bytes.subarray(to), Buffer.alloc(40, 'm')])
      await new Promise(() => {})
    }
    expect((await read(open(), {}, true)).keys.map(({ name }) => name)).toEqual(['list'])
  }
})

test('a user that may not replicate is told what to do', async () => {
  await redis.command('ACL', 'SETUSER', 'reader', 'on', '>secret', '~*', '+@read')
  const reader = { path: redis.socket, username: 'reader', password: 'secret' }
  await expect(all(replicaSnapshot(reader))).rejects.toThrow(/sends no snapshot: NOPERM.*dump\.rdb/)
  await expect(all(replicaSnapshot({ ...reader, password: 'wrong' }))).rejects.toThrow(/WRONGPASS/)
  await redis.command('ACL', 'SETUSER', 'replica', 'on', '>secret', '+psync', '+replconf')
  const part = {
    open: () => replicaSnapshot({ path: redis.socket, username: 'replica', password: 'secret' }),
    goesOn: true,
  }
  expect(
    (await all(snapshotSource([part]).steps({ prefix: 'string:' }))).flatMap(({ keys }) => keys),
  ).toHaveLength(19)
})

test('idle times are there under an LRU policy, and under an LFU policy nothing is in the way', async () => {
  for (const policy of ['allkeys-lru', 'allkeys-lfu']) {
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', policy)
    const { keys } = await read(pieces(await saved(), 5000))
    expect(keys.length).toBeGreaterThan(3_000)
    expect(keys.every(({ idleMs }) => (policy === 'allkeys-lru' ? idleMs! >= 0 : idleMs === undefined))).toBe(
      true,
    )
  }
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
})

test('a key that had run out is gone, and counted', async () => {
  // A server that does not remove what has run out saves it.
  await redis.command('DEBUG', 'SET-ACTIVE-EXPIRE', 0)
  await redis.command('SET', 'expired', 'x', 'PX', 1)
  const bytes = await saved()
  // The file knows seconds, so this is taken a second later, by what it says of itself.
  const at = bytes.indexOf('ctime') + 'ctime'.length + 1
  const later = Buffer.from(bytes)
  later.writeInt32LE(later.readInt32LE(at) + 1, at)
  later.fill(0, later.length - 8)
  const { keys, facts } = await read(pieces(later, 2 ** 16))
  expect([facts.expired, keys.some(({ name }) => name === 'expired')]).toEqual([1, false])
  expect(facts.size).toBe(keys.length + 1)
})

async function faultOf(bytes: Buffer): Promise<string | undefined> {
  try {
    await read(pieces(bytes, 2 ** 16), { valueBytes: 0 })
    return undefined
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error
    return error.fault
  }
}

test('wherever it is cut off, it says that it is not whole', async () => {
  for (let to = 0; to < small.length; to += 2)
    expect([to, await faultOf(small.subarray(0, to))]).toEqual([to, 'truncated'])
  expect(await faultOf(small)).toBe(undefined)
})

test('whatever is damaged where there is no checksum, what is wrong has a code', async () => {
  const found = new Set<string>()
  for (let at = 0; at < small.length - 8; at += 1) {
    const changed = Buffer.from(small)
    changed.fill(0, small.length - 8)
    changed[at]! ^= at % 2 === 0 ? 0xff : 1 << (at % 8)
    const source = snapshotSource([{ open: () => pieces(changed, 2 ** 16) }])
    try {
      for await (const { keys } of source.steps({ prefix: '' })) await all(source.values(keys, {}))
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error
      found.add(error.fault)
    }
  }
  expect([...found].toSorted()).toEqual(['damaged', 'foreign', 'truncated', 'unknown'])
})

test('no byte can change unseen', async () => {
  for (let at = 0; at < small.length; at += 2) {
    const changed = Buffer.from(small)
    changed[at]! ^= 1 << (at % 8)
    expect([at, await faultOf(changed)]).toEqual([
      at,
      expect.stringMatching(/^(foreign|unknown|truncated|damaged)$/),
    ])
  }
})

test('what follows its end is not passed over in silence', async () => {
  await expect(read(pieces(Buffer.concat([small, Buffer.from('*2\r\n')]), 100))).rejects.toThrow(
    /append-only file/,
  )
})
