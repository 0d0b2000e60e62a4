import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { defaultClients } from '../../../../test-support/default-clients.ts'
import { startProxy } from '../../../../test-support/index.ts'
import { textCodec } from '../codec/codec.ts'
import { integer } from '../codec/integer.ts'
import { text } from '../codec/text.ts'
import { type Connection, NO_KEY } from '../connection/connection.ts'
import { counter } from '../kind/counter.ts'
import { hash } from '../kind/hash.ts'
import { list } from '../kind/list.ts'
import { set } from '../kind/set.ts'
import { sortedSet } from '../kind/sorted-set.ts'
import { stream } from '../kind/stream.ts'
import { string } from '../kind/string.ts'
import { open } from '../keyspace.ts'
import { eventually, startRedis, type TemporaryRedis, unique } from '../testing/index.ts'
import { fixedWindow } from './fixed-window/fixed-window.ts'
import { lock } from './lock/lock.ts'
import { cappedList } from './capped-list/capped-list.ts'
import { dedupe } from './dedupe/dedupe.ts'
import { sequence } from './sequence/sequence.ts'
import { slidingWindow } from './sliding-window/sliding-window.ts'
import { workQueue } from './work-queue/work-queue.ts'

const ttl = { ttl: '1h' } as const
const refuse = { per: '1h', limit: 100, unreachable: 'refuse' } as const
let whenRead = () => {}
const telling = textCodec({
  name: 'telling',
  encode: (value: string) => value,
  decode(stored) {
    whenRead()
    return stored
  },
})
const schema = {
  word: string('word', text, ttl),
  told: string('told', telling, ttl),
  n: string('n', integer, ttl),
  fields: hash('fields', { state: text, n: integer }, ttl),
  count: counter('count', ttl),
  items: list('items', text, ttl),
  members: set('members', text, ttl),
  scores: sortedSet('scores', text, ttl),
  events: stream('events', { what: text }, ttl),
  shown: dedupe('shown', text, ttl),
  ids: sequence('ids', ttl),
  history: cappedList('history', text, { most: 10, ...ttl }),
  fixed: fixedWindow('fixed', { per: '1h', limit: 100 }),
  sliding: slidingWindow('sliding', { per: '1h', limit: 100 }),
  compact: slidingWindow('compact', { per: '1h', limit: 100, form: 'compact' }),
  fixedRefusing: fixedWindow('fixed:refusing', refuse),
  slidingRefusing: slidingWindow('sliding:refusing', refuse),
  lease: lock('lease', { ttl: '1h' }),
  jobs: workQueue('{jobs}', text, { lease: '1h' }),
}

const opened = (connection: Connection, prefix: string) => open(schema, connection, { prefix })
type Keys = ReturnType<typeof opened>

/** A verb that is not idempotent, on a state that was prepared, with a look at the server that shows how often it was applied. */
interface Case {
  readonly verb: string
  prepare?(keys: Keys): Promise<unknown>
  /** Calls the verb; `lose` withholds replies from then on, where the verb asks something first. */
  act(keys: Keys, lose: () => void): Promise<unknown>
  readonly look: readonly [command: string, key: string, ...rest: string[]]
  /** What the look finds when the verb was applied once. */
  readonly once: unknown
  /** What it finds in the end, where that differs. */
  readonly afterwards?: unknown
  /** The verb cannot lose anything: it may answer, and then with this. */
  readonly answers?: unknown
}

