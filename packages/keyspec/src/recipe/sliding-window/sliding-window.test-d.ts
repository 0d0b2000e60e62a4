import { expectTypeOf, test } from 'vitest'
import type { Connection } from '../../connection/connection.ts'
import { open } from '../../keyspace.ts'
import { param } from '../../param.ts'
import type { LastParam } from '../limiter/limit-by.ts'
import { slidingWindow } from './sliding-window.ts'

declare const connection: Connection

test('limits make the last placeholder one of their names', () => {
  const keys = open(
    {
      requests: slidingWindow('rate:<userId>:<endpoint>', {
        per: '1m',
        limits: { web_search: 10, upload: 5 },
      }),
    },
    connection,
  )
  type Params = Parameters<typeof keys.requests>[0]
  expectTypeOf<Params['endpoint']>().toEqualTypeOf<'web_search' | 'upload'>()
  expectTypeOf<Params['userId']>().toEqualTypeOf<string | number | bigint>()
  keys.requests({ userId: 1, endpoint: 'upload' })
  // @ts-expect-error no limit is declared for it
  keys.requests({ userId: 1, endpoint: 'logout' })
  // @ts-expect-error the endpoint is missing
  keys.requests({ userId: 1 })
})

test('one limit leaves the placeholders as they are', () => {
  const keys = open(
    { hits: slidingWindow('rate:<ip>', { per: '1m', limit: 10, params: { ip: param.digest(16) } }) },
    connection,
  )
  keys.hits({ ip: new Uint8Array() })
  // @ts-expect-error a number is not what digest takes
  keys.hits({ ip: 1 })
})

test('a limit and limits exclude each other, and one of them is needed', () => {
  // @ts-expect-error both
  slidingWindow('rate:<ip>', { per: '1m', limit: 10, limits: { a: 1 } })
  // @ts-expect-error neither
  slidingWindow('rate:<ip>', { per: '1m' })
  // @ts-expect-error no such form
  slidingWindow('rate:<ip>', { per: '1m', limit: 10, form: 'small' })
  // @ts-expect-error no such placeholder
  slidingWindow('rate:<ip>', { per: '1m', limit: 10, subject: 'user' })
})

test('what was taken tells a refusal from an admission', async () => {
  const keys = open({ hits: slidingWindow('rate:<ip>', { per: '1m', limit: 10 }) }, connection)
  const taken = await keys.hits({ ip: 'a' }).take()
  expectTypeOf(taken.remaining).toEqualTypeOf<number>()
  // @ts-expect-error only a refusal says when to come back
  expectTypeOf(taken.retryAfterMs)
  if (!taken.allowed) expectTypeOf(taken.retryAfterMs).toEqualTypeOf<number>()
})

test('the last placeholder of a pattern', () => {
  expectTypeOf<LastParam<'a:<b>:<c>'>>().toEqualTypeOf<'c'>()
  expectTypeOf<LastParam<'a:<b>:<c*>:d'>>().toEqualTypeOf<'c'>()
  expectTypeOf<LastParam<'a:<b>'>>().toEqualTypeOf<'b'>()
})
