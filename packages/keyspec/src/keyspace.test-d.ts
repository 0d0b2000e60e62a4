import * as v from 'valibot'
import { expectTypeOf, test } from 'vitest'
import { param, integer, json, mount, open, string, text, type Connection } from './index.ts'

declare const connection: Connection
const Session = v.object({ userId: v.string(), turns: v.optional(v.number(), 0) })

const schema = {
  session: string('session:<userId>', json(Session), { ttl: '24h', subject: 'userId' }),
  calls: string('calls:<hour>:<who*>', integer, { ttl: '2h', params: { hour: param.hour } }),
  ocr: string('cache:ocr:<content>', text, { ttl: '7d', params: { content: param.digest() } }),
  last: string('last_job_id', integer, { ttl: 'forever', reason: 'ids never repeat' }),
  tutor: mount('tutor:', { topic: string('topic:<id>', text, { ttl: '1h' }) }),
}
const keys = open(schema, connection)

test('a placeholder takes a text or a number, or what its codec takes', () => {
  keys.session({ userId: 'a' })
  keys.session({ userId: 7 })
  keys.calls({ hour: new Date(), who: 'a' })
  keys.ocr({ content: Buffer.from('') })
  keys.last()
  keys.tutor.topic({ id: 1n })
})

test('a missing placeholder is an error', () => {
  // @ts-expect-error Property 'userId' is missing
  keys.session({})
  // @ts-expect-error Expected 1 arguments, but got 0
  keys.session()
  // @ts-expect-error Property 'who' is missing
  keys.calls({ hour: new Date() })
})

test('an unknown placeholder is an error', () => {
  // @ts-expect-error 'user' does not exist
  keys.session({ user: 'a' })
  // @ts-expect-error 'id' does not exist in type '{}'
  keys.last({ id: 1 })
})

test('a placeholder of another type is an error', () => {
  // @ts-expect-error Type 'Date' is not assignable
  keys.session({ userId: new Date() })
  // @ts-expect-error Type 'string' is not assignable to type 'Date'
  keys.calls({ hour: '2024-09-17_14', who: 'a' })
})

test('a value is written as its schema takes it, and read as its schema gives it', () => {
  const key = keys.session({ userId: 'a' })
  expectTypeOf(key.get()).resolves.toEqualTypeOf<{ userId: string; turns: number } | undefined>()
  key.set({ userId: 'a' })
  // @ts-expect-error Type 'number' is not assignable to type 'string'
  key.set({ userId: 7 })
  // @ts-expect-error Argument of type 'string' is not assignable to parameter of type 'number'
  keys.last().set('7')
})

test('a lifetime must be declared, and forever needs a reason', () => {
  // @ts-expect-error Expected 3 arguments, but got 2
  string('a:<id>', text)
  // @ts-expect-error Property 'ttl' is missing
  string('a:<id>', text, {})
  // @ts-expect-error Property 'reason' is missing
  string('a:<id>', text, { ttl: 'forever' })
  // @ts-expect-error Type '"soon"' is not assignable
  string('a:<id>', text, { ttl: 'soon' })
})

test('a subject and param codecs must be of the pattern', () => {
  // @ts-expect-error Type '"user"' is not assignable to type '"id"'
  string('a:<id>', text, { ttl: '1h', subject: 'user' })
  // @ts-expect-error 'at' does not exist
  string('a:<id>', text, { ttl: '1h', params: { at: param.hour } })
})

test('many keys and iteration keep the types', () => {
  expectTypeOf(keys.calls.many([{ hour: new Date(), who: 'a' }]).get()).resolves.toEqualTypeOf<
    (number | undefined)[]
  >()
  expectTypeOf(keys.calls.parse('')).toEqualTypeOf<
    { readonly hour: Date; readonly who: string } | undefined
  >()
  // @ts-expect-error Property 'hour' is missing
  keys.calls.many([{ who: 'a' }])
})
