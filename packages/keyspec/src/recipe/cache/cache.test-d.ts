import * as v from 'valibot'
import { expectTypeOf, test } from 'vitest'
import { bytes } from '../../codec/bytes.ts'
import { float32 } from '../../codec/float32.ts'
import { json } from '../../codec/json.ts'
import type { Connection } from '../../connection/connection.ts'
import { open } from '../../keyspace.ts'
import { param } from '../../param.ts'
import { cache } from './cache.ts'
import type { CacheStats } from './stats.ts'

const Ocr = v.object({ text: v.string(), confidence: v.optional(v.number(), 1) })
const keys = open(
  {
    ocr: cache('cache:ocr:<content>', json(Ocr), { ttl: '7d', params: { content: param.digest() } }),
    vector: cache('emb:<model>:<hash>', float32(3), { ttl: '7d', jitter: 0.1, lockTtl: '30s' }),
  },
  {} as Connection,
)
const ocr = keys.ocr({ content: 'a file' })

test('what is loaded is what the codec takes, what is answered what it gives', () => {
  expectTypeOf(ocr.get()).resolves.toEqualTypeOf<{ text: string; confidence: number } | undefined>()
  expectTypeOf(ocr.getOrLoad(() => ({ text: 'a' }))).resolves.toEqualTypeOf<{
    text: string
    confidence: number
  }>()
  expectTypeOf(ocr.getOrLoad(async () => ({ text: 'a' }))).resolves.toEqualTypeOf<{
    text: string
    confidence: number
  }>()
  // @ts-expect-error a load that gives a value of the wrong shape
  void ocr.getOrLoad(() => ({ txt: 'a' }))
  // @ts-expect-error a load that may give null, where undefined means not to keep it
  void ocr.getOrLoad(async () => null)
})

test('a load that may give nothing answers nothing', () => {
  const maybe = async (): Promise<{ text: string } | undefined> => undefined
  expectTypeOf(ocr.getOrLoad(maybe)).resolves.toEqualTypeOf<
    { text: string; confidence: number } | undefined
  >()
})

test('a load of many is given the values of the placeholders, and a signal', () => {
  const many = keys.vector.many([{ model: 'm', hash: 'h' }])
  const loaded = many.getOrLoad(async (missing, signal) => {
    expectTypeOf(missing).items.toEqualTypeOf<{
      readonly model: string | number | bigint
      readonly hash: string | number | bigint
    }>()
    expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
    return missing.map(() => [1, 2, 3])
  })
  expectTypeOf(loaded).resolves.toEqualTypeOf<Float32Array[]>()
  expectTypeOf(keys.vector.stats()).toEqualTypeOf<CacheStats>()
})

test('a cache says how long it keeps what it holds', () => {
  // @ts-expect-error no ttl
  void cache('a:<b>', bytes, {})
  // @ts-expect-error no reason to keep it forever
  void cache('a:<b>', bytes, { ttl: 'forever' })
})
