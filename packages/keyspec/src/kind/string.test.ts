import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { connected } from '../../../../test-support/connected.ts'
import { bytes } from '../codec/bytes.ts'
import { json } from '../codec/json.ts'
import { text } from '../codec/text.ts'
import { open } from '../keyspace.ts'
import { unique } from '../testing/index.ts'
import { string } from './string.ts'

const { redis, connection } = await connected()
const User = json(v.object({ name: v.string() }))
const schema = {
  user: string('user:<id>', User, { ttl: '1h' }),
  note: string('note:<id>', text, { ttl: 'forever', reason: 'a test' }),
  once: string('once:<id>', text, { ttl: '1h', renew: 'creation' }),
  blob: string('blob:<id>', bytes, { ttl: '1h', renew: 'read' }),
}
const fresh = () => {
  const prefix = `${unique()}:`
  return { prefix, keys: open(schema, connection, { prefix }) }
}

test('writes what the codec makes of the value, and reads it back', async () => {
  const { prefix, keys } = fresh()
  const user = keys.user({ id: 1 })
  expect(await user.get()).toBeUndefined()
  await user.set({ name: 'Ada' })
  expect(await redis.command('GET', `${prefix}user:1`)).toBe('{"name":"Ada"}')
  expect(await user.get()).toEqual({ name: 'Ada' })
})

test('gives each asker of one tick bytes of his own', async () => {
  const schema = { raw: string('raw:<id>', bytes, { ttl: '1h' }) }
  const keys = open(schema, connection, { prefix: `${unique()}:` })
  await keys.raw({ id: 1 }).set(Buffer.from('same'))
  const [one, other] = await keys.raw.many([{ id: 1 }, { id: 1 }]).get()
  one!.fill(0)
  expect(String(other)).toBe('same')
})

test('tells whether it wrote where it writes on a condition', async () => {
  const { keys } = fresh()
  for (const key of [keys.note({ id: 1 }), keys.once({ id: 1 })]) {
    expect(await key.setIfPresent('a')).toBe(false)
    expect(await key.exists()).toBe(false)
    expect(await key.setIfAbsent('b')).toBe(true)
    expect(await key.setIfAbsent('c')).toBe(false)
    expect(await key.get()).toBe('b')
    expect(await key.setIfPresent('d')).toBe(true)
    expect(await key.get()).toBe('d')
  }
})

test('answers the value before, when it is replaced and when it is deleted', async () => {
  const { prefix, keys } = fresh()
  for (const key of [keys.note({ id: 1 }), keys.once({ id: 1 })]) {
    expect(await key.getAndDelete()).toBeUndefined()
    expect(await key.getAndSet('a')).toBeUndefined()
    expect(await key.getAndSet('b')).toBe('a')
    expect(await key.getAndDelete()).toBe('b')
  }
  expect(await redis.command('EXISTS', `${prefix}note:1`, `${prefix}once:1`)).toBe(0)
})

test('one of many who set what is absent wins', async () => {
  const { keys } = fresh()
  const won = await Promise.all(
    Array.from({ length: 50 }, (_, i) => keys.note({ id: 1 }).setIfAbsent(`${i}`)),
  )
  expect(won.filter(Boolean)).toHaveLength(1)
})

test('a value that its codec refuses is not written, alone or among many', async () => {
  const { prefix, keys } = fresh()
  const wrong = { name: 7 } as never
  await keys.user({ id: 1 }).set({ name: 'Ada' })
  await expect(keys.user({ id: 1 }).set(wrong)).rejects.toMatchObject({
    code: 'E_ENCODE',
    key: `${prefix}user:1`,
    message: expect.stringContaining(`${prefix}user:1: not written, the value is not json: name`),
  })
  for (const verb of ['setIfAbsent', 'setIfPresent', 'getAndSet'] as const) {
    await expect(keys.user({ id: 1 })[verb](wrong)).rejects.toMatchObject({ code: 'E_ENCODE' })
  }
  const many = keys.user.many([{ id: 1 }, { id: 2 }])
  await expect(many.set([{ name: 'Grace' }, wrong])).rejects.toMatchObject({ key: `${prefix}user:2` })
  expect(await redis.command('GET', `${prefix}user:1`)).toBe('{"name":"Ada"}')
  expect(await redis.command('EXISTS', `${prefix}user:2`)).toBe(0)
})

