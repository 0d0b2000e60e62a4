import { expect, test } from 'vitest'
import { connected } from '../../../../test-support/connected.ts'
import { isRedis6 } from '../../../../test-support/server-version.ts'
import { boolean } from '../codec/boolean.ts'
import { bytes } from '../codec/bytes.ts'
import { integer } from '../codec/integer.ts'
import { text } from '../codec/text.ts'
import { isUnavailable } from '../connection/server-error.ts'
import { open } from '../keyspace.ts'
import { eventually, unique } from '../testing/index.ts'
import { fields } from './fields.ts'
import { stream } from './stream.ts'

const { redis, connection } = await connected()
// What waits holds its connection: it has one of its own.
const { connection: waiting } = await connected(redis)
const schema = {
  events: stream('events:<room>', { user: text, joined: boolean, at: integer }, { ttl: '7d' }),
  log: stream('log', fields(text), { ttl: 'forever', reason: 'a test' }),
  blobs: stream('blobs', { blob: bytes, name: text }, { ttl: '1h' }),
}
const fresh = () => {
  const prefix = `${unique()}:`
  return { prefix, keys: open(schema, connection, { prefix }), later: open(schema, waiting, { prefix }) }
}

test('entries are appended and read in order, forwards and back', async () => {
  const { prefix, keys } = fresh()
  const events = keys.events({ room: 1 })
  const first = await events.add({ user: 'ada', joined: true }, { id: '5-1' })
  expect(first).toBe('5-1')
  await events.add({ user: 'bob', joined: false, at: undefined }, { id: '6-0' })
  const last = await events.add({ at: 7 })
  expect(await redis.command('XRANGE', `${prefix}events:1`, '5-1', '6-0')).toEqual([
    ['5-1', ['user', 'ada', 'joined', '1']],
    ['6-0', ['user', 'bob', 'joined', '0']],
  ])
  const ada = { id: '5-1', value: { user: 'ada', joined: true } }
  const bob = { id: '6-0', value: { user: 'bob', joined: false } }
  expect(await events.range()).toEqual([ada, bob, { id: last, value: { at: 7 } }])
  expect(await events.range({ limit: 1 })).toEqual([ada])
  expect(await events.range({ after: '5-1', before: last })).toEqual([bob])
  expect(await events.range({ from: '5', to: '6', reverse: true })).toEqual([bob, ada])
  expect(await events.get('6-0')).toEqual(bob.value)
  expect(await events.get('6-1')).toBeUndefined()
  expect(await events.readAfter('5-1', { limit: 1 })).toEqual([bob])
  expect(await events.readAfter(last)).toEqual([])
  expect(await events.length()).toBe(3)
  expect(await keys.events({ room: 2 }).range()).toEqual([])
  expect(await keys.events({ room: 2 }).readAfter('0')).toEqual([])
})

test('an id that is not greater is refused, an entry without fields as well', async () => {
  const { keys } = fresh()
  await keys.log().add({ a: '1' }, { id: '5-0' })
  await expect(keys.log().add({ a: '2' }, { id: '5-0' })).rejects.toThrow(/equal or smaller/)
  await expect(keys.log().add({})).rejects.toThrow('an entry needs a field at least')
  await expect(keys.events({ room: 1 }).add({ user: 'ada', at: 0.5 })).rejects.toMatchObject({
    code: 'E_ENCODE',
    message: expect.stringContaining('at field "at"'),
  })
  expect(await keys.events({ room: 1 }).exists()).toBe(false)
  expect(await keys.log().length()).toBe(1)
})

test('is kept to a length as it grows, exactly or about, and trimmed', async () => {
  const { keys } = fresh()
  const log = keys.log()
  for (let i = 1; i <= 20; i++) await log.add({ i: `${i}` }, { id: `${i}-0`, maxLength: 5, exact: true })
  expect((await log.range()).map(({ id }) => id)).toEqual(['16-0', '17-0', '18-0', '19-0', '20-0'])
  await log.add({ i: '21' }, { id: '21-0', maxLength: 5 })
  expect(await log.length()).toBe(6)
  expect(await log.trim({ maxLength: 4, exact: true })).toBe(2)
  expect(await log.trim({ minId: '20', exact: true })).toBe(2)
  expect(await log.remove('20-0', '3-0')).toBe(1)
  expect(await log.remove()).toBe(0)
  expect(await log.info()).toEqual({
    length: 1,
    firstId: '21-0',
    lastId: '21-0',
    newestId: '21-0',
    groups: 0,
  })
})

