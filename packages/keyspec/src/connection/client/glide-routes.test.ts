import { describe, expect, test } from 'vitest'
import { clientOf } from '../client-of.ts'
import { NO_KEY, ONE_KEY, ONE_KEY_BYTES } from '../connection.ts'
import { fromGlide, fromGlideCluster, type GlideRoute } from './glide.ts'
import { glideReply } from './glide-reply.ts'

interface Options {
  decoder?: number
  route?: GlideRoute
}

/** A client of GLIDE that writes down what it is asked. */
function fake(
  answer: (words: readonly string[], options: Options) => Promise<unknown> = async () => Buffer.from('v'),
) {
  const asked: { words: string; options: Options }[] = []
  const customCommand = (args: (string | Buffer)[], options: Options = {}) => {
    const words = args.map(String)
    asked.push({ words: words.join(' '), options })
    return answer(words, options)
  }
  return { asked, client: { customCommand }, cluster: { customCommand, fcallWithRoute: async () => null } }
}

const SLOTS = [
  [0, 5460, ['127.0.0.1', 7000, 'a', []], ['127.0.0.1', 7003, 'x', []]],
  [5461, 10922, ['127.0.0.1', 7001, 'b', []]],
  [10923, 16000, ['127.0.0.2', 7001, 'c', []]],
  [16001, 16383, ['127.0.0.1', 7000, 'a', []]],
]

describe('over a cluster', () => {
  test('a command goes to the master of its key; others to a third of the slots farther each time', async () => {
    const { asked, cluster } = fake()
    const connection = fromGlideCluster(cluster)
    expect([connection.client, connection.cluster, connection.dear]).toEqual(['glide', true, true])
    await connection.send(['GET', 'k'], ONE_KEY)
    for (let n = 0; n < 4; n += 1) await connection.send(['PING'], NO_KEY)
    expect(asked.map(({ options }) => options)).toEqual([
      { decoder: 0, route: { type: 'primarySlotKey', key: 'k' } },
      { decoder: 0, route: { type: 'primarySlotId', id: 5461 } },
      { decoder: 0, route: { type: 'primarySlotId', id: 10_922 } },
      { decoder: 0, route: { type: 'primarySlotId', id: 16_383 } },
      { decoder: 0, route: { type: 'primarySlotId', id: 5460 } },
    ])
  })

  test('its masters are those of all slots, each once, by their addresses', async () => {
    const { asked, cluster } = fake(async ([name]) => (name === 'CLUSTER' ? SLOTS : Buffer.from('v')))
    const masters = await fromGlideCluster(cluster).masters()
    expect(asked[0]!.words).toBe('CLUSTER SLOTS')
    expect(masters.map(({ client, cluster, dear }) => [client, cluster, dear])).toEqual(
      Array.from({ length: 3 }, () => ['glide', true, true]),
    )
    for (const master of masters) expect(await master.send(['GET', 'k'], ONE_KEY)).toBe('v')
    expect(asked.slice(1).map(({ options }) => options.route)).toEqual([
      { type: 'routeByAddress', host: '127.0.0.1', port: 7000 },
      { type: 'routeByAddress', host: '127.0.0.1', port: 7001 },
      { type: 'routeByAddress', host: '127.0.0.2', port: 7001 },
    ])
    expect(await masters[0]!.masters()).toEqual([masters[0]])
  })

  test('a redirection that it gave up to follow is about to pass; one client alone follows none', async () => {
    const moved = async () => {
      throw new Error('An error was signalled by the server: - Moved: 1 127.0.0.1:7000')
    }
    const { cluster, client } = fake(moved)
    await expect(fromGlideCluster(cluster).send(['GET', 'k'], ONE_KEY)).rejects.toMatchObject({
      code: 'E_NOT_READY',
      reply: 'MOVED 1 127.0.0.1:7000',
    })
    await expect(fromGlide(client).send(['GET', 'k'], ONE_KEY)).rejects.toMatchObject({
      code: 'E_WRONG_NODE',
    })
  })

  test('other clients are refused', () => {
    const { client, cluster } = fake()
    expect(() => fromGlideCluster(client)).toThrow(
      'this client has no fcallWithRoute: Keyspec needs a cluster client of Valkey GLIDE 2',
    )
    expect(() => fromGlideCluster({ fcallWithRoute: async () => null } as never)).toThrow(
      'this client has no customCommand: Keyspec needs a cluster client of Valkey GLIDE 2',
    )
    expect(() => fromGlide(cluster)).toThrow('this client is a cluster’s: give it to fromGlideCluster()')
    expect(() => fromGlide({} as never)).toThrow(
      'this client has no customCommand: Keyspec needs a client of Valkey GLIDE 2',
    )
  })
})

