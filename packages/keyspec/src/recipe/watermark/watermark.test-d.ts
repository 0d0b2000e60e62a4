import { expectTypeOf, test } from 'vitest'
import { bytes } from '../../codec/bytes.ts'
import { sqlDate } from '../../codec/sql-date.ts'
import type { Connection } from '../../connection/connection.ts'
import { open } from '../../keyspace.ts'
import { type AdvanceResult, watermark } from './watermark.ts'

const keys = open({ mark: watermark('mark', sqlDate, { ttl: '2d' }) }, {} as Connection)

test('a value of the codec, and whether it moved', () => {
  expectTypeOf(keys.mark().get()).resolves.toEqualTypeOf<Date | undefined>()
  expectTypeOf(keys.mark().advance(new Date())).resolves.toEqualTypeOf<AdvanceResult<Date>>()
  // @ts-expect-error a value of the wrong type
  void keys.mark().advance(5)
  // @ts-expect-error bytes have no order
  void watermark('mark', bytes, { ttl: '2d' })
})
