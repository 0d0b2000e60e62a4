import { expectTypeOf, test } from 'vitest'
import { decimal } from '../../codec/decimal.ts'
import { integer } from '../../codec/integer.ts'
import { timestamp } from '../../codec/timestamp.ts'
import type { Connection } from '../../connection/connection.ts'
import { open } from '../../keyspace.ts'
import type { Replaced } from './replace.ts'
import { scoredSnapshot } from './scored-snapshot.ts'
import { snapshot } from './snapshot.ts'

const forever = { ttl: 'forever', because: 'replaced whole' } as const
const keys = open(
  {
    trending: snapshot('trending:current', integer, { staging: 'trending:next', ...forever }),
    seen: scoredSnapshot('seen:<of>', integer, timestamp, { staging: 'seen:<of>:next', ttl: '2d' }),
  },
  {} as Connection,
)

test('a set of what the codec gives, and how its replacement went', async () => {
  expectTypeOf(keys.trending().members()).resolves.toEqualTypeOf<Set<number>>()
  const replaced = await keys.trending().replace(new Set([1]))
  expectTypeOf(replaced).toEqualTypeOf<Replaced>()
  if (replaced.replaced) expectTypeOf(replaced.size).toEqualTypeOf<number>()
  else expectTypeOf(replaced.reason).toEqualTypeOf<'empty'>()
  // @ts-expect-error members of the wrong type
  void keys.trending().replace(['1'])
})

test('a map from what one codec gives to what the other gives', () => {
  expectTypeOf(keys.seen({ of: 1 }).scores()).resolves.toEqualTypeOf<Map<number, Date>>()
  expectTypeOf(keys.seen({ of: 1 }).score(1)).resolves.toEqualTypeOf<Date | undefined>()
  void keys.seen({ of: 1 }).replace(new Map([[1, new Date()]]))
  // @ts-expect-error a score of the wrong type
  void keys.seen({ of: 1 }).replace([[1, 0.5]])
})

test('a snapshot names the key that it is staged in', () => {
  // @ts-expect-error no staging
  void snapshot('a', integer, forever)
  // @ts-expect-error no ttl
  void scoredSnapshot('a', integer, decimal, { staging: 'b' })
})
