import fc from 'fast-check'
import { expect, test } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import { bytes } from '../codec/bytes.ts'
import { integer } from '../codec/integer.ts'
import { text } from '../codec/text.ts'
import { open } from '../keyspace.ts'
import { unique } from '../testing/index.ts'
import { sortedSet } from './sorted-set.ts'

const { redis, connection } = await connected()
const schema = {
  best: sortedSet('best:<id>', text, { ttl: '1h' }),
  due: sortedSet('due', text, { ttl: 'forever', reason: 'a test' }),
  ids: sortedSet('ids', integer, { ttl: '1h' }),
  blobs: sortedSet('blobs', bytes, { ttl: '1h' }),
}
const fresh = () => {
  const prefix = `${unique()}:`
  return { prefix, keys: open(schema, connection, { prefix }) }
}
const scored = (...pairs: [string, number][]) => pairs.map(([value, score]) => ({ value, score }))

test('holds each value once, with its score', async () => {
  const { keys } = fresh()
  for (const key of [keys.best({ id: 1 }), keys.due()]) {
    expect(await key.add({ value: 'a', score: 1.5 })).toBe(1)
    expect(await key.add(scored(['a', 1.5], ['b', -2], ['c', 1e21]))).toBe(2)
    expect(await key.add([])).toBe(0)
    expect(await redis.command('ZRANGE', key.name, 0, -1, 'WITHSCORES')).toEqual([
      'b',
      '-2',
      'a',
      '1.5',
      'c',
      '1e+21',
    ])
    expect(await key.range()).toEqual(scored(['b', -2], ['a', 1.5], ['c', 1e21]))
    expect(await key.score('a')).toBe(1.5)
    expect(await key.score('x')).toBeUndefined()
    expect(await key.scores(['x', 'c', 'b'])).toEqual([undefined, 1e21, -2])
    expect(await key.scores([])).toEqual([])
    expect(await key.size()).toBe(3)
    expect(await key.increment('a', -0.5)).toBe(1)
    expect(await key.increment('d')).toBe(1)
    expect(await key.remove('a', 'x')).toBe(1)
    expect(await key.remove()).toBe(0)
  }
})

test('adds on a condition', async () => {
  const { keys } = fresh()
  const best = keys.best({ id: 1 })
  expect(await best.add(scored(['a', 1]), { onlyIf: 'present' })).toBe(0)
  expect(await best.exists()).toBe(false)
  expect(await best.add(scored(['a', 1], ['b', 1]), { onlyIf: 'absent' })).toBe(2)
  expect(await best.add(scored(['a', 9], ['c', 9]), { onlyIf: 'absent' })).toBe(1)
  expect(await best.add(scored(['a', 5], ['x', 5]), { onlyIf: 'present' })).toBe(1)
  expect(await best.add(scored(['a', 4], ['b', 4], ['d', 4]), { onlyIf: 'greater' })).toBe(2)
  expect(await best.add(scored(['a', 6], ['b', 3], ['e', 3]), { onlyIf: 'less' })).toBe(2)
  expect(await best.range()).toEqual(scored(['b', 3], ['e', 3], ['d', 4], ['a', 5], ['c', 9]))
})

test('scores may be infinite, and are never NaN', async () => {
  const { keys } = fresh()
  const best = keys.best({ id: 1 })
  await best.add(scored(['last', Infinity], ['first', -Infinity], ['mid', 0]))
  expect(await best.range()).toEqual(scored(['first', -Infinity], ['mid', 0], ['last', Infinity]))
  expect(await best.score('first')).toBe(-Infinity)
  expect(await best.scores(['last'])).toEqual([Infinity])
  expect(await best.rangeByScore({ above: -Infinity, below: Infinity })).toEqual(scored(['mid', 0]))
  const error = { code: 'E_ENCODE', key: best.name, message: expect.stringContaining('not a score') }
  await expect(best.add(scored(['ok', 1], ['bad', Number.NaN]))).rejects.toMatchObject(error)
  await expect(best.increment('mid', Number.NaN)).rejects.toMatchObject(error)
  await expect(best.increment('last', -Infinity)).rejects.toMatchObject(error)
  expect(await best.range()).toEqual(scored(['first', -Infinity], ['mid', 0], ['last', Infinity]))
})

test('any score comes back as it was', async () => {
  const { keys } = fresh()
  await fc.assert(
    fc.asyncProperty(fc.double({ noNaN: true }), async (score) => {
      await keys.due().add({ value: 'x', score })
      // JavaScript has two zeros, and Redis may answer either.
      expect(Object.is(await keys.due().score('x'), score) || score === 0).toBe(true)
    }),
    { numRuns: 60 },
  )
})

test('is read by rank', async () => {
  const { keys } = fresh()
  const best = keys.best({ id: 1 })
  await best.add(scored(['a', 1], ['b', 2], ['c', 3], ['d', 4]))
  expect(await best.range(1, 2)).toEqual(scored(['b', 2], ['c', 3]))
  expect(await best.range(-1)).toEqual(scored(['d', 4]))
  expect(await best.range(0, 1, { reverse: true })).toEqual(scored(['d', 4], ['c', 3]))
  expect(await best.range(7, 9)).toEqual([])
  expect(await best.rank('b')).toBe(1)
  expect(await best.rank('b', { reverse: true })).toBe(2)
  expect(await best.rank('x')).toBeUndefined()
  expect(await best.removeRange(0, 1)).toBe(2)
  expect(await best.range()).toEqual(scored(['c', 3], ['d', 4]))
  await expect(best.range(0.5)).rejects.toThrow('0.5 is not a rank')
})