describe('over one client', () => {
  test('reads bytes, and makes text of them where text is asked', async () => {
    const { asked, client } = fake()
    const connection = fromGlide(client)
    expect(await connection.send(['GET', 'k'], ONE_KEY)).toBe('v')
    expect(await connection.send(['GET', 'k'], ONE_KEY_BYTES)).toEqual(Buffer.from('v'))
    expect(asked.map(({ options }) => options)).toEqual([{ decoder: 0 }, { decoder: 0 }])
    expect([connection.client, connection.cluster, connection.dear]).toEqual(['glide', false, true])
    expect(await connection.masters()).toEqual([connection])
    expect(clientOf(connection)).toBe(client)
  })

  test('GLIDE is given 50 commands at a time, in their order', async () => {
    const waiting: (() => void)[] = []
    const { asked, client } = fake(
      () => new Promise((resolve) => waiting.push(() => resolve(Buffer.from('v')))),
    )
    const connection = fromGlide(client)
    const sent = Array.from({ length: 60 }, (_, n) => connection.send(['GET', `k${n}`], ONE_KEY))
    expect(asked).toHaveLength(50)
    waiting[0]!()
    await sent[0]
    expect(asked.map(({ words }) => words)).toEqual(Array.from({ length: 51 }, (_, n) => `GET k${n}`))
    for (let at = 1; at < 60; at += 1) {
      waiting[at]!()
      await sent[at]
    }
    expect(asked).toHaveLength(60)
  })

  test.each([
    ['An error was signalled by the server: - ResponseError: not today', 'ERR not today', 'E_SERVER'],
    ['An error was signalled by the server: - BusyLoadingError: soon', 'LOADING soon', 'E_NOT_READY'],
    ['An error was signalled by the server: - PermissionDenied: no', 'NOPERM no', 'E_DENIED'],
    ['An error was signalled by the server: - ErrorKindError: so', 'ERRORKIND so', 'E_SERVER'],
    ['An error was signalled by the server: - NoScriptError: none', 'NOSCRIPT none', 'E_NO_SCRIPT'],
    [
      'An error was signalled by the server: - ReadOnly: replica\nof another',
      'READONLY replica\nof another',
      'E_READ_ONLY',
    ],
    ['WRONGTYPE: Operation against a key', 'WRONGTYPE Operation against a key', 'E_WRONG_TYPE'],
    ['@user_script:: 6: Wrong number', 'ERR Wrong number', 'E_SERVER'],
  ])('the server’s words are found in GLIDE’s: %j', async (said, reply, code) => {
    const { client } = fake(() => Promise.reject(new Error(said)))
    await expect(fromGlide(client).send(['GET', 'k'], ONE_KEY)).rejects.toMatchObject({
      reply,
      code,
      key: 'k',
    })
  })

  test.each([
    ['Unable to execute requests; the client is closed. Please create a new client.', 'E_NOT_SENT'],
    ['So: Unable to execute requests; the client is closed.', 'E_UNKNOWN_OUTCOME'],
    ['timed out', 'E_UNKNOWN_OUTCOME'],
    ['lower: words of a client', 'E_UNKNOWN_OUTCOME'],
    ['Response was wrong (response was simple-string("QUEUED"))', 'E_IN_TRANSACTION'],
    ['Response was wrong (response was "SimpleString")', 'E_IN_TRANSACTION'],
    ['A Response (response was "SimpleString")', 'E_UNKNOWN_OUTCOME'],
    ['Response was wrong (response was "SimpleString") and more', 'E_UNKNOWN_OUTCOME'],
  ])('“%s” is %s', async (said, code) => {
    const { client } = fake(() => Promise.reject(new Error(said)))
    await expect(fromGlide(client).send(['GET', 'k'], ONE_KEY)).rejects.toMatchObject({ code })
  })

  test('what is no error of GLIDE is of unknown outcome too', async () => {
    // oxlint-disable-next-line prefer-promise-reject-errors
    const { client } = fake(() => Promise.reject('An error was signalled by the server: - ResponseError: x'))
    await expect(fromGlide(client).send(['GET', 'k'], ONE_KEY)).rejects.toMatchObject({
      code: 'E_UNKNOWN_OUTCOME',
    })
  })
})

