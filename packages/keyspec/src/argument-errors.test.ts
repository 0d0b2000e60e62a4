import { expect, test } from 'vitest'
import { integer } from './codec/integer.ts'
import { text } from './codec/text.ts'
import { guarded } from './connection/guard/guarded.ts'
import type { Connection } from './connection/connection.ts'
import { KeyspecError } from './errors.ts'
import { hash } from './kind/hash.ts'
import { list } from './kind/list.ts'
import { sortedSet } from './kind/sorted-set.ts'
import { stream } from './kind/stream.ts'
import { string } from './kind/string.ts'
import { open } from './keyspace.ts'
import { param } from './param.ts'
import { fixedWindow, quota, rateLimitHeaders, sequence, workQueue } from './recipe/index.ts'

const forever = { ttl: 'forever', reason: 'a test' } as const
const schema = {
  note: string('note:<id>', text, { ttl: '1h' }),
  form: hash('form', { n: integer }, forever),
  lines: list('lines', text, forever),
  ranks: sortedSet('ranks', text, forever),
  events: stream('events', { n: integer }, forever),
  calls: fixedWindow('calls', { per: '1m', limit: 5 }),
  day: quota('day:<day>', { limit: 5, ttl: '2d', params: { day: param.day } }),
  ids: sequence('ids', forever),
  jobs: workQueue('jobs', text, { ...forever, lease: '1m' }),
}

let sent = 0
const connection: Connection = {
  client: 'none',
  cluster: false,
  send: () => Promise.reject(new Error(`command ${(sent += 1)} was sent`)),
  masters: async () => [connection],
}
const keys = open(schema, connection)

const WRONG: [call: string, kind: typeof RangeError | typeof TypeError, ask: () => unknown][] = [
  ['a rank', RangeError, () => keys.ranks().range(0.5)],
  ['a score', RangeError, () => keys.ranks().count({ min: NaN })],
  ['two bounds on one side', RangeError, () => keys.ranks().count({ min: 1, above: 1 })],
  ['an index', RangeError, () => keys.lines().at(0.5)],
  ['an amount', RangeError, () => keys.lines().popFront(-1)],
  ['another list', TypeError, () => keys.lines().move('front', 'back', open(schema, connection).lines())],
  ['a field', TypeError, () => keys.form().getField('other' as never)],
  ['an entry without a field', TypeError, () => keys.events().add({})],
  ['a group that is no text', TypeError, () => keys.events().group('\ud800').ack('1-1')],
  ['too few values', RangeError, () => keys.note.many([{ id: 1 }]).set([])],
  ['a cost', RangeError, () => keys.calls().take(6)],
  ['a cost of a quota', RangeError, () => keys.day().take(0)],
  ['a number of ids', RangeError, () => keys.ids().nextMany(0)],
  ['an empty worker', TypeError, () => keys.jobs().take('')],
  ['an empty token', TypeError, () => keys.jobs().add(['a'], { token: '' })],
  ['a counter', TypeError, () => keys.jobs().complete('w', { id: 1, result: 1, add: { bytes: 1 } })],
  ['a policy', RangeError, () => rateLimitHeaders({} as never, 'zürich')],
  ['a threshold', RangeError, () => guarded(connection, { failureThreshold: 0 })],
  ['a length of a digest', RangeError, () => param.digest(4)],
]

test.each(WRONG)('%s that no call takes has a code, and nothing is sent', async (_, kind, ask) => {
  const error = await (async () => ask())().catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(kind)
  expect(error).toMatchObject({ code: 'E_ARGUMENT' })
  // A program branches on outages by class: an argument is none.
  expect(error).not.toBeInstanceOf(KeyspecError)
  expect(sent).toBe(0)
})
