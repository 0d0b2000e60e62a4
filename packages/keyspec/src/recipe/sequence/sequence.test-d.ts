import { expectTypeOf, test } from 'vitest'
import type { Connection } from '../../connection/connection.ts'
import { open } from '../../keyspace.ts'
import { type Issued, sequence } from './sequence.ts'

const keys = open({ id: sequence('id', { ttl: 'forever', because: 'ids never repeat' }) }, {} as Connection)

test('numbers, one or many at a time', () => {
  expectTypeOf(keys.id().next()).resolves.toEqualTypeOf<number>()
  expectTypeOf(keys.id().nextMany(5)).resolves.toEqualTypeOf<Issued>()
  expectTypeOf(keys.id().current()).resolves.toEqualTypeOf<number | undefined>()
  // @ts-expect-error no ttl
  void sequence('id', {})
})