test('is read by score, within bounds and limits, from either end', async () => {
  const { keys } = fresh()
  const best = keys.best({ id: 1 })
  await best.add(scored(['a', 1], ['b', 2], ['c', 3], ['d', 4]))
  expect(await best.rangeByScore()).toHaveLength(4)
  expect(await best.rangeByScore({ min: 2, max: 3 })).toEqual(scored(['b', 2], ['c', 3]))
  expect(await best.rangeByScore({ above: 2, below: 4 })).toEqual(scored(['c', 3]))
  expect(await best.rangeByScore({ min: 2, reverse: true, limit: 2 })).toEqual(scored(['d', 4], ['c', 3]))
  expect(await best.rangeByScore({ max: 4, offset: 1, limit: 2 })).toEqual(scored(['b', 2], ['c', 3]))
  expect(await best.rangeByScore({ min: 9 })).toEqual([])
  expect(await best.count()).toBe(4)
  expect(await best.count({ above: 1, max: 3 })).toBe(2)
  expect(await best.removeByScore({ below: 3 })).toBe(2)
  await expect(best.count({ min: 1, above: 1 })).rejects.toThrow('one bound on each side')
  await expect(best.count({ min: Number.NaN })).rejects.toThrow('NaN is not a score')
})

test('elements are taken from either end, each once, and the last takes the key with it', async () => {
  const { keys } = fresh()
  const best = keys.best({ id: 1 })
  expect(await best.popLowest()).toBeUndefined()
  expect(await best.popHighest(3)).toEqual([])
  await best.add(scored(['a', 1], ['b', 2], ['c', 3], ['d', 4], ['e', 5]))
  expect(await best.popLowest()).toEqual({ value: 'a', score: 1 })
  expect(await best.popHighest(2)).toEqual(scored(['e', 5], ['d', 4]))
  expect(await best.popLowest(0)).toEqual([])
  const popped = await Promise.all([best.popLowest(), best.popHighest(), best.popLowest()])
  expect(popped).toEqual([...scored(['b', 2], ['c', 3]), undefined])
  expect(await redis.command('EXISTS', best.name)).toBe(0)
})

test('thousands are added in one step and scanned in batches', async () => {
  const { keys } = fresh()
  const elements = Array.from({ length: 5001 }, (_, value) => ({ value, score: value % 10 }))
  expect(await keys.ids().add(elements.slice(0, 3))).toBe(3)
  expect(await keys.ids().add(elements)).toBe(4998)
  const seen = await all(keys.ids().scan({ count: 1000 }))
  expect(new Map(seen.map(({ value, score }) => [value, score]))).toEqual(
    new Map(elements.map(({ value, score }) => [value, score])),
  )
})

test('what cannot be read stays with its score, and what cannot be written keeps all from being written', async () => {
  const { prefix, keys } = fresh()
  const name = `${prefix}ids`
  await redis.command('ZADD', name, 1.5, Buffer.from([0xff]), '+inf', '7')
  await expect(keys.ids().popLowest(2)).rejects.toMatchObject({ code: 'E_DECODE', key: name })
  await expect(keys.ids().popHighest(2)).rejects.toMatchObject({ code: 'E_DECODE', key: name })
  expect(await redis.command('ZMSCORE', name, Buffer.from([0xff]), '7')).toEqual(['1.5', 'inf'])
  await expect(keys.ids().range()).rejects.toMatchObject({ code: 'E_DECODE', key: name })
  await expect(
    keys.ids().add([
      { value: 8, score: 1 },
      { value: 0.5, score: 1 },
    ]),
  ).rejects.toMatchObject({
    code: 'E_ENCODE',
    key: name,
  })
  expect(await redis.command('ZSCORE', name, '8')).toBeNull()
  await redis.command('DEL', name)
  await redis.command('SET', name, 'x')
  for (const call of [keys.ids().add({ value: 1, score: 1 }), keys.ids().range(), keys.ids().popLowest()]) {
    await expect(call).rejects.toMatchObject({ code: 'E_WRONG_TYPE', key: name })
  }
})

test('bytes are untouched', async () => {
  const { keys } = fresh()
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 16 }), async (value) => {
      const expected = [{ value: Buffer.from(value), score: 1.25 }]
      await keys.blobs().add({ value, score: 1.25 })
      expect(await keys.blobs().range()).toEqual(expected)
      expect(await keys.blobs().rangeByScore({ min: 1 })).toEqual(expected)
      expect(await all(keys.blobs().scan())).toEqual(expected)
      expect(await keys.blobs().increment(value, 0.25)).toBe(1.5)
      expect(await keys.blobs().popHighest()).toEqual({ value: Buffer.from(value), score: 1.5 })
    }),
    { numRuns: 25 },
  )
})
