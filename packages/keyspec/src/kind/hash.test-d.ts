import { expectTypeOf, test } from 'vitest'
import { bytes } from '../codec/bytes.ts'
import { isoDate } from '../codec/iso-date.ts'
import { integer } from '../codec/integer.ts'
import { text } from '../codec/text.ts'
import type { Connection } from '../connection/connection.ts'
import { open } from '../keyspace.ts'
import { fields } from './fields.ts'
import { hash } from './hash.ts'

const keys = open(
  {
    run: hash('run:<id>', { status: text, done: integer, at: isoDate, blob: bytes }, { ttl: '25h' }),
    jobs: hash('jobs', fields(integer), { ttl: '1h' }),
    names: hash('names', fields(text), { ttl: '1h' }),
  },
  {} as Connection,
)
const run = keys.run({ id: 1 })

interface Run {
  readonly status?: string
  readonly done?: number
  readonly at?: Date
  readonly blob?: Buffer
}

test('every field has its own type, and may be absent on reading', () => {
  expectTypeOf(run.get()).resolves.toEqualTypeOf<Run | undefined>()
  expectTypeOf(run.update({})).resolves.toEqualTypeOf<Run>()
  expectTypeOf(run.getField('at')).resolves.toEqualTypeOf<Date | undefined>()
  expectTypeOf(run.getFields('at', 'done')).resolves.toEqualTypeOf<{
    readonly at?: Date
    readonly done?: number
  }>()
  expectTypeOf(run.fields()).resolves.toEqualTypeOf<('status' | 'done' | 'at' | 'blob')[]>()
  expectTypeOf(keys.run.many([{ id: 1 }]).get()).resolves.items.toEqualTypeOf<Run | undefined>()
  // @ts-expect-error no such field
  void run.getField('stats')
  // @ts-expect-error no such field
  void run.set({ stats: 'x' })
  // @ts-expect-error not the field's type
  void run.set({ done: 'x' })
  // @ts-expect-error not the field's type
  void run.setIfAbsent('done', 'x')
})

test('a field that was scanned tells its type by its name', async () => {
  for await (const entry of run.scan()) {
    if (entry.field === 'done') expectTypeOf(entry.value).toEqualTypeOf<number>()
    if (entry.field === 'at') expectTypeOf(entry.value).toEqualTypeOf<Date>()
  }
})

test('only numbers are counted', () => {
  expectTypeOf(run.increment('done')).resolves.toEqualTypeOf<number>()
  expectTypeOf(keys.jobs().increment).parameter(0).toEqualTypeOf<string>()
  // @ts-expect-error a text
  void run.increment('status')
  // @ts-expect-error a record of texts
  void keys.names().increment('x')
})

test('a record takes any name', () => {
  expectTypeOf(keys.jobs().getField('anything')).resolves.toEqualTypeOf<number | undefined>()
  expectTypeOf(keys.jobs().fields()).resolves.toEqualTypeOf<string[]>()
  void keys.jobs().set({ a: 1, b: 2 })
  // @ts-expect-error not the record's type
  void keys.jobs().set({ a: 'x' })
})
