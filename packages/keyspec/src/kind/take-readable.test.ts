import * as v from 'valibot'
import { expect, test } from 'vitest'
import { connected } from '../../../../test-support/connected.ts'
import { integer } from '../codec/integer.ts'
import { json } from '../codec/json.ts'
import type { Connection } from '../connection/connection.ts'
import { open } from '../keyspace.ts'
import { unique } from '../testing/index.ts'
import { counter } from './counter.ts'
import { list } from './list.ts'
import { set } from './set.ts'
import { sortedSet } from './sorted-set.ts'
import { string } from './string.ts'

const { redis, connection } = await connected()
const hour = { ttl: '1h' } as const
const Job = json(v.object({ id: v.number() }))
const schema = {
  value: string('value', Job, hour),
  count: counter('count', hour),
  number: string('number', integer, hour),
  list: list('list', Job, hour),
  set: set('set', Job, hour),
  sorted: sortedSet('sorted', Job, hour),
}
const over = (given: Connection, prefix: string) => open(schema, given, { prefix })
type Keys = ReturnType<typeof over>

const UNREADABLE = Buffer.from([0x7b, 0xff])
const VERBS: [verb: string, plant: (string | Buffer)[], run: (keys: Keys) => Promise<unknown>][] = [
  ['getAndDelete of a string', ['SET', 'value', UNREADABLE], (keys) => keys.value().getAndDelete()],
  ['getAndDelete of a number', ['SET', 'number', '1e3'], (keys) => keys.number().getAndDelete()],
  ['getAndDelete of a counter', ['SET', 'count', '007'], (keys) => keys.count().getAndDelete()],
  ['getAndReset', ['SET', 'count', '9007199254740992'], (keys) => keys.count().getAndReset()],
  ['popFront', ['RPUSH', 'list', UNREADABLE, '{"id":1}'], (keys) => keys.list().popFront()],
  ['popFront of several', ['RPUSH', 'list', '{"id":1}', UNREADABLE], (keys) => keys.list().popFront(2)],
  ['popBack', ['RPUSH', 'list', '{"id":1}', UNREADABLE], (keys) => keys.list().popBack()],
  ['popBack of several', ['RPUSH', 'list', UNREADABLE, '{"id":1}'], (keys) => keys.list().popBack(2)],
  ['pop', ['SADD', 'set', UNREADABLE], (keys) => keys.set().pop()],
  ['pop of several', ['SADD', 'set', UNREADABLE, '{"id":1}'], (keys) => keys.set().pop(2)],
  ['popLowest', ['ZADD', 'sorted', '1', UNREADABLE, '2', '{"id":1}'], (keys) => keys.sorted().popLowest()],
  ['popHighest', ['ZADD', 'sorted', '2', UNREADABLE, '1', '{"id":1}'], (keys) => keys.sorted().popHighest()],
  [
    'popLowest of several',
    ['ZADD', 'sorted', '2', UNREADABLE, '1', '{"id":1}'],
    (keys) => keys.sorted().popLowest(2),
  ],
]

test.each(VERBS)(
  '%s leaves what cannot be read as it is, whenever the process ends',
  async (_verb, plant, run) => {
    for (let allowed = 0; ; allowed += 1) {
      const prefix = `${unique()}:`
      const [command, key, ...values] = plant
      const name = `${prefix}${key!.toString()}`
      await redis.command(command as string, name, ...values)
      await redis.command('PEXPIRE', name, 5_000)
      const before = await redis.commandBuffer('DUMP', name)

      const ending = endsAfter(allowed)
      const failed = await run(over(ending.connection, prefix)).then(
        () => undefined,
        (error: unknown) => error,
      )
      expect(failed).toMatchObject(
        ending.hasEnded() ? { message: 'the process ended' } : { code: 'E_DECODE', key: name },
      )
      expect(await redis.commandBuffer('DUMP', name)).toEqual(before)
      const ttlMs = (await redis.command('PTTL', name)) as number
      expect(ttlMs > 0 && ttlMs <= 5_000).toBe(true)
      if (!ending.hasEnded()) return
    }
  },
)

/** A connection to a process that ends when it has sent so many commands: what it sends next never reaches the server. */
function endsAfter(count: number): { connection: Connection; hasEnded: () => boolean } {
  let sent = 0
  const send: Connection['send'] = async (command, shape) => {
    sent += 1
    if (sent > count) throw new Error('the process ended')
    return connection.send(command, shape)
  }
  return {
    connection: { ...connection, send, masters: () => connection.masters() },
    hasEnded: () => sent > count,
  }
}

test('elements that many take at once go to one each, and none is left', async () => {
  const keys = over(connection, `${unique()}:`)
  const ids = Array.from({ length: 300 }, (_, id) => ({ id }))
  await keys.list().pushBack(...ids)
  await keys.set().add(...ids)
  await keys.sorted().add(ids.map((value) => ({ value, score: value.id })))
  const takes: Record<string, () => Promise<unknown[]>> = {
    front: () => keys.list().popFront(1),
    back: () => keys.list().popBack(2),
    random: () => keys.set().pop(3),
    lowest: async () => (await keys.sorted().popLowest(1)).map(({ value }) => value),
    highest: async () => (await keys.sorted().popHighest(2)).map(({ value }) => value),
  }
  for (const some of [['front', 'back'], ['random'], ['lowest', 'highest']]) {
    const workers = Array.from({ length: 60 }, async (_, index) => {
      const mine: unknown[] = []
      for (;;) {
        const taken = await takes[some[index % some.length]!]!()
        if (taken.length === 0) return mine
        mine.push(...taken)
      }
    })
    const all = (await Promise.all(workers)).flat() as { id: number }[]
    expect(all.map(({ id }) => id).sort((a, b) => a - b)).toEqual(ids.map(({ id }) => id))
  }
})

test('a value that changes while it is read is taken as it is then, and absent ones are absent', async () => {
  const prefix = `${unique()}:`
  const keys = over(connection, prefix)
  await keys.value().set({ id: 0 })
  const send: Connection['send'] = async (command, shape) => {
    const reply = await connection.send(command, shape)
    if (command[0] === 'GET') await keys.value().set({ id: 1 })
    return reply
  }
  expect(
    await over({ ...connection, send }, prefix)
      .value()
      .getAndDelete(),
  ).toEqual({ id: 1 })
  expect(await keys.value().getAndDelete()).toBeUndefined()
  expect(await keys.list().popFront()).toBeUndefined()
  expect(await keys.set().pop()).toBeUndefined()
  expect(await keys.sorted().popLowest()).toBeUndefined()
  expect(await keys.count().getAndReset()).toBe(0)
  await keys.count().set(-9007199254740991)
  expect(await keys.count().getAndReset()).toBe(-9007199254740991)
})

test('a number of elements is a whole number', async () => {
  const keys = over(connection, `${unique()}:`)
  for (const count of [-1, 0.5, NaN, '1' as never]) {
    await expect(keys.list().popFront(count)).rejects.toThrow(RangeError)
    await expect(keys.set().pop(count)).rejects.toThrow(RangeError)
    await expect(keys.sorted().popHighest(count)).rejects.toThrow(RangeError)
  }
})