const cases: readonly Case[] = [
  {
    verb: 'string.update',
    prepare: (keys) => keys.n().set(100),
    act: (keys, lose) =>
      keys.n().update((n) => {
        lose()
        return n! - 10
      }),
    look: ['GET', 'n'],
    once: '90',
  },
  {
    verb: 'string.getAndDelete of a text',
    prepare: (keys) => keys.word().set('a'),
    act: (keys) => keys.word().getAndDelete(),
    look: ['EXISTS', 'word'],
    once: 0,
  },
  {
    verb: 'string.getAndDelete of a value that is read before',
    prepare: (keys) => keys.told().set('a'),
    act(keys, lose) {
      whenRead = lose
      return keys.told().getAndDelete()
    },
    look: ['EXISTS', 'told'],
    once: 0,
  },
  {
    verb: 'string.setIfAbsent',
    act: (keys) => keys.n().setIfAbsent(1),
    look: ['GET', 'n'],
    once: '1',
  },
  {
    verb: 'hash.updateIf',
    prepare: (keys) => keys.fields().set({ state: 'waiting', n: 1 }),
    act: (keys) => keys.fields().updateIf({ state: 'waiting' }, { state: 'running' }),
    look: ['HGET', 'fields', 'state'],
    once: 'running',
  },
  {
    verb: 'hash.increment',
    act: (keys) => keys.fields().increment('n', 5),
    look: ['HGET', 'fields', 'n'],
    once: '5',
  },
  { verb: 'counter.increment', act: (keys) => keys.count().increment(5), look: ['GET', 'count'], once: '5' },
  {
    verb: 'counter.getAndReset',
    prepare: (keys) => keys.count().increment(5),
    act: (keys) => keys.count().getAndReset(),
    look: ['EXISTS', 'count'],
    once: 0,
  },
  {
    verb: 'list.pushBack',
    act: (keys) => keys.items().pushBack('a'),
    look: ['LRANGE', 'items', '0', '-1'],
    once: ['a'],
  },
  {
    verb: 'list.popFront',
    prepare: (keys) => keys.items().pushBack('a', 'b', 'c'),
    act: (keys) => keys.items().popFront(),
    look: ['LRANGE', 'items', '0', '-1'],
    once: ['b', 'c'],
  },
  {
    verb: 'set.pop',
    prepare: (keys) => keys.members().add('a', 'b', 'c'),
    act: (keys) => keys.members().pop(),
    look: ['SCARD', 'members'],
    once: 2,
  },
  {
    verb: 'sortedSet.increment',
    act: (keys) => keys.scores().increment('a', 5),
    look: ['ZSCORE', 'scores', 'a'],
    once: '5',
  },
  {
    verb: 'sortedSet.popLowest',
    prepare: (keys) =>
      keys.scores().add([
        { value: 'a', score: 1 },
        { value: 'b', score: 2 },
      ]),
    act: (keys) => keys.scores().popLowest(),
    look: ['ZRANGE', 'scores', '0', '-1'],
    once: ['b'],
  },
  {
    verb: 'stream.add',
    act: (keys) => keys.events().add({ what: 'x' }),
    look: ['XLEN', 'events'],
    once: 1,
  },
  {
    verb: 'dedupe.claim',
    act: (keys) => keys.shown().claim(['a', 'b']),
    look: ['SCARD', 'shown'],
    once: 2,
  },
  { verb: 'sequence.next', act: (keys) => keys.ids().next(), look: ['GET', 'ids'], once: '1' },
  {
    verb: 'cappedList.add',
    act: (keys) => keys.history().add('a'),
    look: ['LRANGE', 'history', '0', '-1'],
    once: ['a'],
  },
  { verb: 'fixedWindow.take', act: (keys) => keys.fixed().take(3), look: ['GET', 'fixed'], once: '3' },
  { verb: 'slidingWindow.take', act: (keys) => keys.sliding().take(3), look: ['ZCARD', 'sliding'], once: 3 },
  {
    verb: 'fixedWindow.take that refuses without Redis',
    act: (keys) => keys.fixedRefusing().take(3),
    look: ['GET', 'fixed:refusing'],
    once: '3',
    answers: expect.objectContaining({ allowed: false, from: 'unreachable' }),
  },
  {
    verb: 'lock.acquire',
    act: (keys) => keys.lease().acquire(),
    look: ['EXISTS', 'lease'],
    once: 1,
    afterwards: 0, // what may have been taken is given back
  },
  {
    verb: 'lock.using',
    act: (keys, lose) =>
      keys.lease().using(() => {
        lose()
        return 'done'
      }),
    look: ['EXISTS', 'lease'],
    once: 0,
    answers: { acquired: true, value: 'done' },
  },
  {
    verb: 'workQueue.add',
    act: (keys) => keys.jobs().add(['a', 'b']),
    look: ['LLEN', '{jobs}:waiting'],
    once: 2,
  },
  {
    verb: 'workQueue.take',
    prepare: (keys) => keys.jobs().add(['a', 'b']),
    act: (keys) => keys.jobs().take('me'),
    look: ['LLEN', '{jobs}:waiting'],
    once: 1,
  },
  {
    verb: 'workQueue.complete',
    prepare: async (keys) => {
      await keys.jobs().add(['a', 'b'])
      await keys.jobs().take('me', 2)
    },
    act: (keys) => keys.jobs().complete('me', { id: '1', result: undefined }),
    look: ['HLEN', '{jobs}:in-progress'],
    once: 1,
  },
]

let redis: TemporaryRedis
beforeAll(async () => {
  redis = await startRedis({ port: 'any' })
})
afterAll(() => redis.stop())

describe.each(defaultClients)(
  'over %s as it comes, when the reply is lost and the connection is back',
  (_name, over) => {
    test.each(cases)('$verb is applied once and gives no false answer', async (given) => {
      const proxy = await startProxy(redis)
      onTestFinished(() => proxy.stop())
      const prefix = `${unique()}:`
      const { connection, close } = await over(proxy)
      onTestFinished(async () => {
        await close()
      })
      const keys = opened(connection, prefix)
      await connection.send(['PING'], NO_KEY)
      await given.prepare?.(keys)
      let begun = false
      const lose = () => {
        begun = true
        proxy.stall('replies')
      }
      // A verb that takes `lose` calls it itself.
      if (given.act.length < 2) lose()
      const outcome = given.act(keys, lose).then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      )
      const [command, key, ...rest] = given.look
      const look = () => redis.command(command, prefix + key, ...rest)
      await eventually(async () => expect([begun, await look()]).toEqual([true, given.once]))
      proxy.cut()
      await proxy.restore()
      const end = await outcome
      if ('error' in end) expect(end.error).toMatchObject({ code: 'E_UNKNOWN_OUTCOME' })
      else expect(end.value).toEqual(given.answers ?? 'an error')
      // What a client repeats goes out before this.
      await eventually(() => connection.send(['PING'], NO_KEY), { within: '20s' })
      if (given.afterwards === undefined) expect(await look()).toEqual(given.once)
      else await eventually(async () => expect(await look()).toEqual(given.afterwards))
    })
  },
)
