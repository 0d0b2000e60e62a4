import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as v from 'valibot'
import { all, connected } from '../../../../test-support/connected.ts'
import { bytes } from '../codec/bytes.ts'
import { integer } from '../codec/integer.ts'
import { json } from '../codec/json.ts'
import { text } from '../codec/text.ts'
import { open } from '../keyspace.ts'
import { unique } from '../testing/index.ts'
import { fields } from './fields.ts'
import { hash } from './hash.ts'

const { redis, connection } = await connected()
const schema = {
  run: hash(
    'run:<id>',
    { status: text, done: integer, blob: bytes, ids: json(v.array(v.string())) },
    { ttl: '25h' },
  ),
  plain: hash('plain:<id>', { status: text, done: integer }, { ttl: 'forever', reason: 'a test' }),
  jobs: hash('jobs', fields(json(v.object({ url: v.string() }))), { ttl: 'forever', reason: 'a test' }),
  blobs: hash('blobs', fields(bytes), { ttl: '1h' }),
}
const fresh = () => {
  const prefix = `${unique()}:`
  return { prefix, keys: open(schema, connection, { prefix }) }
}

test('fields are written as their codecs have them and read back, what is not given stays as it is', async () => {
  const { prefix, keys } = fresh()
  const run = keys.run({ id: 'a' })
  expect(await run.get()).toBeUndefined()
  await run.set({ status: 'running', done: 3, blob: Buffer.from([0, 255]), ids: ['1'] })
  await run.set({ done: 4, status: undefined })
  expect(await redis.command('HGETALL', `${prefix}run:a`)).toEqual(
    expect.arrayContaining(['status', 'running', 'done', '4', 'ids', '["1"]']),
  )
  expect(await redis.commandBuffer('HGET', `${prefix}run:a`, 'blob')).toEqual(Buffer.from([0, 255]))
  expect(await run.get()).toEqual({ status: 'running', done: 4, blob: Buffer.from([0, 255]), ids: ['1'] })
  expect(await run.getField('done')).toBe(4)
  expect(await run.getField('blob')).toEqual(Buffer.from([0, 255]))
  expect(await run.getFields('status', 'ids')).toEqual({ status: 'running', ids: ['1'] })
  expect(await run.getFields()).toEqual({})
})

test('thousands of fields are written and compared in one step, each of them', async () => {
  const { keys } = fresh()
  const many = (letter: string) =>
    Object.fromEntries(Array.from({ length: 4100 }, (_, n) => [`f${n}`, Buffer.from(`${letter}${n}`)]))
  const blobs = keys.blobs()
  await blobs.set(many('a'))
  expect(await blobs.get()).toEqual(many('a'))
  expect(await blobs.updateIf({ ...many('a'), f4099: Buffer.from('other') }, many('b'))).toBeUndefined()
  expect(await blobs.get()).toEqual(many('a'))
  const written = await blobs.updateIf(many('a'), many('b'))
  expect(written).toEqual(many('b'))
  expect(await blobs.get()).toEqual(many('b'))
})

test('fields may be absent on reading', async () => {
  const { keys } = fresh()
  const plain = keys.plain({ id: 1 })
  expect(await plain.getField('status')).toBeUndefined()
  expect(await plain.getFields('status', 'done')).toEqual({})
  await plain.set({ done: 0 })
  expect(await plain.get()).toEqual({ done: 0 })
  expect(await plain.getFields('status', 'done')).toEqual({ done: 0 })
  expect(await plain.has('status')).toBe(false)
  expect(await plain.has('done')).toBe(true)
  expect(await plain.size()).toBe(1)
  expect(await plain.fields()).toEqual(['done'])
})

test('an update on condition writes where the fields are as expected, and touches nothing where they are not', async () => {
  const { prefix, keys } = fresh()
  const plain = keys.run({ id: 1 })
  expect(await plain.updateIf({ status: 'running' }, { status: 'done' })).toBeUndefined()
  expect(await redis.command('EXISTS', `${prefix}run:1`)).toBe(0)
  await plain.set({ status: 'running', done: 1 })
  await redis.command('PEXPIRE', `${prefix}run:1`, 5_000)
  expect(await plain.updateIf({ status: 'running', done: 2 }, { done: 3 })).toBeUndefined()
  expect(await redis.command('PTTL', `${prefix}run:1`)).toBeLessThanOrEqual(5_000)
  expect(await plain.updateIf({ status: 'running', done: 1 }, { done: 3 })).toEqual({
    status: 'running',
    done: 3,
  })
  expect(await redis.command('PTTL', `${prefix}run:1`)).toBeGreaterThan(80_000_000)
  // Of many that would go the same step one does.
  const went = await Promise.all(
    Array.from({ length: 20 }, () => plain.updateIf({ status: 'running' }, { status: 'done' })),
  )
  expect(went.filter((state) => state !== undefined)).toEqual([{ status: 'done', done: 3 }])
})

