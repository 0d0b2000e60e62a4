import { expectTypeOf, test } from 'vitest'
import type { Connection } from '../../connection/connection.ts'
import { open } from '../../keyspace.ts'
import { param } from '../../param.ts'
import { quota, type QuotaResult } from './quota.ts'

declare const connection: Connection

test('the window is not asked for: the server knows it', () => {
  const keys = open(
    {
      calls: quota('limit:<hour>', { limit: 1, ttl: '2h', params: { hour: param.hour } }),
      perToken: quota('limit:<token>:<day>', { limit: 1, ttl: '2d', params: { day: param.day } }),
    },
    connection,
  )
  expectTypeOf(keys.calls().take()).toEqualTypeOf<Promise<QuotaResult>>()
  expectTypeOf<Parameters<typeof keys.perToken>[0]>().toEqualTypeOf<
    Omit<{ readonly token: string | number | bigint; readonly day: Date }, 'day'>
  >()
  keys.perToken({ token: 'a' })
  // @ts-expect-error the token is missing
  keys.perToken()
  // @ts-expect-error an hour is not its to choose
  keys.calls({ hour: new Date() })
})
