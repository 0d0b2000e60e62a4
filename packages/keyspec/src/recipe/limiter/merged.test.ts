import fc from 'fast-check'
import { createClient } from 'redis'
import { expect, onTestFinished, test } from 'vitest'
import { connected } from '../../../../../test-support/connected.ts'
import type { Connection } from '../../connection/connection.ts'
import { fromNodeRedis } from '../../connection/client/node-redis.ts'
import { ServerError } from '../../connection/server-error.ts'
import { open } from '../../keyspace.ts'
import { unique } from '../../testing/eventually.ts'
import { fixedWindow } from '../fixed-window/fixed-window.ts'
import { slidingWindow } from '../sliding-window/sliding-window.ts'
import type { LimitResult, LimitState } from './limit-result.ts'

const { redis, connection } = await connected()

/** The same connection, counting the scripts it sends. */
function counting(): { readonly counted: Connection; scripts(): number } {
  let sent = 0
  const counted: Connection = {
    ...connection,
    send(command, shape) {
      if (String(command[0]).startsWith('EVAL')) sent += 1
      return connection.send(command, shape)
    },
  }
  return { counted, scripts: () => sent }
}

const per = '1m'
const entries = {
  'fixed window': (limit: number) => fixedWindow('limit:<id>', { per, limit }),
  'sliding window': (limit: number) => slidingWindow('limit:<id>', { per, limit }),
  'compact sliding window': (limit: number) => slidingWindow('limit:<id>', { per, limit, form: 'compact' }),
} as const

test.each(Object.entries(entries))(
  'a %s decides on many takes at once as on one after another',
  async (_, entry) => {
    const rounds = fc.array(
      fc.record({
        costs: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 20 }),
        laterMs: fc.nat(30_000),
      }),
      { minLength: 1, maxLength: 4 },
    )
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 3, max: 25 }), rounds, async (limit, asked) => {
        let nowMs = 1_700_000_000_000
        const keys = open({ limit: entry(limit) }, connection, { prefix: `${unique()}:`, now: () => nowMs })
        const [together, apart] = [keys.limit({ id: 'together' }), keys.limit({ id: 'apart' })]
        for (const { costs, laterMs } of asked) {
          nowMs += laterMs
          const at = await Promise.all(costs.map((cost) => together.take(cost)))
          for (const [index, cost] of costs.entries()) {
            const { allowed, remaining } = await apart.take(cost)
            expect(at[index]).toMatchObject({ allowed, remaining })
          }
          expect((await together.peek()).remaining).toBe((await apart.peek()).remaining)
        }
      }),
      { numRuns: 25 },
    )
  },
)

test.each(Object.entries(entries))(
  'a %s takes one script for the first, and one for all else that a tick asks of a hot key',
  async (_, entry) => {
    const { counted, scripts } = counting()
    const keys = open({ limit: entry(70) }, counted, { prefix: `${unique()}:` })
    const taken = await Promise.all(Array.from({ length: 100 }, () => keys.limit({ id: 'hot' }).take()))
    expect(scripts()).toBe(2)
    expect(taken.map(({ allowed }) => allowed)).toEqual(
      Array.from({ length: 100 }, (_each, index) => index < 70),
    )
    expect(taken.map(({ remaining }) => remaining).slice(0, 3)).toEqual([69, 68, 67])
    const refused = taken[99]!
    expect(!refused.allowed && refused.retryAfterMs).toBeGreaterThan(0)
    expect(await redis.command('PTTL', keys.limit({ id: 'hot' }).name)).toBeGreaterThan(0)
  },
)

test.each(Object.entries(entries))(
  'a %s decides on the takes of many keys at once as on those of each by itself',
  async (_, entry) => {
    const asked = fc.array(fc.record({ id: fc.nat(6), cost: fc.integer({ min: 0, max: 3 }) }), {
      maxLength: 60,
    })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 3, max: 12 }), asked, async (limit, takes) => {
        const nowMs = 1_700_000_000_000
        const keys = open({ limit: entry(limit) }, connection, { prefix: `${unique()}:`, now: () => nowMs })
        const taken = (id: string, cost: number) =>
          cost === 0 ? keys.limit({ id }).peek() : keys.limit({ id }).take(cost)
        const seen = (answer: LimitState | LimitResult) => [
          'allowed' in answer && answer.allowed,
          answer.remaining,
        ]
        const together = await Promise.all(takes.map(({ id, cost }) => taken(`together${id}`, cost)))
        const apart: LimitState[] = []
        for (const { id, cost } of takes) apart.push(await taken(`apart${id}`, cost))
        expect(together.map(seen)).toEqual(apart.map(seen))
      }),
      { numRuns: 25 },
    )
  },
)