test('an update answers the whole state in one step', async () => {
  const { prefix, keys } = fresh()
  const run = keys.run({ id: 'a' })
  expect(await run.update({ status: 'initialized', blob: Buffer.from([254]) })).toEqual({
    status: 'initialized',
    blob: Buffer.from([254]),
  })
  expect(await run.update({ done: 1 })).toEqual({ status: 'initialized', done: 1, blob: Buffer.from([254]) })
  expect(await run.update({})).toEqual(await run.get())
  expect(await keys.plain({ id: 1 }).update({})).toEqual({})
  expect(await redis.command('EXISTS', `${prefix}plain:1`)).toBe(0)
  // Each of the updates saw the state that it had made itself.
  const seen = await Promise.all(
    Array.from({ length: 50 }, (_, done) => keys.plain({ id: 1 }).update({ done })),
  )
  expect(seen.map(({ done }) => done)).toEqual(Array.from({ length: 50 }, (_, done) => done))
})

test('a field is set only if absent by one of many', async () => {
  const { keys } = fresh()
  const won = await Promise.all(
    Array.from({ length: 30 }, (_, i) => keys.plain({ id: 1 }).setIfAbsent('status', `${i}`)),
  )
  expect(won.filter(Boolean)).toHaveLength(1)
})

test('a field is counted exactly, or not at all', async () => {
  const { prefix, keys } = fresh()
  const plain = keys.plain({ id: 1 })
  const counts = await Promise.all(Array.from({ length: 100 }, () => plain.increment('done', 2)))
  expect(counts).toEqual(Array.from({ length: 100 }, (_, i) => 2 * (i + 1)))
  expect(await plain.increment('done', -200)).toBe(0)
  await plain.set({ done: Number.MAX_SAFE_INTEGER })
  await expect(plain.increment('done')).rejects.toMatchObject({ code: 'E_ENCODE', key: `${prefix}plain:1` })
  expect(await redis.command('HGET', `${prefix}plain:1`, 'done')).toBe('9007199254740991')
  await expect(plain.increment('done', 1.5)).rejects.toMatchObject({ code: 'E_ENCODE' })
  await redis.command('HSET', `${prefix}plain:1`, 'done', 'many')
  await expect(plain.increment('done')).rejects.toMatchObject({ code: 'E_DECODE', key: `${prefix}plain:1` })
  expect(await redis.command('HGET', `${prefix}plain:1`, 'done')).toBe('many')
})

test('fields that other programs wrote are neither shown nor lost', async () => {
  const { prefix, keys } = fresh()
  const name = `${prefix}plain:1`
  await redis.command('HSET', name, 'legacy', '{', 'status', 'ok', '__proto__', 'x', 'constructor', 'y')
  const plain = keys.plain({ id: 1 })
  expect(await plain.get()).toEqual({ status: 'ok' })
  expect(await plain.update({ done: 1 })).toEqual({ status: 'ok', done: 1 })
  expect(await plain.fields()).toEqual(['status', 'done'])
  expect(await all(plain.scan())).toEqual([
    { field: 'status', value: 'ok' },
    { field: 'done', value: 1 },
  ])
  expect(await redis.command('HMGET', name, 'legacy', '__proto__', 'constructor')).toEqual(['{', 'x', 'y'])
  await plain.remove('status', 'done')
  expect(await plain.get()).toEqual({})
})

test('a field that is not declared is refused before anything is sent', async () => {
  const { prefix, keys } = fresh()
  const plain = keys.plain({ id: 1 })
  const message = `${prefix}plain:1: "stats" is not a field: declared are status, done`
  await expect(plain.set({ status: 'x', stats: 1 } as never)).rejects.toThrow(message)
  await expect(plain.getField('stats' as never)).rejects.toThrow(message)
  await expect(plain.remove('stats' as never)).rejects.toThrow(message)
  await expect(keys.jobs().set({ 'a\ud800': { url: '' } })).rejects.toThrow('not well-formed')
  expect(await redis.command('EXISTS', `${prefix}plain:1`, `${prefix}jobs`)).toBe(0)
})

