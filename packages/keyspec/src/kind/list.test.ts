import fc from 'fast-check'
import { expect, test } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import { bytes } from '../codec/bytes.ts'
import { integer } from '../codec/integer.ts'
import { text } from '../codec/text.ts'
import { open } from '../keyspace.ts'
import { unique } from '../testing/index.ts'
import { list } from './list.ts'

const { redis, connection } = await connected()
const schema = {
  items: list('items:<id>', text, { ttl: '1h' }),
  state: list('state:<id>', text, { ttl: 'forever', reason: 'a test' }),
  numbers: list('numbers', integer, { ttl: '1h' }),
  blobs: list('blobs', bytes, { ttl: '1h' }),
}
const fresh = () => {
  const prefix = `${unique()}:`
  return { prefix, keys: open(schema, connection, { prefix }) }
}

test('is pushed to and popped from at both ends', async () => {
  const { prefix, keys } = fresh()
  for (const list of [keys.items({ id: 1 }), keys.state({ id: 1 })]) {
    expect(await list.pushBack('c', 'd')).toBe(2)
    expect(await list.pushFront('b', 'a')).toBe(4)
    expect(await redis.command('LRANGE', list.name, 0, -1)).toEqual(['a', 'b', 'c', 'd'])
    expect(await list.pushBack()).toBe(4)
    expect(await list.popFront()).toBe('a')
    expect(await list.popBack()).toBe('d')
    expect(await list.popBack(0)).toEqual([])
    expect(await list.popBack(5)).toEqual(['c', 'b'])
    expect(await list.popFront()).toBeUndefined()
    expect(await list.popFront(3)).toEqual([])
  }
  expect(await redis.command('EXISTS', `${prefix}items:1`, `${prefix}state:1`)).toBe(0)
})

test('thousands are pushed in one step, in order', async () => {
  const { prefix, keys } = fresh()
  const numbers = Array.from({ length: 20_001 }, (_, i) => i)
  const seen: number[] = []
  let done = false
  const watching = (async () => {
    while (!done) seen.push(Number(await redis.command('LLEN', `${prefix}numbers`)))
  })()
  expect(await keys.numbers().pushBack(...numbers)).toBe(20_001)
  done = true
  await watching
  expect(new Set([0, 20_001, ...seen])).toEqual(new Set([0, 20_001]))
  expect(await keys.numbers().range()).toEqual(numbers)
  expect(await keys.numbers().pushFront(...numbers)).toBe(40_002)
  expect(await keys.numbers().range(0, 2)).toEqual([20_000, 19_999, 19_998])
  expect(await all(keys.numbers().scan({ count: 999 }))).toEqual([...numbers.toReversed(), ...numbers])
})

test('is read and written by index', async () => {
  const { keys } = fresh()
  const list = keys.items({ id: 1 })
  expect(await list.setAt(0, 'x')).toBe(false)
  expect(await list.exists()).toBe(false)
  await list.pushBack('a', 'b', 'c', 'b')
  expect(await list.range(1, 2)).toEqual(['b', 'c'])
  expect(await list.range(-2)).toEqual(['c', 'b'])
  expect(await list.range(9, 12)).toEqual([])
  expect(await list.at(-1)).toBe('b')
  expect(await list.at(4)).toBeUndefined()
  expect(await list.indexOf('b')).toBe(1)
  expect(await list.indexOf('x')).toBeUndefined()
  expect(await list.length()).toBe(4)
  expect(await list.setAt(-1, 'd')).toBe(true)
  expect(await list.setAt(4, 'x')).toBe(false)
  expect(await keys.state({ id: 1 }).setAt(0, 'x')).toBe(false)
  expect(await list.insert('bb', { after: 'b' })).toBe(true)
  expect(await list.insert('aa', { before: 'b' })).toBe(true)
  expect(await list.insert('x', { before: 'nowhere' })).toBe(false)
  expect(await list.range()).toEqual(['a', 'aa', 'b', 'bb', 'c', 'd'])
  await expect(list.at(0.5)).rejects.toThrow('0.5 is not an index')
})

