import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connections, type Opened } from '../../../../../test-support/connections.ts'
import { integer } from '../../codec/integer.ts'
import { string } from '../../kind/string.ts'
import { open as openKeyspace } from '../../keyspace.ts'
import { int } from '../../script/argument.ts'
import { integerReply } from '../../connection/reply.ts'
import { script } from '../../script/script.ts'
import { startRedis, type TemporaryRedis, unique } from '../../testing/index.ts'
import {
  ALL_KEYS,
  type Command,
  type Connection,
  NO_KEY,
  ONE_KEY,
  type Reply,
  type Merge,
} from '../connection.ts'
import { GET, GET_BYTES } from './reads.ts'
import { ServerError } from '../server-error.ts'
import { tick } from './tick.ts'

let redis: TemporaryRedis
beforeAll(async () => {
  redis = await startRedis({ port: 'any' })
})
afterAll(() => redis.stop())

const bump = script('test/bump', {
  keys: ['key'],
  args: { by: int },
  commands: [],
  lua: `if by == 0 then error('nothing to add') end return redis.call('INCRBY', key, by)`,
  reply: integerReply,
  merge: true,
})
// Two keys, and the outcome depends on the order: runs that share a key must not overtake one another.
const pour = script('test/pour', {
  keys: ['from', 'to'],
  args: {},
  commands: [],
  lua: `return redis.call('APPEND', to, redis.call('GET', from) or '-')`,
  reply: integerReply,
  merge: true,
})