test('a value that cannot be read is left as it is, and the key named', async () => {
  const { prefix, keys } = fresh()
  const name = `${prefix}user:1`
  await redis.command('SET', name, Buffer.from([0x7b, 0xff]), 'PX', 5000)
  const error = {
    code: 'E_DECODE',
    key: name,
    message: expect.stringContaining(`${name}: holds a value that is not json`),
  }
  await expect(keys.user({ id: 1 }).get()).rejects.toMatchObject(error)
  await expect(keys.user({ id: 1 }).getAndDelete()).rejects.toMatchObject(error)
  expect(await redis.commandBuffer('GET', name)).toEqual(Buffer.from([0x7b, 0xff]))
  expect(await redis.command('PTTL', name)).toBeGreaterThan(0)
})

test('another type is an error that names the key and says what to do', async () => {
  const { prefix, keys } = fresh()
  await redis.command('RPUSH', `${prefix}note:1`, 'x')
  const error = {
    code: 'E_WRONG_TYPE',
    key: `${prefix}note:1`,
    message: expect.stringContaining('see what TYPE says'),
  }
  await expect(keys.note({ id: 1 }).get()).rejects.toMatchObject(error)
  await expect(keys.note({ id: 1 }).getAndSet('x')).rejects.toMatchObject(error)
  await expect(keys.note({ id: 1 }).getAndDelete()).rejects.toMatchObject(error)
  expect(await redis.command('LRANGE', `${prefix}note:1`, 0, -1)).toEqual(['x'])
})

test('many are read in the order asked, and one of another type fails for itself alone', async () => {
  const { prefix, keys } = fresh()
  const ids = Array.from({ length: 300 }, (_, id) => ({ id }))
  await keys.note.many(ids).set(ids.map(({ id }) => `note ${id}`))
  await redis.command('DEL', `${prefix}note:7`)
  expect(await keys.note.many([...ids, { id: 3 }]).get()).toEqual([
    ...ids.map(({ id }) => (id === 7 ? undefined : `note ${id}`)),
    'note 3',
  ])
  await redis.command('RPUSH', `${prefix}note:7`, 'x')
  const [six, seven] = await Promise.allSettled([6, 7].map((id) => keys.note({ id }).get()))
  expect(six).toMatchObject({ value: 'note 6' })
  expect(seven).toMatchObject({ reason: { code: 'E_WRONG_TYPE', key: `${prefix}note:7` } })
  await expect(keys.note.many(ids).set(['too few'])).rejects.toThrow(
    '300 keys were named, but 1 values given',
  )
})

test('bytes are untouched', async () => {
  const { keys } = fresh()
  const blob = keys.blob({ id: 1 })
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 64 }), async (value) => {
      await blob.set(value)
      expect(await blob.get()).toEqual(Buffer.from(value))
      expect(await blob.getAndSet(value)).toEqual(Buffer.from(value))
      expect((await keys.blob.many([{ id: 1 }, { id: 1 }]).get())[1]).toEqual(Buffer.from(value))
      expect(await blob.getAndDelete()).toEqual(Buffer.from(value))
    }),
    { numRuns: 50 },
  )
})

test('an update is written over what it was made from, with the lifetime, or not at all', async () => {
  const { prefix, keys } = fresh()
  const user = keys.user({ id: 1 })
  expect(await user.update((before) => ({ name: `${before?.name}!` }))).toEqual({ name: 'undefined!' })
  await redis.command('PEXPIRE', `${prefix}user:1`, 1_000)
  expect(await user.update((before) => ({ name: `${before?.name}!` }))).toEqual({ name: 'undefined!!' })
  expect(await redis.command('GET', `${prefix}user:1`)).toBe('{"name":"undefined!!"}')
  expect(await redis.command('PTTL', `${prefix}user:1`)).toBeGreaterThan(3_500_000)
  expect(await user.update(() => undefined)).toEqual({ name: 'undefined!!' })
  expect(await keys.user({ id: 2 }).update(() => undefined)).toBeUndefined()
  expect(await redis.command('EXISTS', `${prefix}user:2`)).toBe(0)
})

