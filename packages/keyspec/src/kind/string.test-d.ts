import * as v from 'valibot'
import { expectTypeOf, test } from 'vitest'
import { bytes } from '../codec/bytes.ts'
import { json } from '../codec/json.ts'
import { text } from '../codec/text.ts'
import type { Connection } from '../connection/connection.ts'
import { open } from '../keyspace.ts'
import { string } from './string.ts'

const keys = open(
  {
    user: string('user:<id>', json(v.object({ name: v.string(), age: v.optional(v.number(), 0) })), {
      ttl: '1h',
    }),
    last: string('last', text, { ttl: 'forever', reason: 'a test' }),
    blob: string('blob:<id>', bytes, { ttl: '1h' }),
  },
  {} as Connection,
)

test('what is read is what the codec gives, what is written what it takes', () => {
  expectTypeOf(keys.user({ id: 1 }).get()).resolves.toEqualTypeOf<{ name: string; age: number } | undefined>()
  expectTypeOf(keys.user({ id: 1 }).set)
    .parameter(0)
    .toEqualTypeOf<{ name: string; age?: number | undefined }>()
  expectTypeOf(keys.blob({ id: 1 }).get()).resolves.toEqualTypeOf<Buffer | undefined>()
  expectTypeOf(keys.blob({ id: 1 }).set)
    .parameter(0)
    .toEqualTypeOf<Uint8Array>()
  expectTypeOf(keys.user.many([{ id: 1 }]).get()).resolves.items.toEqualTypeOf<
    { name: string; age: number } | undefined
  >()
  // @ts-expect-error a value of the wrong shape
  void keys.user({ id: 1 }).set({ nme: 'Ada' })
})

test('a key wants the values of its placeholders, all of them and no others', () => {
  expectTypeOf(keys.last().get()).resolves.toEqualTypeOf<string | undefined>()
  // @ts-expect-error no values
  keys.user()
  // @ts-expect-error no such placeholder
  keys.user({ id: 1, di: 2 })
  // @ts-expect-error not a text or a number
  keys.user({ id: new Date() })
})

test('a lifetime is required, and forever wants its reason', () => {
  // @ts-expect-error no ttl
  string('a', text, {})
  // @ts-expect-error no reason
  string('a', text, { ttl: 'forever' })
  // @ts-expect-error no unit
  string('a', text, { ttl: '30' })
  // @ts-expect-error what lives forever is never renewed
  string('a', text, { ttl: 'forever', reason: 'x', renew: 'read' })
  // @ts-expect-error no such placeholder
  string('a:<id>', text, { ttl: '1h', subject: 'userId' })
})