describe.each(connections.filter(([name]) => !name.includes('RESP2')))('over %s', (_name, open) => {
  let opened: Opened
  let plain: Connection
  let ticked: Connection
  beforeAll(async () => {
    opened = await open(redis)
    plain = opened.connection
    ticked = tick(plain)
  })
  afterAll(() => opened.close())

  test('answers and state are those of the same calls made one by one, whatever shares a tick', async () => {
    await fc.assert(
      fc.asyncProperty(programs, async (program) => {
        const [together, alone] = [unique(), unique()]
        const answers: Answer[] = []
        for (const step of program) {
          const calls = step.map((call) => answerOf(perform(ticked, `{${together}}`, call)))
          answers.push(...(await Promise.all(calls)))
        }
        const expected: Answer[] = []
        for (const call of program.flat()) {
          expected.push(await answerOf(perform(plain, `{${alone}}`, call)))
        }
        expect(answers).toEqual(expected)
        expect(await stateOf(`{${together}}`)).toEqual(await stateOf(`{${alone}}`))
      }),
      { numRuns: 60 },
    )
    // Every program is tried, however busy the machine is: a test that ends early and says nothing proves nothing.
  }, 180_000)

  test('gets that come while one is under way go out as MGETs of at most 128 keys, across continuations of the tick too', async () => {
    const prefix = unique()
    const names = Array.from({ length: 300 }, (_, at) => `${prefix}:${at}`)
    await plain.send(['MSET', ...names.flatMap((name, at) => [name, String(at)])], ALL_KEYS)
    await redis.command('CONFIG', 'RESETSTAT')
    const got = await Promise.all(
      names.map(async (name, at) => {
        if (at % 2 === 1) await Promise.resolve()
        return ticked.send(['GET', name], GET)
      }),
    )
    expect(got).toEqual(names.map((_, at) => String(at)))
    expect([await calls('get'), await calls('mget'), await calls('exists')]).toEqual([1, 3, 0])
  })

  test('a get that finds no neighbour is a GET', async () => {
    await redis.command('CONFIG', 'RESETSTAT')
    expect(await ticked.send(['GET', unique()], GET_BYTES)).toBeNull()
    expect([await calls('get'), await calls('mget')]).toEqual([1, 0])
  })

  test('gets go out as one although other keys are written between them', async () => {
    const prefix = unique()
    await redis.command('CONFIG', 'RESETSTAT')
    const got: Promise<Reply>[] = []
    for (let at = 0; at < 20; at++) {
      got.push(ticked.send(['GET', `${prefix}:${at}`], GET))
      void ticked.send(['SET', `${prefix}:${at}:other`, '1'], ONE_KEY)
    }
    expect(await Promise.all(got)).toEqual(Array.from({ length: 20 }, () => null))
    expect([await calls('get'), await calls('mget')]).toEqual([1, 1])
  })

  test('a get asked before the key is overwritten tells what stood there, be it of another type', async () => {
    const [list, other] = [unique(), unique()]
    await redis.command('RPUSH', list, 'x')
    const outcomes = await Promise.allSettled([
      ticked.send(['GET', other], GET),
      ticked.send(['GET', list], GET),
      ticked.send(['GET', other], GET),
      ticked.send(['SET', list, 'new'], ONE_KEY),
      ticked.send(['GET', list], GET),
    ])
    expect(outcomes).toMatchObject([
      { value: null },
      { reason: { code: 'E_WRONG_TYPE', key: list } },
      { value: null },
      { value: 'OK' },
      { value: 'new' },
    ])
  })

  test('scripts over several keys keep their order where they share one', async () => {
    const prefix = `{${unique()}}`
    const [a, b, c] = ['a', 'b', 'c'].map((name) => `${prefix}${name}`) as [string, string, string]
    await redis.command('MSET', a, 'A', b, 'B', c, 'C')
    await Promise.all([
      pour.run(ticked, { from: a, to: b }, {}),
      pour.run(ticked, { from: b, to: c }, {}),
      pour.run(ticked, { from: a, to: b }, {}),
    ])
    expect(await redis.command('MGET', b, c)).toEqual(['BAA', 'CBA'])
  })

  test('each get has its own answer or error: absent, wrong type, the same key twice', async () => {
    const [absent, text, list] = [unique(), unique(), unique()]
    await redis.command('SET', text, 'a')
    await redis.command('RPUSH', list, 'b')
    const names = [absent, text, list, text, list, absent]
    const outcomes = await Promise.allSettled(names.map((name) => ticked.send(['GET', name], GET)))
    const foreign = { status: 'rejected', reason: { code: 'E_WRONG_TYPE', key: list } }
    expect(outcomes).toMatchObject([
      { value: null },
      { value: 'a' },
      foreign,
      { value: 'a' },
      foreign,
      { value: null },
    ])
    expect((outcomes[2] as PromiseRejectedResult).reason.message).toContain(
      `${list}: GET was refused: WRONGTYPE`,
    )
  })

  test('a value that its codec cannot read fails its own get alone', async () => {
    const keys = openKeyspace({ n: string(`${unique()}:<id>`, integer, { ttl: '1m' }) }, plain)
    await keys.n({ id: 1 }).set(7)
    await redis.command('SET', keys.n({ id: 2 }).name, 'seven')
    const outcomes = await Promise.allSettled([1, 2, 3].map((id) => keys.n({ id }).get()))
    expect(outcomes).toMatchObject([
      { value: 7 },
      { reason: { code: 'E_DECODE', key: keys.n({ id: 2 }).name } },
      { value: undefined },
    ])
  })

  test('calls of one script on one key that come while one is under way run in one EVALSHA, each with its own answer or error', async () => {
    const key = unique()
    await bump.run(ticked, { key }, { by: 1 })
    await redis.command('CONFIG', 'RESETSTAT')
    const outcomes = await Promise.allSettled([5, 1, 0, 2].map((by) => bump.run(ticked, { key }, { by })))
    expect(outcomes).toMatchObject([
      { value: 6 },
      { value: 7 },
      { reason: { code: 'E_SCRIPT', script: 'test/bump', key } },
      { value: 9 },
    ])
    expect((outcomes[2] as PromiseRejectedResult).reason.message).toContain('nothing to add')
    expect((await calls('eval')) + (await calls('evalsha'))).toBe(2)
    expect(await redis.command('GET', key)).toBe('9')
  })
})

