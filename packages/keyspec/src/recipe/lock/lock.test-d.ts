import { expectTypeOf, test } from 'vitest'
import type { Connection } from '../../connection/connection.ts'
import { open } from '../../keyspace.ts'
import { lock } from './lock.ts'

declare const connection: Connection

test('a lock that was acquired can be released, one that was not says when to ask again', async () => {
  const keys = open({ lock: lock('lock:<key*>', { ttl: '10s' }) }, connection)
  const result = await keys.lock({ key: 'a' }).acquire({ wait: '5s' })
  // @ts-expect-error perhaps it was not acquired
  await result.release()
  if (result.acquired) {
    expectTypeOf(result.fence).toEqualTypeOf<undefined>()
    expectTypeOf(result.release()).toEqualTypeOf<Promise<boolean>>()
  } else {
    expectTypeOf(result.retryAfterMs).toEqualTypeOf<number>()
  }
})

test('a declared fence is a number', async () => {
  const keys = open({ lock: lock('lock:<key>', { ttl: '10s', fence: 'fence:<key>' }) }, connection)
  await keys.lock({ key: 'a' }).using((signal, held) => {
    expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
    expectTypeOf(held.fence).toEqualTypeOf<number>()
  })
})

test('using answers what the work did', async () => {
  const keys = open({ lock: lock('lock:<key*>', { ttl: '10s' }) }, connection)
  const used = await keys.lock({ key: 'a' }).using(async () => 'done')
  if (used.acquired) expectTypeOf(used.value).toEqualTypeOf<string>()
})

test('a lock ends, and its fence cannot be promised while Redis is away', () => {
  // @ts-expect-error a lock has a ttl
  lock('lock:<key*>', {})
  // @ts-expect-error and an end
  lock('lock:<key*>', { ttl: 'forever' })
  // @ts-expect-error no fence without Redis
  lock('lock:<key*>', { ttl: '10s', fence: 'fence:<key*>', unreachable: 'proceed' })
})
