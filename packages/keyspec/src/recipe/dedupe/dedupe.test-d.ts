import { expectTypeOf, test } from 'vitest'
import { integer } from '../../codec/integer.ts'
import type { Connection } from '../../connection/connection.ts'
import { open } from '../../keyspace.ts'
import { dedupe } from './dedupe.ts'

const keys = open({ shown: dedupe('shown:<of>', integer, { ttl: '24h' }) }, {} as Connection)

test('claims are answered as the candidates were given', () => {
  expectTypeOf(keys.shown({ of: 1 }).claim(new Set([1]), { most: 2 })).resolves.toEqualTypeOf<number[]>()
  // @ts-expect-error a candidate of the wrong type
  void keys.shown({ of: 1 }).claim(['1'])
  // @ts-expect-error what to do without Redis is one of two things
  void dedupe('a', integer, { ttl: '1h', unreachable: 'some' })
})