test('an empty stream is still a key, and remembers its newest id', async () => {
  const { keys } = fresh()
  const log = keys.log()
  expect(await log.info()).toBeUndefined()
  await log.add({ a: '1' }, { id: '5-0' })
  await log.trim({ maxLength: 0, exact: true })
  expect(await log.exists()).toBe(true)
  expect(await log.info()).toEqual({
    length: 0,
    firstId: undefined,
    lastId: undefined,
    newestId: '5-0',
    groups: 0,
  })
  await expect(log.add({ a: '1' }, { id: '5-0' })).rejects.toThrow(/equal or smaller/)
})

test('a read waits for the next entry', async () => {
  const { keys, later } = fresh()
  await keys.events({ room: 1 }).add({ at: 1 })
  const reading = later.events({ room: 1 }).readAfter('$', { wait: '20s' })
  let read = false
  void reading.finally(() => (read = true))
  // Only what is added after the read began counts, so go on until it has.
  while (!read) await keys.events({ room: 1 }).add({ at: 2 })
  const [item] = await reading
  expect(item?.value).toEqual({ at: 2 })
  expect(await later.events({ room: 2 }).readAfter('$', { wait: '5ms' })).toEqual([])
  expect(await later.events({ room: 1 }).readAfter('0', { wait: '20s', limit: 1 })).toMatchObject([
    { value: { at: 1 } },
  ])
})

test('consumers of a group share the entries, and acknowledge them', async () => {
  const { prefix, keys } = fresh()
  const workers = keys.events({ room: 1 }).group('workers')
  expect(await workers.info()).toBeUndefined()
  expect(await workers.delete()).toBe(false)
  expect(await workers.create()).toBe(true)
  expect(await workers.create()).toBe(false)
  expect(await redis.command('PTTL', `${prefix}events:1`)).toBeGreaterThan(0)
  for (let at = 1; at <= 4; at++) await keys.events({ room: 1 }).add({ at }, { id: `${at}-0` })

  expect((await workers.read('one', { limit: 2 })).map(({ value }) => value)).toEqual([{ at: 1 }, { at: 2 }])
  expect((await workers.read('two')).map(({ id }) => id)).toEqual(['3-0', '4-0'])
  expect(await workers.read('one')).toEqual([])
  expect(await workers.info()).toEqual({ name: 'workers', consumers: 2, pending: 4, lastId: '4-0' })
  expect(await workers.ack('1-0', '9-0')).toBe(1)
  expect(await workers.ack()).toBe(0)
  expect((await workers.readAgain('one')).map(({ id }) => id)).toEqual(['2-0'])
  expect((await workers.pending()).map(({ id, consumer }) => [id, consumer])).toEqual([
    ['2-0', 'one'],
    ['3-0', 'two'],
    ['4-0', 'two'],
  ])
  expect(await workers.pending({ consumer: 'two', limit: 1 })).toMatchObject([
    { id: '3-0', deliveries: 1, idleMs: expect.any(Number) },
  ])
  expect(await workers.pending({ idleFor: '1h' })).toEqual([])
  expect(await workers.delete()).toBe(true)
  await expect(workers.read('one')).rejects.toMatchObject({
    code: 'E_NO_GROUP',
    message: expect.stringMatching(/NOGROUP.*create the group/s),
  })
})

// Redis 6.2 lets the read wait on.
test.skipIf(isRedis6)(
  'a read of a group that waits while its stream is deleted is told to create the group (needs Redis 7 or Valkey)',
  async () => {
    const { keys } = fresh()
    const events = keys.events({ room: 1 })
    const workers = events.group('workers')
    await workers.create()
    const waits = workers.read('one', { wait: '20s' }).catch((error: unknown) => error)
    await eventually(async () =>
      expect(String(await redis.command('INFO', 'clients'))).toContain('blocked_clients:1'),
    )
    await redis.command('DEL', events.name)
    const error = await waits
    expect(error).toMatchObject({ code: 'E_NO_GROUP', key: events.name })
    expect(isUnavailable(error)).toBe(false)
  },
)

test('every entry goes to one consumer, however many ask at once', async () => {
  const { keys } = fresh()
  const log = keys.log()
  const group = log.group('g')
  await group.create()
  await Promise.all(Array.from({ length: 60 }, (_, i) => log.add({ i: `${i}` })))
  const given = await Promise.all(Array.from({ length: 20 }, (_, i) => group.read(`c${i}`, { limit: 5 })))
  const values = given.flat().map(({ value }) => value['i'])
  expect(values).toHaveLength(60)
  expect(new Set(values).size).toBe(60)
})

