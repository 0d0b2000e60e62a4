import { expectTypeOf, test } from 'vitest'
import type { Connection } from '../../connection/connection.ts'
import { open } from '../../keyspace.ts'
import { type SequenceRange, type ReplicatedSequenceRange, sequence } from './sequence.ts'

const keys = open({ id: sequence('id', { ttl: 'forever', reason: 'ids never repeat' }) }, {} as Connection)

test('numbers, one or many at a time', () => {
  expectTypeOf(keys.id().next()).resolves.toEqualTypeOf<number>()
  expectTypeOf(keys.id().nextMany(5)).resolves.toEqualTypeOf<SequenceRange>()
  expectTypeOf(keys.id().current()).resolves.toEqualTypeOf<number | undefined>()
  // @ts-expect-error no ttl
  void sequence('id', {})
})

test('with replicas, numbers come with how many of them acknowledged', () => {
  const replicated = { to: 1, within: '100ms' } as const
  const id = sequence('id', { ttl: 'forever', reason: 'ids never repeat', replicated })
  const replicatedKeys = open({ id }, {} as Connection, { replicating: {} as Connection })
  expectTypeOf(replicatedKeys.id().next()).resolves.toEqualTypeOf<ReplicatedSequenceRange>()
  expectTypeOf(replicatedKeys.id().current()).resolves.toEqualTypeOf<number | undefined>()
  // @ts-expect-error without a bound
  void sequence('id', { ttl: '1h', replicated: { to: 1 } })
})