describe('whatever the client', () => {
  test('a key that appears between MGET and EXISTS is absent, and a wrong type is still told', async () => {
    const [first, absent, list] = ['first', 'absent', 'list']
    const connection = ticking((command) => {
      if (command[0] === 'GET') return 'value'
      if (command[0] === 'MGET') return [null, null]
      if (command[0] === 'EXISTS') return 2
      return command[1] === list ? 'list' : 'string'
    })
    const outcomes = await Promise.allSettled(
      [first, absent, list].map((name) => connection.send(['GET', name], GET)),
    )
    expect(outcomes).toMatchObject([
      { value: 'value' },
      { value: null },
      { reason: { code: 'E_WRONG_TYPE', key: list } },
    ])
  })

  test('where many keys are refused, each is asked for by itself', async () => {
    const refusedKey = 'secret'
    const connection = ticking((command) => {
      if (command[0] === 'MGET' || command[1] === refusedKey)
        throw new ServerError('NOPERM No permissions to access a key', String(command[0]), String(command[1]))
      return command[0] === 'EXISTS' ? 1 : 'value'
    })
    const outcomes = await Promise.allSettled(
      ['first', 'a', refusedKey, 'b'].map((name) => connection.send(['GET', name], GET)),
    )
    expect(outcomes).toMatchObject([
      { value: 'value' },
      { value: 'value' },
      { reason: { code: 'E_DENIED', key: refusedKey } },
      { value: 'value' },
    ])
  })

  test('a chunk that fails leaves its neighbours', async () => {
    let sent = 0
    const lost = new Error('connection lost')
    const connection = ticking((command) => {
      if (command[0] === 'GET') return 'value'
      if (sent++ === 0) throw lost
      return command.slice(1).map(String)
    })
    const names = Array.from({ length: 200 }, (_, at) => `k${at}`)
    const [first, ...outcomes] = await Promise.allSettled(
      ['first', ...names].map((name) => connection.send(['GET', name], GET)),
    )
    expect(first).toMatchObject({ value: 'value' })
    expect(
      outcomes.slice(0, 128).every((outcome) => outcome.status === 'rejected' && outcome.reason === lost),
    ).toBe(true)
    expect(outcomes.slice(128)).toEqual(names.slice(128).map((value) => ({ status: 'fulfilled', value })))
  })

  test('a connection that throws rejects its call, and the next tick is well', async () => {
    let broken = true
    const connection = tick({
      ...answering(() => 'fine'),
      send(command) {
        if (broken) throw new Error('thrown')
        return Promise.resolve(command[0] === 'MGET' ? ['fine', 'fine'] : 'fine')
      },
    })
    const gets = () => ['a', 'b', 'c'].map((name) => connection.send(['GET', name], GET))
    await expect(connection.send(['GET', 'a'], GET)).rejects.toThrow('thrown')
    for (const outcome of await Promise.allSettled(gets()))
      expect(outcome).toMatchObject({ reason: { message: 'thrown' } })
    broken = false
    expect(await Promise.all(gets())).toEqual(['fine', 'fine', 'fine'])
  })

  test('what waits for none of its group is sent at once, and overtakes none of its own', async () => {
    const sent: string[] = []
    const merge: Merge = {
      most: 10,
      group: (call) => call[1] as string,
      sendOne: async (_connection, call) => {
        sent.push(call.join(' '))
        return 'OK'
      },
      send: async (_connection, calls) => {
        sent.push(calls.map((call) => call.join(' ')).join(', '))
        return calls.map(() => ({ reply: 'OK' }))
      },
    }
    const connection = tick(answering(() => 'OK'))
    const take = (key: string, turn: number) =>
      connection.send(['TAKE', key, String(turn)], { firstKey: 1, keyCount: 1, merge })
    const first = take('a', 1)
    const others = [take('b', 1), take('a', 2), take('c', 1)]
    expect(sent).toEqual(['TAKE a 1', 'TAKE b 1', 'TAKE c 1'])
    // Its answer is there before the second has left: a third of the same key still comes behind it.
    await first
    others.push(take('a', 3), take('b', 2))
    await Promise.all(others)
    expect(sent.slice(3)).toEqual(['TAKE b 2', 'TAKE a 2, TAKE a 3'])
  })

  test('on a cluster the gets of one slot go out together, those of others beside them', async () => {
    const sent: Command[] = []
    const connection = tick({
      ...answering((command) => {
        sent.push(command)
        return command[0] === 'MGET' ? command.slice(1).map(() => 'v') : 'v'
      }),
      cluster: true,
    })
    await Promise.all(
      ['{c}0', '{a}1', '{b}1', '{a}2', '{c}1', '{a}3'].map((name) => connection.send(['GET', name], GET)),
    )
    expect(sent).toEqual([
      ['GET', '{c}0'],
      ['GET', '{a}1'],
      ['GET', '{b}1'],
      ['MGET', '{a}2', '{a}3'],
      ['GET', '{c}1'],
    ])
  })
})