test('an update keeps a time to live that counts from creation, and none where the key lives forever', async () => {
  const { prefix, keys } = fresh()
  await keys.once({ id: 1 }).update(() => 'a')
  expect(await redis.command('PTTL', `${prefix}once:1`)).toBeGreaterThan(3_500_000)
  await redis.command('PEXPIRE', `${prefix}once:1`, 100_000)
  await keys.once({ id: 1 }).update((before) => `${before}b`)
  expect(await redis.command('GET', `${prefix}once:1`)).toBe('ab')
  expect(await redis.command('PTTL', `${prefix}once:1`)).toBeLessThanOrEqual(100_000)
  await keys.note({ id: 1 }).update(() => 'a')
  expect(await redis.command('PTTL', `${prefix}note:1`)).toBe(-1)
})

test('an update compares bytes, not what they would be as text', async () => {
  const { prefix, keys } = fresh()
  const blob = keys.blob({ id: 1 })
  await blob.set(Buffer.from([0xff, 0]))
  expect(await blob.update((before) => Buffer.concat([before!, Buffer.from([0xfe])]))).toEqual(
    Buffer.from([0xff, 0, 0xfe]),
  )
  expect(await redis.commandBuffer('GET', `${prefix}blob:1`)).toEqual(Buffer.from([0xff, 0, 0xfe]))
})

test('of many updates at once none is lost', async () => {
  const { keys } = fresh()
  const note = keys.note({ id: 1 })
  await Promise.all(Array.from({ length: 40 }, () => note.update((before) => `${Number(before ?? 0) + 1}`)))
  expect(await note.get()).toBe('40')
})

test('an update is asked again with what came between, be it another value or none', async () => {
  const { prefix, keys } = fresh()
  const note = keys.note({ id: 1 })
  await note.set('a')
  const seen: (string | undefined)[] = []
  const between = [
    ['SET', `${prefix}note:1`, 'b'],
    ['DEL', `${prefix}note:1`],
    ['SET', `${prefix}note:1`, ''],
  ]
  const { connection: plain } = connectionThat(async () => {
    const next = between.shift()
    if (next !== undefined) await redis.command(next[0]!, ...next.slice(1))
  })
  const slow = open(schema, plain, { prefix })
  expect(
    await slow.note({ id: 1 }).update((before) => {
      seen.push(before)
      return `${before}+`
    }),
  ).toBe('+')
  expect(seen).toEqual(['a', 'b', undefined, ''])
})

test('an update that never gets its turn says so, and writes nothing', async () => {
  const { prefix, keys } = fresh()
  let count = 0
  const { connection: plain } = connectionThat(async () => {
    await redis.command('SET', `${prefix}note:1`, `${(count += 1)}`)
  })
  await keys.note({ id: 1 }).set('0')
  const refusal = open(schema, plain, { prefix })
    .note({ id: 1 })
    .update((before) => `mine after ${before}`)
  await expect(refusal).rejects.toMatchObject({ code: 'E_CONFLICT', key: `${prefix}note:1` })
  expect(await redis.command('GET', `${prefix}note:1`)).toBe('100')
})

test('an update of what cannot be read, or to what its codec refuses, writes nothing', async () => {
  const { prefix, keys } = fresh()
  await redis.command('SET', `${prefix}user:1`, '{"name":7}')
  await expect(keys.user({ id: 1 }).update(() => ({ name: 'Ada' }))).rejects.toMatchObject({
    code: 'E_DECODE',
  })
  await expect(keys.user({ id: 2 }).update(() => ({ name: 7 }) as never)).rejects.toMatchObject({
    code: 'E_ENCODE',
  })
  expect(await redis.command('GET', `${prefix}user:1`)).toBe('{"name":7}')
  expect(await redis.command('EXISTS', `${prefix}user:2`)).toBe(0)
})

/** The connection, with something that happens before each script of a replacement. */
function connectionThat(happens: () => Promise<void>) {
  const send: typeof connection.send = async (command, shape) => {
    if (String(command[0]).startsWith('EVAL')) await happens()
    return connection.send(command, shape)
  }
  return { connection: { ...connection, masters: () => connection.masters(), send } }
}