test('a group begins where it is told, and a consumer waits for the next entry', async () => {
  const { keys, later } = fresh()
  await keys.log().add({ a: 'old' })
  await keys.log().group('new').create({ from: '$' })
  expect(await keys.log().group('new').read('c')).toEqual([])
  const reading = later.log().group('new').read('c', { wait: '20s' })
  await keys.log().add({ a: 'new' })
  expect(await reading).toMatchObject([{ value: { a: 'new' } }])
  expect(await later.log().group('new').read('c', { wait: '5ms' })).toEqual([])
})

test('what another left undone is claimed, what was trimmed comes as such', async () => {
  const { keys } = fresh()
  const log = keys.log()
  const group = log.group('g')
  await group.create()
  for (let i = 1; i <= 5; i++) await log.add({ i: `${i}` }, { id: `${i}-0` })
  await group.read('gone', { limit: 5 })
  await log.remove('2-0')
  expect(await group.readAgain('gone', { limit: 2 })).toEqual([
    { id: '1-0', value: { i: '1' } },
    { id: '2-0' },
  ])
  const early = await group.claim('me', { idleFor: '1h' })
  expect(early).toMatchObject({ entries: [], next: undefined })

  const entries: unknown[] = []
  const trimmed = [...early.trimmed]
  let from: string | undefined = '0-0'
  // An hour ago, as far as Redis knows.
  await redis.command('XCLAIM', log.name, 'g', 'gone', 0, '1-0', '3-0', '4-0', '5-0', 'IDLE', 3_600_000)
  while (from !== undefined) {
    const claimed = await group.claim('me', { idleFor: '1m', limit: 2, from })
    entries.push(...claimed.entries)
    trimmed.push(...claimed.trimmed)
    from = claimed.next
  }
  expect(entries).toEqual(['1', '3', '4', '5'].map((i) => ({ id: `${i}-0`, value: { i } })))
  // Redis 6.2 does not say which are gone.
  expect(trimmed.filter((id) => id !== '2-0')).toEqual([])
  expect((await group.pending({ consumer: 'me' })).map(({ deliveries }) => deliveries > 1)).toEqual([
    true,
    true,
    true,
    true,
  ])
})

test('bytes are untouched, and a value that cannot be read is named with its entry and field', async () => {
  const { prefix, keys } = fresh()
  const name = `${prefix}blobs`
  const blob = Buffer.from([0, 255, 10, 13])
  const id = await keys.blobs().add({ blob, name: 'n' })
  const group = keys.blobs().group('g')
  await group.create()
  expect(await keys.blobs().range()).toEqual([{ id, value: { blob, name: 'n' } }])
  expect(await keys.blobs().readAfter('0')).toEqual([{ id, value: { blob, name: 'n' } }])
  expect(await group.read('c')).toEqual([{ id, value: { blob, name: 'n' } }])
  expect((await group.claim('d', { idleFor: '1ms' })).trimmed).toEqual([])

  await redis.command('XADD', `${prefix}events:1`, '5-0', 'at', 'x', 'other', 'y')
  await expect(keys.events({ room: 1 }).range()).rejects.toThrow(
    `${prefix}events:1: holds a value that is not integer at field "at" of entry 5-0`,
  )
  await redis.command('DEL', name)
  await redis.command('SET', name, 'x')
  for (const call of [
    keys.blobs().add({ name: 'x' }),
    keys.blobs().range(),
    group.read('c'),
    keys.blobs().info(),
  ]) {
    await expect(call).rejects.toMatchObject({ code: 'E_WRONG_TYPE', key: name })
  }
})

test('a group that cannot be made is an error, never a group that was there, and nothing changes', async () => {
  const { prefix, keys } = fresh()
  const name = `${prefix}events:1`
  await redis.command('RPUSH', name, 'BUSYGROUP')
  await expect(keys.events({ room: 1 }).group('g').create()).rejects.toThrow(name)
  expect(await redis.command('LRANGE', name, '0', '-1')).toEqual(['BUSYGROUP'])
  expect(await redis.command('PTTL', name)).toBe(-1)
  await expect(keys.events({ room: 2 }).group('g').create({ from: 'no id' })).rejects.toThrow(
    `${prefix}events:2`,
  )
})

test('a group that is made gives a stream its time to live only where it has none', async () => {
  const { prefix, keys } = fresh()
  const name = `${prefix}events:1`
  expect(await keys.events({ room: 1 }).group('a').create()).toBe(true)
  expect(await redis.command('PTTL', name)).toBeGreaterThan(600_000_000)
  await redis.command('PEXPIRE', name, '60000')
  expect(await keys.events({ room: 1 }).group('b').create()).toBe(true)
  expect(await redis.command('PTTL', name)).toBeLessThanOrEqual(60_000)
})