type Call =
  | readonly ['get' | 'getBytes' | 'del' | 'incr' | 'push', key: number]
  | readonly ['set', key: number, value: string]
  | readonly ['bump', key: number, by: number]
  | readonly ['pour', from: number, to: number]
  | readonly ['ping']

const keys = fc.nat({ max: 3 })
const programs: fc.Arbitrary<Call[][]> = fc.array(
  fc.array(
    fc.oneof(
      { weight: 5, arbitrary: fc.tuple(fc.constant('get'), keys) },
      fc.tuple(fc.constantFrom('getBytes', 'del', 'incr', 'push'), keys),
      { weight: 2, arbitrary: fc.tuple(fc.constant('set'), keys, fc.constantFrom('1', '20', 'text')) },
      { weight: 3, arbitrary: fc.tuple(fc.constant('bump'), keys, fc.integer({ min: 0, max: 2 })) },
      { weight: 3, arbitrary: fc.tuple(fc.constant('pour'), keys, keys) },
      fc.tuple(fc.constant('ping')),
    ) as fc.Arbitrary<Call>,
    { minLength: 1, maxLength: 12 },
  ),
  { minLength: 1, maxLength: 5 },
)

function perform(connection: Connection, prefix: string, call: Call): Promise<unknown> {
  const name = `${prefix}:${call[1]}`
  switch (call[0]) {
    case 'get':
      return connection.send(['GET', name], GET)
    case 'getBytes':
      return connection.send(['GET', name], GET_BYTES)
    case 'set':
      return connection.send(['SET', name, call[2]], ONE_KEY)
    case 'del':
      return connection.send(['DEL', name], ONE_KEY)
    case 'incr':
      return connection.send(['INCR', name], ONE_KEY)
    case 'push':
      return connection.send(['RPUSH', name, 'x'], ONE_KEY)
    case 'bump':
      return bump.run(connection, { key: name }, { by: call[2] })
    case 'pour':
      return pour.run(connection, { from: name, to: `${prefix}:${call[2]}` }, {})
    case 'ping':
      return connection.send(['PING'], NO_KEY)
  }
}

type Answer = { readonly reply: unknown } | { readonly code: string }

async function answerOf(performing: Promise<unknown>): Promise<Answer> {
  try {
    return { reply: await performing }
  } catch (error) {
    return { code: (error as ServerError).code }
  }
}

async function stateOf(prefix: string): Promise<unknown[]> {
  return Promise.all([0, 1, 2, 3].map((key) => redis.command('DUMP', `${prefix}:${key}`)))
}

async function calls(command: string): Promise<number> {
  const stats = String(await redis.command('INFO', 'commandstats'))
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0)
}

/** A port whose answers are given: for what a server cannot be made to do on demand. */
function answering(answer: (command: Command) => Reply): Connection {
  const connection: Connection = {
    client: 'scripted',
    cluster: false,
    send: async (command) => answer(command),
    masters: async () => [connection],
  }
  return connection
}

function ticking(answer: (command: Command) => Reply): Connection {
  return tick(answering(answer))
}
