import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connections, type Opened } from '../../../../test-support/connections.ts'
import { bytes } from '../codec/bytes.ts'
import { float32 } from '../codec/float32.ts'
import { integer } from '../codec/integer.ts'
import { text } from '../codec/text.ts'
import { open } from '../keyspace.ts'
import { startRedis, type TemporaryRedis, unique } from '../testing/index.ts'
import { counter } from './counter.ts'
import { hash } from './hash.ts'
import { list } from './list.ts'
import { set } from './set.ts'
import { sortedSet } from './sorted-set.ts'
import { stream } from './stream.ts'
import { string } from './string.ts'

const ttl = { ttl: '1h' } as const
const schema = {
  vector: string('vector:<id>', float32(2), ttl),
  title: string('title', text, ttl),
  count: counter('count', ttl),
  mixed: hash('mixed', { vector: float32(2), title: text, n: integer }, ttl),
  vectors: list('vectors', float32(2), ttl),
  blobs: set('blobs', bytes, ttl),
  ranked: sortedSet('ranked', bytes, ttl),
  named: sortedSet('named', text, ttl),
  events: stream('events', { blob: bytes, title: text }, ttl),
}

// The forms that clients and their versions give differently: bytes that are not UTF-8, doubles, maps, sets, pairs, nil.
const VECTOR = new Float32Array([1.5, -2.25])
const BLOB = Uint8Array.of(0, 255, 254, 13, 10, 128)
const asBuffer = (value: unknown) => Buffer.from(value as Uint8Array)

let redis: TemporaryRedis
beforeAll(async () => {
  redis = await startRedis({ port: 'any' })
})
afterAll(() => redis.stop())

describe.each(connections)('every kind over %s', (_name, over) => {
  let opened: Opened
  beforeAll(async () => {
    opened = await over(redis)
  })
  afterAll(() => opened.close())
  const keys = () => open(schema, opened.connection, { prefix: `${unique()}:` })

  test('strings and counters', async () => {
    const { vector, title, count } = keys()
    expect(await vector({ id: 1 }).get()).toBeUndefined()
    await vector({ id: 1 }).set(VECTOR)
    await vector({ id: 2 }).set(new Float32Array([7, 8]))
    expect(await vector({ id: 1 }).get()).toEqual(VECTOR)
    // Side by side they go out as one MGET.
    const together = await Promise.all([1, 2, 3, 1, 2].map((id) => vector({ id }).get()))
    expect(together).toEqual([VECTOR, new Float32Array([7, 8]), undefined, VECTOR, new Float32Array([7, 8])])
    expect(await vector.many([{ id: 1 }, { id: 3 }]).get()).toEqual([VECTOR, undefined])
    const changed = await vector({ id: 1 }).update((old) => new Float32Array([old![0]!, 9]))
    expect(changed).toEqual(new Float32Array([1.5, 9]))
    expect(await vector({ id: 1 }).getAndDelete()).toEqual(new Float32Array([1.5, 9]))
    expect(await title().getAndSet('héllo')).toBeUndefined()
    expect(await title().getAndSet('b')).toBe('héllo')
    expect(await title().setIfAbsent('c')).toBe(false)
    expect(await count().increment(2 ** 40)).toBe(2 ** 40)
    expect(await count().get()).toBe(2 ** 40)
  })

  test('hashes', async () => {
    const mixed = keys().mixed()
    expect(await mixed.get()).toBeUndefined()
    await mixed.set({ vector: VECTOR, title: 'héllo', n: 1 })
    expect(await mixed.get()).toEqual({ vector: VECTOR, title: 'héllo', n: 1 })
    expect(await mixed.increment('n', 2)).toBe(3)
    expect(await mixed.updateIf({ title: 'x' }, { n: 9 })).toBeUndefined()
    expect(await mixed.update({ title: 'b' })).toMatchObject({ title: 'b', vector: VECTOR })
    expect((await mixed.fields()).toSorted()).toEqual(['n', 'title', 'vector'])
  })

  test('lists and sets', async () => {
    const { vectors, blobs } = keys()
    await vectors().pushBack(VECTOR, new Float32Array([3, 4]))
    expect(await vectors().range()).toEqual([VECTOR, new Float32Array([3, 4])])
    expect(await vectors().popFront()).toEqual(VECTOR)
    expect(await vectors().popBack(5)).toEqual([new Float32Array([3, 4])])
    expect(await vectors().popFront()).toBeUndefined()
    await blobs().add(BLOB, Uint8Array.of(1))
    expect((await blobs().members()).map(asBuffer).toSorted(Buffer.compare)).toEqual([
      asBuffer(BLOB),
      Buffer.of(1),
    ])
    expect(await blobs().has(BLOB)).toBe(true)
    expect(await blobs().hasMany([BLOB, Uint8Array.of(2)])).toEqual([true, false])
  })

  test('sorted sets', async () => {
    const { ranked, named } = keys()
    const scores = [1.5, -Infinity, 1e300]
    await ranked().add(scores.map((score, at) => ({ value: Uint8Array.of(at, 255), score })))
    const range = await ranked().range()
    expect(range.map(({ value, score }) => [asBuffer(value), score])).toEqual([
      [Buffer.of(1, 255), -Infinity],
      [Buffer.of(0, 255), 1.5],
      [Buffer.of(2, 255), 1e300],
    ])
    expect(await ranked().score(Uint8Array.of(0, 255))).toBe(1.5)
    expect(await ranked().scores([Uint8Array.of(1, 255), Uint8Array.of(9)])).toEqual([-Infinity, undefined])
    expect(await ranked().rank(Uint8Array.of(2, 255))).toBe(2)
    expect(await named().increment('a', 0.5)).toBe(0.5)
    expect(await named().popHighest()).toEqual({ value: 'a', score: 0.5 })
    expect(await named().popHighest()).toBeUndefined()
  })

  test('streams', async () => {
    const events = keys().events()
    const id = await events.add({ blob: BLOB, title: 'héllo' })
    const [item] = await events.range()
    expect([item!.id, asBuffer(item!.value.blob), item!.value.title]).toEqual([id, asBuffer(BLOB), 'héllo'])
    expect((await events.readAfter('0')).map((read) => read.id)).toEqual([id])
    expect(await events.readAfter(id, { wait: '10ms' })).toEqual([])
    expect(await events.info()).toMatchObject({ length: 1 })
  })
})