test('a value that its codec refuses, or cannot read, is named with its key and field', async () => {
  const { prefix, keys } = fresh()
  const name = `${prefix}plain:1`
  const plain = keys.plain({ id: 1 })
  await expect(plain.set({ status: 'x', done: 1.5 })).rejects.toThrow(
    `${name}: not written, the value is not integer at field "done": it is not a whole number`,
  )
  expect(await redis.command('EXISTS', name)).toBe(0)
  await redis.command('HSET', name, 'status', 'ok', 'done', 'x')
  for (const reading of [
    plain.get(),
    plain.getField('done'),
    plain.getFields('done'),
    keys.plain.many([{ id: 1 }]).get(),
  ]) {
    await expect(reading).rejects.toMatchObject({
      code: 'E_DECODE',
      key: name,
      message: expect.stringContaining(`${name}: holds a value that is not integer at field "done"`),
    })
  }
  expect(await plain.getField('status')).toBe('ok')
  expect(await redis.command('HGET', name, 'done')).toBe('x')
})

test('the last field takes the key with it', async () => {
  const { prefix, keys } = fresh()
  const plain = keys.plain({ id: 1 })
  await plain.set({ status: 'x', done: 1 })
  expect(await plain.remove()).toBe(0)
  expect(await plain.remove('status', 'done')).toBe(2)
  expect(await plain.remove('status')).toBe(0)
  expect(await redis.command('EXISTS', `${prefix}plain:1`)).toBe(0)
  await plain.set({})
  expect(await redis.command('EXISTS', `${prefix}plain:1`)).toBe(0)
})

test('a record takes fields of any name, thousands in one step, and scans them in batches', async () => {
  const { prefix, keys } = fresh()
  const values = Object.fromEntries(Array.from({ length: 4100 }, (_, i) => [`job ${i}`, { url: `/${i}` }]))
  await keys.jobs().set(values)
  expect(await redis.command('HLEN', `${prefix}jobs`)).toBe(4100)
  expect(await keys.jobs().get()).toEqual(values)
  const seen = new Map<string, unknown>()
  for await (const { field, value } of keys.jobs().scan({ count: 100 })) seen.set(field, value)
  expect(Object.fromEntries(seen)).toEqual(values)
  expect(await keys.jobs().remove(...Object.keys(values))).toBe(4100)
  await keys
    .blobs()
    .update(Object.fromEntries(Array.from({ length: 2100 }, (_, i) => [`${i}`, Buffer.from([i & 255])])))
  expect(await keys.blobs().size()).toBe(2100)
  expect(await redis.command('PTTL', `${prefix}blobs`)).toBeGreaterThan(0)
})

test('any name and any bytes come back as they were', async () => {
  const { keys } = fresh()
  const dictionary = fc.dictionary(
    fc.string({ unit: fc.constantFrom(...Array.from('ab1:*?\\ \0\né中😀')) }),
    fc.uint8Array({ maxLength: 16 }),
    {
      minKeys: 1,
    },
  )
  await fc.assert(
    fc.asyncProperty(dictionary, async (values) => {
      await keys.blobs().delete()
      await keys.blobs().set(values)
      const expected = Object.entries(values).map(([field, value]) => [field, Buffer.from(value)])
      const found = Object.entries((await keys.blobs().get()) ?? {})
      expect(new Map(found as never)).toEqual(new Map(expected as never))
    }),
    { numRuns: 50 },
  )
})

test('another type is an error that names the key', async () => {
  const { prefix, keys } = fresh()
  await redis.command('SET', `${prefix}plain:1`, 'x')
  const plain = keys.plain({ id: 1 })
  const calls = [
    plain.get(),
    plain.set({ done: 1 }),
    plain.update({ done: 1 }),
    plain.increment('done'),
    plain.remove('done'),
  ]
  for (const call of calls) {
    await expect(call).rejects.toMatchObject({ code: 'E_WRONG_TYPE', key: `${prefix}plain:1` })
  }
})

test('many are read at once', async () => {
  const { keys } = fresh()
  await keys.plain({ id: 2 }).set({ done: 2 })
  expect(await keys.plain.many([{ id: 1 }, { id: 2 }]).get()).toEqual([undefined, { done: 2 }])
})

test('a field counts up to 2^53 − 1 either way, and one step beyond leaves it there', async () => {
  const { prefix, keys } = fresh()
  const plain = keys.plain({ id: 1 })
  const field = () => redis.command('HGET', `${prefix}plain:1`, 'done')
  const most = Number.MAX_SAFE_INTEGER
  await plain.set({ done: most - 1 })
  expect(await plain.increment('done')).toBe(most)
  await expect(plain.increment('done')).rejects.toMatchObject({ code: 'E_ENCODE' })
  expect(await field()).toBe(String(most))
  await plain.set({ done: 1 - most })
  expect(await plain.increment('done', -1)).toBe(-most)
  await expect(plain.increment('done', -1)).rejects.toMatchObject({ code: 'E_ENCODE' })
  expect(await field()).toBe(String(-most))
})