describe('the RESP2 form of what GLIDE answers', () => {
  const bytes = (text: string) => Buffer.from(text)
  const map = (pairs: Record<string, unknown>) =>
    Object.entries(pairs).map(([key, value]) => ({ key: bytes(key), value }))

  test.each<[string, unknown, unknown]>([
    ['GET', null, null],
    ['GET', undefined, null],
    ['GET', bytes('v'), 'v'],
    ['EXPIRE', true, 1],
    ['EXPIRE', false, 0],
    ['INCR', 7, 7],
    ['INCR', 9_007_199_254_740_993n, '9007199254740993'],
    ['SET', 'OK', 'OK'],
    ['MGET', [bytes('a'), null, undefined], ['a', null, null]],
    ['HGETALL', map({ f: bytes('v') }), ['f', 'v']],
    ['ZSCORE', 2, '2'],
    ['ZSCORE', 1.5, '1.5'],
    ['GET', 1.5, '1.5'],
    ['ZSCORE', Infinity, 'inf'],
    ['ZSCORE', -Infinity, '-inf'],
    ['ZSCORE', Number.NaN, 'nan'],
    ['ZADD', 1, 1],
    ['ZRANGE', map({ m: 2 }), ['m', '2']],
    ['ZRANGE', [[bytes('m'), 2]], ['m', '2']],
    ['HRANDFIELD', [[bytes('f'), bytes('v')]], ['f', 'v']],
    ['ZMPOP', [bytes('k'), map({ m: 2 })], ['k', [['m', '2']]]],
    ['ZMPOP', null, null],
    [
      'BZMPOP',
      [bytes('k'), map({ m: 2, n: 3 })],
      [
        'k',
        [
          ['m', '2'],
          ['n', '3'],
        ],
      ],
    ],
    ['XRANGE', map({ '1-0': [[bytes('f'), bytes('v')]] }), [['1-0', ['f', 'v']]]],
    ['XREVRANGE', [], []],
    ['XREAD', map({ s: map({ '1-0': [[bytes('f'), bytes('v')]] }) }), [['s', [['1-0', ['f', 'v']]]]]],
    ['XREADGROUP', null, null],
    [
      'XAUTOCLAIM',
      [bytes('0-0'), map({ '1-0': [[bytes('f'), bytes('v')]] }), []],
      ['0-0', [['1-0', ['f', 'v']]], []],
    ],
  ])('a reply of %s, case %#', (name, reply, expected) => {
    expect(glideReply(reply, [name, 'k'], false)).toEqual(expected)
  })

  test.each(['HRANDFIELD', 'ZRANGEBYSCORE', 'ZREVRANGE', 'ZREVRANGEBYSCORE', 'ZRANDMEMBER', 'ZRANGE'])(
    '%s: pairs stand in one row',
    (name) => {
      expect(glideReply([[bytes('a'), bytes('b')]], [name, 'k'], false)).toEqual(['a', 'b'])
    },
  )

  test('an increment of a score is a double, and a count is none', () => {
    expect(glideReply(2, ['ZADD', 'k', 'INCR', '1', 'm'], false)).toBe('2')
    expect(glideReply(2, ['ZADD', 'k', '1', 'm'], false)).toBe(2)
  })

  test('bytes stay bytes, and texts and doubles become bytes', () => {
    const buffer = bytes('v')
    expect(glideReply(buffer, ['GET', 'k'], true)).toBe(buffer)
    expect(glideReply([buffer, 'text', 1.5], ['MGET', 'k'], true)).toEqual([
      buffer,
      bytes('text'),
      bytes('1.5'),
    ])
    expect(glideReply(2, ['ZSCORE', 'k', 'm'], true)).toEqual(bytes('2'))
  })

  test('an answer of another form is refused, in one sentence', () => {
    const words = ': Keyspec needs a client of Valkey GLIDE 2'
    expect(() => glideReply({ a: 1 }, ['GET', 'k'], false)).toThrow(
      `this client answers with an object${words}`,
    )
    expect(() => glideReply(() => 1, ['GET', 'k'], false)).toThrow(
      `this client answers with a value of type function${words}`,
    )
  })
})