test('many keys take one script for the first, and one for each 32 of all else that a tick asks', async () => {
  const { counted, scripts } = counting()
  const keys = open({ limit: entries['fixed window'](5) }, counted, { prefix: `${unique()}:` })
  const all = () => Array.from({ length: 66 }, (_, id) => keys.limit({ id }).take())
  expect((await Promise.all(all())).every(({ remaining }) => remaining === 4)).toBe(true)
  expect(scripts()).toBe(1 + 2 + 1)
  // Each key has the time to live of its own first take, and the server may forget the script.
  await redis.command('SCRIPT', 'FLUSH')
  expect((await Promise.all(all())).every(({ remaining }) => remaining === 3)).toBe(true)
  expect(await redis.command('PTTL', keys.limit({ id: '65' }).name)).toBeGreaterThan(0)
})

test('on a cluster keys stay apart, as they are in different slots', async () => {
  const seen: string[] = []
  const apart: Connection = {
    ...connection,
    cluster: true,
    send(command, shape) {
      seen.push(String(command[2]))
      return connection.send(command, shape)
    },
  }
  const keys = open({ limit: entries['fixed window'](5) }, apart, { prefix: `${unique()}:` })
  await Promise.all(Array.from({ length: 10 }, (_, id) => keys.limit({ id: `{${id}}` }).take()))
  expect(seen).toEqual(Array.from({ length: 10 }, () => '1'))
})

test('where the server refuses keys of several slots, each is asked for by itself, from then on at once', async () => {
  const seen: string[] = []
  const sharded: Connection = {
    ...connection,
    async send(command, shape) {
      seen.push(String(command[2]))
      if (Number(command[2]) > 1)
        throw new ServerError("CROSSSLOT Keys in request don't hash to the same slot", 'EVALSHA', undefined)
      return connection.send(command, shape)
    },
  }
  const keys = open({ limit: entries['fixed window'](5) }, sharded, { prefix: `${unique()}:` })
  const all = () => Promise.all([1, 2, 3, 2].map((id) => keys.limit({ id }).take()))
  expect((await all()).map(({ remaining }) => remaining)).toEqual([4, 4, 4, 3])
  expect(seen).toContain('2')
  seen.length = 0
  expect((await all()).map(({ remaining }) => remaining)).toEqual([3, 2, 3, 1])
  expect(new Set(seen)).toEqual(new Set(['1']))
})

test('a user who may not touch some of the keys is refused those alone', async () => {
  const prefix = unique()
  await redis.command('ACL', 'SETUSER', 'taker', 'on', '>secret', `~${prefix}:limit:a*`, '+@all')
  const client = createClient({
    socket: { path: redis.socket, tls: false },
    username: 'taker',
    password: 'secret',
  })
  await client.connect()
  onTestFinished(() => client.destroy())
  const keys = open({ limit: entries['fixed window'](5) }, fromNodeRedis(client), { prefix: `${prefix}:` })
  const outcomes = await Promise.allSettled(['a0', 'a1', 'b', 'a2'].map((id) => keys.limit({ id }).take()))
  const taken = { value: { remaining: 4 } }
  expect(outcomes).toMatchObject([
    taken,
    taken,
    { reason: { code: 'E_DENIED', key: `${prefix}:limit:b` } },
    taken,
  ])
})

test('takes of another cost, and peeks, keep their place among the others', async () => {
  const keys = open({ limit: entries['fixed window'](5) }, connection, { prefix: `${unique()}:` })
  const key = keys.limit({ id: 'hot' })
  const answers = await Promise.all([key.take(), key.take(), key.take(3), key.take(), key.peek()])
  expect(answers.map((answer) => ('allowed' in answer ? answer.allowed : answer.remaining))).toEqual([
    true,
    true,
    true,
    false,
    0,
  ])
})

test('what one key holds fails the takes of that key alone', async () => {
  const keys = open({ limit: entries['fixed window'](5) }, connection, { prefix: `${unique()}:` })
  await redis.command('SET', keys.limit({ id: 'broken' }).name, 'many')
  await redis.command('RPUSH', keys.limit({ id: 'list' }).name, 'x')
  const asked = ['well', 'broken', 'broken', 'list', 'well', 'other']
  const outcomes = await Promise.allSettled(asked.map((id) => keys.limit({ id }).take()))
  const refused = {
    code: 'E_NO_COUNT',
    key: keys.limit({ id: 'broken' }).name,
    message: expect.stringContaining('holds no count, but 4 bytes'),
  }
  expect(outcomes).toMatchObject([
    { value: { remaining: 4 } },
    { reason: refused },
    { reason: refused },
    { reason: { code: 'E_WRONG_TYPE', key: keys.limit({ id: 'list' }).name } },
    { value: { remaining: 3 } },
    { value: { remaining: 4 } },
  ])
})
