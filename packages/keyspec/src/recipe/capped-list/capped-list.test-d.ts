import { expectTypeOf, test } from 'vitest'
import { sqlDate } from '../../codec/sql-date.ts'
import type { Connection } from '../../connection/connection.ts'
import { open } from '../../keyspace.ts'
import { cappedList } from './capped-list.ts'

const keys = open({ list: cappedList('list:<of>', sqlDate, { most: 5, ttl: '24h' }) }, {} as Connection)

test('a list of what the codec gives', () => {
  const key = keys.list({ of: 1 })
  expectTypeOf(key.list()).resolves.toEqualTypeOf<Date[]>()
  expectTypeOf(key.latest()).resolves.toEqualTypeOf<Date | undefined>()
  // @ts-expect-error a value of the wrong type
  void key.add('2024-09-17 14:30:00')
})

test('a bounded list says what it is bounded to, and how long it lives', () => {
  // @ts-expect-error no most
  void cappedList('list', sqlDate, { ttl: '24h' })
  // @ts-expect-error no ttl
  void cappedList('list', sqlDate, { most: 5 })
})