test('is trimmed, and rid of values', async () => {
  const { prefix, keys } = fresh()
  const list = keys.items({ id: 1 })
  await list.pushBack('a', 'b', 'a', 'c', 'a', 'd')
  expect(await list.remove('a', { count: 1 })).toBe(1)
  expect(await list.range()).toEqual(['b', 'a', 'c', 'a', 'd'])
  expect(await list.remove('a', { count: -1 })).toBe(1)
  expect(await list.range()).toEqual(['b', 'a', 'c', 'd'])
  expect(await list.remove('a')).toBe(1)
  expect(await list.remove('a')).toBe(0)
  await list.trim(0, 1)
  expect(await list.range()).toEqual(['b', 'c'])
  await list.trim(5, 9)
  expect(await redis.command('EXISTS', `${prefix}items:1`)).toBe(0)
})

test('an element moves between ends, and to another list of the entry with its lifetime', async () => {
  const { prefix, keys } = fresh()
  const [one, two] = [keys.items({ id: 1 }), keys.items({ id: 2 })]
  expect(await one.move('front', 'back')).toBeUndefined()
  await one.pushBack('a', 'b', 'c')
  expect(await one.move('front', 'back')).toBe('a')
  expect(await one.range()).toEqual(['b', 'c', 'a'])
  expect(await one.move('back', 'front', two)).toBe('a')
  expect(await two.range()).toEqual(['a'])
  expect(await redis.command('PTTL', `${prefix}items:2`)).toBeGreaterThan(0)
  await expect(one.move('back', 'front', keys.state({ id: 1 }))).rejects.toThrow('of the same entry only')
})

test('what cannot be read stays where it is, with its neighbours and its time to live', async () => {
  const { prefix, keys } = fresh()
  const name = `${prefix}numbers`
  const raw = ['1', Buffer.from([0xff, 0xfe]), '3']
  await redis.command('RPUSH', name, ...raw)
  await redis.command('PEXPIRE', name, 5_000)
  const stored = await redis.commandBuffer('LRANGE', name, 0, -1)
  await expect(keys.numbers().popFront(3)).rejects.toMatchObject({ code: 'E_DECODE', key: name })
  await expect(keys.numbers().popBack(2)).rejects.toMatchObject({ code: 'E_DECODE', key: name })
  expect(await redis.commandBuffer('LRANGE', name, 0, -1)).toEqual(stored)
  expect(await redis.command('PTTL', name)).toBeLessThanOrEqual(5_000)
  await expect(keys.numbers().range(1)).rejects.toThrow(
    `${name}: holds a value that is not integer at element 1`,
  )
  expect(await keys.numbers().popFront()).toBe(1)
})

test('a value that its codec refuses keeps all the others from being written', async () => {
  const { prefix, keys } = fresh()
  await expect(keys.numbers().pushBack(1, 2.5)).rejects.toMatchObject({
    code: 'E_ENCODE',
    key: `${prefix}numbers`,
  })
  expect(await redis.command('EXISTS', `${prefix}numbers`)).toBe(0)
  await redis.command('SET', `${prefix}numbers`, 'x')
  for (const call of [
    keys.numbers().pushBack(1),
    keys.numbers().range(),
    keys.numbers().popFront(),
    keys.numbers().setAt(0, 1),
  ]) {
    await expect(call).rejects.toMatchObject({ code: 'E_WRONG_TYPE', key: `${prefix}numbers` })
  }
})

test('bytes are untouched, and each element is taken once', async () => {
  const { keys } = fresh()
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 8 }), { minLength: 1, maxLength: 20 }),
      async (values) => {
        const expected = values.map((value) => Buffer.from(value))
        await keys.blobs().pushBack(...values)
        expect(await keys.blobs().range()).toEqual(expected)
        expect(await keys.blobs().move('front', 'front')).toEqual(expected[0])
        const popped = await Promise.all(values.map(() => keys.blobs().popFront()))
        expect(popped).toEqual(expected)
      },
    ),
    { numRuns: 25 },
  )
})
