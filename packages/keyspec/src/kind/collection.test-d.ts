import { expectTypeOf, test } from 'vitest'
import { bytes } from '../codec/bytes.ts'
import { integer } from '../codec/integer.ts'
import { text } from '../codec/text.ts'
import type { Connection } from '../connection/connection.ts'
import { open } from '../keyspace.ts'
import { counter } from './counter.ts'
import { list } from './list.ts'
import { set } from './set.ts'
import { sortedSet } from './sorted-set.ts'
import type { ScoredElement } from './sorted-set-key.ts'
import { stream } from './stream.ts'
import type { StreamItem, TrimmedItem } from './stream-entries.ts'

const keys = open(
  {
    calls: counter('calls:<hour>', { ttl: '2h', renew: 'creation' }),
    numbers: list('numbers', integer, { ttl: '1h' }),
    blobs: set('blobs:<id>', bytes, { ttl: '1h' }),
    best: sortedSet('best', integer, { ttl: '1h' }),
    events: stream('events', { user: text, at: integer }, { ttl: '1h' }),
  },
  {} as Connection,
)

test('a counter is a number, also where there is none', () => {
  expectTypeOf(keys.calls({ hour: 1 }).get()).resolves.toEqualTypeOf<number>()
  expectTypeOf(keys.calls.many([{ hour: 1 }]).get()).resolves.toEqualTypeOf<number[]>()
  // @ts-expect-error a counter has no codec of its own
  counter('calls', integer, { ttl: '1h' })
  // @ts-expect-error no ttl
  counter('calls', {})
})

test('one is popped, or an array', () => {
  expectTypeOf(keys.numbers().popFront()).resolves.toEqualTypeOf<number | undefined>()
  expectTypeOf(keys.numbers().popFront(3)).resolves.toEqualTypeOf<number[]>()
  expectTypeOf(keys.blobs({ id: 1 }).pop()).resolves.toEqualTypeOf<Buffer | undefined>()
  expectTypeOf(keys.blobs({ id: 1 }).random(2)).resolves.toEqualTypeOf<Buffer[]>()
  expectTypeOf(keys.best().popLowest()).resolves.toEqualTypeOf<ScoredElement<number> | undefined>()
  expectTypeOf(keys.best().popHighest(2)).resolves.toEqualTypeOf<ScoredElement<number>[]>()
  // @ts-expect-error not a number
  void keys.numbers().pushBack('x')
  // @ts-expect-error neither before nor after
  void keys.numbers().insert(1, {})
})

test('sets take what their codec takes, and are combined', () => {
  void keys.blobs({ id: 1 }).add(new Uint8Array(), Buffer.from(''))
  // @ts-expect-error not bytes
  void keys.blobs({ id: 1 }).add('x')
  expectTypeOf(keys.blobs.many([]).union()).resolves.toEqualTypeOf<Buffer[]>()
  // @ts-expect-error no score
  void keys.best().add({ value: 1 })
  // @ts-expect-error no such condition
  void keys.best().add({ value: 1, score: 1 }, { onlyIf: 'never' })
})

test('an entry of a stream has its fields, unless it was trimmed', async () => {
  interface Event {
    readonly user?: string
    readonly at?: number
  }
  const [item] = await keys.events().range()
  expectTypeOf(item!.value).toEqualTypeOf<Event>()
  expectTypeOf(keys.events().get('1-0')).resolves.toEqualTypeOf<Event | undefined>()
  const again = keys.events().group('g').readAgain('c')
  expectTypeOf(again).resolves.items.toExtend<StreamItem<any> | TrimmedItem>()
  const [pending] = await again
  if (pending?.value !== undefined) expectTypeOf(pending.value).toEqualTypeOf<Event>()
  // @ts-expect-error no such field
  void keys.events().add({ usr: 'ada' })
  // @ts-expect-error a threshold is needed
  void keys.events().trim({ exact: true })
})
