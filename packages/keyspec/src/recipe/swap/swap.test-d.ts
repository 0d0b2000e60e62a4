import { expectTypeOf, test } from 'vitest'
import { number } from '../../codec/number.ts'
import { integer } from '../../codec/integer.ts'
import { sqlDate } from '../../codec/sql-date.ts'
import type { Connection } from '../../connection/connection.ts'
import { open } from '../../keyspace.ts'
import type { ReplaceResult } from './replace.ts'
import { swapHash } from './swap-hash.ts'
import { swapSet } from './swap-set.ts'

const forever = { ttl: 'forever', reason: 'replaced whole' } as const
const keys = open(
  {
    trending: swapSet('trending:current', integer, { staging: 'trending:next', ...forever }),
    seen: swapHash('seen:<of>', integer, sqlDate, { staging: 'seen:<of>:next', ttl: '2d' }),
  },
  {} as Connection,
)

test('a set of what the codec gives, and how its replacement went', async () => {
  expectTypeOf(keys.trending().members()).resolves.toEqualTypeOf<Set<number>>()
  const replaced = await keys.trending().replace(new Set([1]))
  expectTypeOf(replaced).toEqualTypeOf<ReplaceResult>()
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

test('a swapped collection names the key that it is staged in', () => {
  // @ts-expect-error no staging
  void swapSet('a', integer, forever)
  // @ts-expect-error no ttl
  void swapHash('a', integer, number, { staging: 'b' })
})
