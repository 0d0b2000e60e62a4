import { type Connection, type Schema, string, text } from 'keyspec'
import { ALL_KEYS } from 'keyspec/extend'
import { fromNodeRedis } from 'keyspec/node-redis'
import { createClient } from 'redis'
import { afterAll, expect, test } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import { decodeDump } from '../rdb/decode-dump.ts'
import { diffArchive, type DiffStep, diffServers } from './diff.ts'
import type { DiffOptions } from './difference.ts'
import { exportKeys } from './export.ts'
import { inspectArchive } from './inspect-archive.ts'
import { type SelectionOptions, selectKeys } from '../scan/selection.ts'

// Two databases of one server are two servers to everybody who looks.
const { redis, connection: here } = await connected()
const client = createClient({ socket: { path: redis.socket, tls: false }, database: 1 })
await client.connect()
afterAll(() => client.destroy())
const there = fromNodeRedis(client)
const schema: Schema = { page: string('page:<id>', text, { ttl: '1h' }) }

const on = {
  here: (...words: string[]) => redis.command(...(words as [string])),
  there: (...words: string[]) => there.send(words, ALL_KEYS),
}

async function fresh(): Promise<void> {
  await redis.command('FLUSHALL')
  await configure(PLAIN)
}

// Named as Redis 6.2 does, which later versions understand.
const PLAIN = {
  'hash-max-ziplist-entries': '512',
  'zset-max-ziplist-entries': '128',
  'set-max-intset-entries': '512',
}
const LARGE = {
  'hash-max-ziplist-entries': '0',
  'zset-max-ziplist-entries': '0',
  'set-max-intset-entries': '0',
}

/** One setting at a time, as Redis 6.2 takes no more. */
async function configure(settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(settings)) await redis.command('CONFIG', 'SET', name, value)
}

async function differences(options: DiffOptions & SelectionOptions = {}) {
  const steps = await all(diffServers(here, there, selectKeys(schema, options), { maxLoad: 1, ...options }))
  return summary(steps)
}

async function fromFile(options: DiffOptions & SelectionOptions = {}) {
  const selection = selectKeys(schema)
  const parts = await all(exportKeys(there, selection, { schema, keyspec: '0.1.0', maxLoad: 1 }))
  async function* source() {
    yield* parts.map(({ bytes }) => bytes)
  }
  const { records } = await inspectArchive(source)
  return summary(
    await all(diffArchive(here, source, records, selectKeys(schema, options), { maxLoad: 1, ...options })),
  )
}

function summary(steps: readonly DiffStep[]): string[] {
  return steps
    .flatMap((step) => step.differences)
    .map(({ key, kind, what }) => [String(key), kind, ...what].join(' '))
    .sort()
}

test('says what is only here, only there, and in what the others differ', async () => {
  await fresh()
  for (const name of ['same', 'ours', 'value', 'type', 'ttl', 'lasting']) await on.here('SET', name, 'x')
  for (const name of ['same', 'theirs', 'ttl', 'lasting']) await on.there('SET', name, 'x')
  await on.there('SET', 'value', 'y')
  await on.there('LPUSH', 'type', 'x')
  await on.here('EXPIRE', 'ttl', '1000')
  await on.there('EXPIRE', 'ttl', '1060')
  await on.there('EXPIRE', 'lasting', '1060')
  const expected = [
    'lasting different ttl',
    'ours only-here',
    'theirs only-there',
    'ttl different ttl',
    'type different type',
    'value different value',
  ]
  expect(await differences()).toEqual(expected)
  expect(await fromFile()).toEqual(expected)
  expect(await differences({ ttlTolerance: '61s' })).not.toContain('ttl different ttl')
  expect(await differences({ under: 't' })).toEqual(expected.filter((line) => line.startsWith('t')))
  expect(await fromFile({ under: 't' })).toEqual(expected.filter((line) => line.startsWith('t')))
})

test('what is about to expire is no difference', async () => {
  await fresh()
  await on.here('SET', 'short', 'x', 'PX', '4000')
  await on.there('SET', 'long', 'x', 'PX', '40000')
  expect(await differences()).toEqual(['long only-there'])
})

/** The same of every type, in another order, written at once or bit by bit. */
async function filled(to: (...words: string[]) => Promise<unknown>, isReversed: boolean): Promise<void> {
  const inOrder = <T>(items: T[]) => (isReversed ? items.toReversed() : items)
  const numbers = Array.from({ length: 300 }, (_, index) => index)
  const elements = numbers.flatMap((index) => [`${index * 1000 - 99_999}`, `text ${'long '.repeat(index)}`])
  await to('RPUSH', 'list', ...elements.slice(0, 301))
  await to('RPUSH', 'list', ...elements.slice(301))
  await to('SADD', 'set', ...inOrder(numbers.map((index) => `member ${index}`)))
  await to('SADD', 'integers', ...inOrder(['1', '70000', '-3', '99999999999']))
  await to('HSET', 'hash', ...inOrder(['a', 'b', 'c']).flatMap((field) => [field, `value ${field}`]))
  await to(
    'HSET',
    'numbers',
    ...inOrder(['1', '-5000', '300000', '9999999999']).flatMap((field) => [field, field]),
  )
  await to(
    'ZADD',
    'zset',
    ...inOrder(['1.5 a', '-inf b', 'inf c', '0.5 d', '3 e']).flatMap((pair) => pair.split(' ')),
  )
  await to('SET', 'number', '123')
  await to('APPEND', 'raw', 'ab'.repeat(500))
  for (const id of ['1-1', '2-1', '3-1']) await to('XADD', 'stream', id, 'a', 'b')
}

