import fc from 'fast-check'
import { expect, test } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import { bytes } from '../codec/bytes.ts'
import { integer } from '../codec/integer.ts'
import { text } from '../codec/text.ts'
import { open } from '../keyspace.ts'
import { unique } from '../testing/index.ts'
import { set } from './set.ts'

const { redis, connection } = await connected()
const schema = {
  shown: set('shown:<id>', text, { ttl: '1h' }),
  state: set('state', text, { ttl: 'forever', reason: 'a test' }),
  ids: set('ids', integer, { ttl: '1h' }),
  blobs: set('blobs', bytes, { ttl: '1h' }),
}
const fresh = () => {
  const prefix = `${unique()}:`
  return { prefix, keys: open(schema, connection, { prefix }) }
}

test('holds each value once', async () => {
  const { prefix, keys } = fresh()
  for (const set of [keys.shown({ id: 1 }), keys.state()]) {
    expect(await set.add('a', 'b', 'a')).toBe(2)
    expect(await set.add('b', 'c')).toBe(1)
    expect(await set.add()).toBe(0)
    expect(new Set(await set.members())).toEqual(new Set(['a', 'b', 'c']))
    expect(await set.size()).toBe(3)
    expect(await set.has('a')).toBe(true)
    expect(await set.has('x')).toBe(false)
    expect(await set.hasMany(['x', 'a', 'c', 'a'])).toEqual([false, true, true, true])
    expect(await set.hasMany([])).toEqual([])
    expect(await set.remove('a', 'x')).toBe(1)
    expect(await set.remove()).toBe(0)
  }
  expect(await redis.command('SISMEMBER', `${prefix}state`, 'b')).toBe(1)
})

test('an empty set is no key', async () => {
  const { keys } = fresh()
  const set = keys.shown({ id: 1 })
  expect(await set.members()).toEqual([])
  expect(await set.random()).toBeUndefined()
  expect(await set.random(3)).toEqual([])
  expect(await set.pop()).toBeUndefined()
  expect(await set.pop(3)).toEqual([])
  await set.add('a')
  await set.remove('a')
  expect(await redis.command('EXISTS', set.name)).toBe(0)
})

test('elements are seen at random and stay, or are taken, each once', async () => {
  const { prefix, keys } = fresh()
  const ids = Array.from({ length: 100 }, (_, i) => i)
  await keys.ids().add(...ids)
  const seen = await keys.ids().random(10)
  expect(new Set(seen).size).toBe(10)
  expect(ids).toEqual(expect.arrayContaining([...seen, await keys.ids().random()]))
  expect(await keys.ids().pop(0)).toEqual([])
  const popped = await Promise.all([...ids.slice(10).map(() => keys.ids().pop()), keys.ids().pop(10)])
  expect(new Set(popped.flat())).toEqual(new Set(ids))
  expect(await redis.command('EXISTS', `${prefix}ids`)).toBe(0)
  await expect(keys.ids().random(-3)).rejects.toThrow('-3 is not a number of elements')
})

test('thousands are added in one step and scanned in batches', async () => {
  const { keys } = fresh()
  const ids = Array.from({ length: 9001 }, (_, i) => i)
  expect(await keys.ids().add(0, 1, 2)).toBe(3)
  expect(await keys.ids().add(...ids)).toBe(8998)
  expect(new Set(await all(keys.ids().scan({ count: 1000 })))).toEqual(new Set(ids))
})

test('many are combined', async () => {
  const { keys } = fresh()
  await keys.shown({ id: 1 }).add('a', 'b', 'c')
  await keys.shown({ id: 2 }).add('b', 'c', 'd')
  const many = keys.shown.many([{ id: 1 }, { id: 2 }])
  expect((await many.union()).toSorted()).toEqual(['a', 'b', 'c', 'd'])
  expect((await many.intersect()).toSorted()).toEqual(['b', 'c'])
  expect(await many.difference()).toEqual(['a'])
  expect(await keys.shown.many([{ id: 2 }, { id: 1 }]).difference()).toEqual(['d'])
  expect(await keys.shown.many([{ id: 1 }, { id: 9 }]).intersect()).toEqual([])
  expect(await keys.shown.many([]).union()).toEqual([])
})

test('sets in different slots of a cluster are not combined, and the error says what to do', async () => {
  const cluster = { ...connection, cluster: true }
  const { shown } = open({ shown: schema.shown, tagged: set('t:{<tag>}:<id>', text, { ttl: '1h' }) }, cluster)
  await expect(shown.many([{ id: 1 }, { id: 2 }]).union()).rejects.toMatchObject({
    code: 'E_CROSS_SLOT',
    key: 'shown:1',
    message: expect.stringMatching(/"shown:2" is in another slot.*same \{hash tag\}/),
  })
})

test('what cannot be read stays, and what cannot be written keeps all from being written', async () => {
  const { prefix, keys } = fresh()
  const name = `${prefix}ids`
  await redis.command('SADD', name, Buffer.from([0xff]), '7')
  await expect(keys.ids().pop(2)).rejects.toMatchObject({ code: 'E_DECODE', key: name })
  expect(await redis.command('SMISMEMBER', name, Buffer.from([0xff]), '7')).toEqual([1, 1])
  await expect(keys.ids().members()).rejects.toMatchObject({ code: 'E_DECODE', key: name })
  await expect(keys.ids().add(8, 0.5)).rejects.toMatchObject({ code: 'E_ENCODE', key: name })
  expect(await redis.command('SISMEMBER', name, '8')).toBe(0)
  await redis.command('DEL', name)
  await redis.command('SET', name, 'x')
  for (const call of [keys.ids().add(1), keys.ids().has(1), keys.ids().pop(), keys.ids().members()]) {
    await expect(call).rejects.toMatchObject({ code: 'E_WRONG_TYPE', key: name })
  }
})

test('bytes are untouched', async () => {
  const { keys } = fresh()
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 16 }), async (value) => {
      await keys.blobs().add(value)
      expect(await keys.blobs().members()).toEqual([Buffer.from(value)])
      expect(await all(keys.blobs().scan())).toEqual([Buffer.from(value)])
      expect(await keys.blobs.many([{}, {}]).union()).toEqual([Buffer.from(value)])
      expect(await keys.blobs().pop()).toEqual(Buffer.from(value))
    }),
    { numRuns: 25 },
  )
})