test('equal values are equal in whatever encoding and order they stand', async () => {
  await fresh()
  await filled(on.here, false)
  await on.here('SETRANGE', 'raw', '998', 'ab')
  await configure(LARGE)
  await filled(on.there, true)
  await on.here('XADD', 'stream', '4-1', 'a', 'b')
  await on.here('XDEL', 'stream', '4-1')
  await on.there('XADD', 'stream', '4-1', 'c', 'd')
  await on.there('XDEL', 'stream', '4-1')
  for (const name of ['hash', 'numbers', 'zset', 'integers', 'stream'])
    expect(await dumpOf(here, name), name).not.toEqual(await dumpOf(there, name))
  expect(await differences()).toEqual([])
  // Whether a stream is the same cannot be told from its dump; all else can.
  expect(await fromFile()).toEqual(['stream different bytes'])

  await configure(PLAIN)
  await on.there('HSET', 'hash', 'a', 'other')
  await on.there('ZADD', 'zset', '1.25', 'a')
  await on.there('SREM', 'set', 'member 299')
  await on.there('SADD', 'set', 'member 300')
  await on.there('LSET', 'list', '500', 'other')
  await on.there('XADD', 'stream', '5-1', 'a', 'b')
  const expected = ['hash', 'list', 'set', 'stream', 'zset'].map((name) => `${name} different value`)
  expect(await differences()).toEqual(expected)
  expect(await fromFile()).toEqual(
    expected.map((line) => line.replace('stream different value', 'stream different bytes')),
  )
})

test('a dump is decoded to what was written, in every encoding', async () => {
  for (const encodings of [PLAIN, LARGE]) {
    await fresh()
    await configure(encodings)
    await filled(on.here, false)
    const decoded = async (name: string) => decodeDump(await dumpOf(here, name))
    const elements = async (name: string) => {
      const value = await decoded(name)
      return value !== undefined && 'elements' in value ? value.elements.map(String) : undefined
    }
    expect(await elements('list')).toEqual(await on.here('LRANGE', 'list', '0', '-1'))
    expect((await elements('set'))!.sort()).toEqual(((await on.here('SMEMBERS', 'set')) as string[]).sort())
    expect((await elements('integers'))!.sort()).toEqual(['-3', '1', '70000', '99999999999'])
    expect((await elements('hash'))!.sort()).toEqual(['a,value a', 'b,value b', 'c,value c'])
    expect((await elements('numbers'))!.sort()).toEqual([
      '-5000,-5000',
      '1,1',
      '300000,300000',
      '9999999999,9999999999',
    ])
    expect((await elements('zset'))!.sort()).toEqual(['a,1.5', 'b,-inf', 'c,inf', 'd,0.5', 'e,3'])
    expect(await decoded('number')).toEqual({ type: 'string', value: Buffer.from('123') })
    expect(await decoded('raw')).toEqual({ type: 'string', value: Buffer.from('ab'.repeat(500)) })
    expect(await decoded('stream')).toBeUndefined()
  }
})

test('a ziplist, which Redis 6 dumped small collections as, is decoded too', () => {
  const entries = Buffer.from('00016103f6020162 03c0e803 0401630304 74657874 ff'.replaceAll(' ', ''), 'hex')
  const bytes = Buffer.concat([Buffer.alloc(10), entries])
  const dump = Buffer.concat([Buffer.from([13, bytes.length]), bytes, Buffer.alloc(10)])
  const value = decodeDump(dump) as { readonly elements: readonly (readonly Buffer[])[] }
  expect(value.elements.map(String)).toEqual(['a,5', 'b,1000', 'c,text'])
})

test('keys of any bytes are compared', async () => {
  await fresh()
  const binary = Buffer.from([0xff, 0, 10])
  for (const key of [binary, Buffer.alloc(0)]) await redis.command('SET', key, 'x')
  expect((await differences()).length).toBe(2)
  expect((await fromFile()).length).toBe(2)
  for (const key of [binary, Buffer.alloc(0)]) await there.send(['SET', key, 'x'], ALL_KEYS)
  expect(await differences()).toEqual([])
  expect(await fromFile()).toEqual([])
})

test('a key that is written on both sides while it looks is not called different', async () => {
  await fresh()
  await on.here('SADD', 'busy', 'a')
  await on.there('SADD', 'busy', 'a')
  let turns = 0
  // The other side lags behind by one answer.
  const lagging: Connection = {
    ...there,
    masters: async () => [lagging],
    async send(command, shape) {
      if (String(command[0]).startsWith('EVAL') && turns < 1) {
        turns += 1
        await on.here('SADD', 'busy', 'b')
        const reply = await there.send(command, shape)
        await on.there('SADD', 'busy', 'b')
        return reply
      }
      return there.send(command, shape)
    },
  }
  await on.here('SADD', 'busy', 'c')
  await on.there('SADD', 'busy', 'c')
  expect(summary(await all(diffServers(here, lagging, selectKeys(schema), { maxLoad: 1 })))).toEqual([])
})

async function dumpOf(side: Connection, key: string): Promise<Buffer> {
  return (await side.send(['DUMP', key], { firstKey: 1, keyCount: 1, bytes: true })) as Buffer
}
