import assert from 'node:assert/strict'
import {
  type Command,
  type Connection,
  NO_KEY,
  ONE_KEY,
  ONE_KEY_BYTES,
  type Reply,
  type Shape,
} from '../connection/connection.ts'
import { ServerError } from '../connection/server-error.ts'
import { unique } from './eventually.ts'

/**
 * Checks that a connection keeps every point of the port's contract, as one test each. `test` is that of any runner
 * (vitest, node:test, mocha's `it`); `connected` gives the open connection to a server that may be written to.
 *
 * @example
 * connectionSuite(test, () => fromMyClient(client))
 */
export function connectionSuite(
  test: (name: string, run: () => Promise<void>) => unknown,
  connected: () => Connection | Promise<Connection>,
): void {
  for (const [name, check] of Object.entries(CHECKS)) {
    test(name, async () => check(await connected(), `{${unique()}}`))
  }
}

type Check = (connection: Connection, key: string) => Promise<void>

const TWO_KEYS: Shape = { firstKey: 1, keyCount: 2 }
const SCRIPT: Shape = { firstKey: 3, keyCount: 1 }
const SCRIPT_BYTES: Shape = { ...SCRIPT, bytes: true }
const XREAD: Shape = { firstKey: 3, keyCount: 1 }
const XREADGROUP: Shape = { firstKey: 5, keyCount: 1 }
const BLOCKS: Shape = { ...ONE_KEY, blocks: true }
const NOT_UTF8 = Uint8Array.of(0, 255, 254, 13, 10, 128)

const CHECKS: Readonly<Record<string, Check>> = {
  'answers text, integers and nil': async (connection, key) => {
    assert.equal(await connection.send(['GET', key], ONE_KEY), null)
    assert.equal(await connection.send(['SET', key, 'héllo\r\n'], ONE_KEY), 'OK')
    assert.equal(await connection.send(['GET', key], ONE_KEY), 'héllo\r\n')
    assert.equal(await connection.send(['STRLEN', key], ONE_KEY), 8)
    assert.equal(await connection.send(['SET', key, ''], ONE_KEY), 'OK')
    assert.equal(await connection.send(['GET', key], ONE_KEY), '')
    assert.equal(await connection.send(['SET', key, '9007199254740991'], ONE_KEY), 'OK')
    assert.equal(await connection.send(['DECR', key], ONE_KEY), 9007199254740990)
  },

  'sends bytes as they are, Buffer or not, and answers bytes where they are asked': async (
    connection,
    key,
  ) => {
    await connection.send(['SET', key, NOT_UTF8], ONE_KEY)
    assert.deepEqual(await connection.send(['GET', key], ONE_KEY_BYTES), Buffer.from(NOT_UTF8))
    const part = new Uint8Array(Uint8Array.of(1, 2, 3, 4).buffer, 1, 2)
    await connection.send(['SET', Buffer.from(key), part], ONE_KEY)
    assert.deepEqual(await connection.send(['GET', Buffer.from(key)], ONE_KEY_BYTES), Buffer.of(2, 3))
    assert.equal(await connection.send(['GET', `${key}:absent`], ONE_KEY_BYTES), null)
  },

  'leaves the arguments that it was given as they were': async (connection, key) => {
    const command: Command = Object.freeze(['SET', key, Object.freeze('1'), 'PX', '60000'])
    await connection.send(command, ONE_KEY)
    assert.deepEqual(command, ['SET', key, '1', 'PX', '60000'])
  },

  'answers text that is not UTF-8 with replacement characters, and loses nothing else': async (
    connection,
    key,
  ) => {
    await connection.send(['RPUSH', key, Buffer.of(97, 255), 'b'], ONE_KEY)
    assert.deepEqual(await connection.send(['LRANGE', key, '0', '-1'], ONE_KEY), ['a\ufffd', 'b'])
  },

  'answers nested arrays, as bytes throughout where bytes are asked': async (connection, key) => {
    const body = 'return {1, "a", {2, false, {ok = "fine"}, {}}, redis.call("TIME")[3], 3.7}'
    const text = await connection.send(['EVAL', body, '1', key], SCRIPT)
    assert.deepEqual(text, [1, 'a', [2, null, 'fine', []]])
    const bytes = await connection.send(['EVAL', body, '1', key], SCRIPT_BYTES)
    assert.deepEqual(bytes, [1, Buffer.from('a'), [2, null, Buffer.from('fine'), []]])
  },

  'answers maps and sets as flat arrays': async (connection, key) => {
    assert.deepEqual(await connection.send(['HGETALL', key], ONE_KEY), [])
    await connection.send(['HSET', key, 'f', 'v', '7', '8'], ONE_KEY)
    assert.deepEqual(await connection.send(['HGETALL', key], ONE_KEY), ['f', 'v', '7', '8'])
    assert.deepEqual(
      await connection.send(['HGETALL', key], ONE_KEY_BYTES),
      ['f', 'v', '7', '8'].map((text) => Buffer.from(text)),
    )
    assert.deepEqual(await connection.send(['HMGET', key, 'f', 'x'], ONE_KEY), ['v', null])
    const both = (await connection.send(['HRANDFIELD', key, '2', 'WITHVALUES'], ONE_KEY)) as string[]
    assert.deepEqual(both.toSorted(), ['7', '8', 'f', 'v'])
    await connection.send(['SADD', `${key}:set`, 'a', 'b'], ONE_KEY)
    const members = (await connection.send(['SMEMBERS', `${key}:set`], ONE_KEY)) as string[]
    assert.deepEqual(members.toSorted(), ['a', 'b'])
  },

  'answers yes and no as 1 and 0': async (connection, key) => {
    await connection.send(['SADD', key, 'a'], ONE_KEY)
    assert.equal(await connection.send(['SISMEMBER', key, 'a'], ONE_KEY), 1)
    assert.deepEqual(await connection.send(['SMISMEMBER', key, 'a', 'b'], ONE_KEY), [1, 0])
    assert.equal(await connection.send(['PEXPIRE', key, '60000'], ONE_KEY), 1)
    assert.equal(await connection.send(['PERSIST', `${key}:absent`], ONE_KEY), 0)
    assert.equal(await connection.send(['RENAMENX', key, `${key}:new`], TWO_KEYS), 1)
    const yes = 'if redis.setresp then redis.setresp(3) return {true, {false}} end'
    const [one] = (await connection.send(['EVAL', yes, '1', key], SCRIPT)) as Reply[]
    assert.equal(one, 1)
  },

  'answers doubles as text, and scores as flat pairs': async (connection, key) => {
    const add: Command = ['ZADD', key, '1.5', 'a', '2', 'b', '-inf', 'c', '1e300', 'd']
    assert.equal(await connection.send(add, ONE_KEY), 4)
    assert.equal(await connection.send(['ZSCORE', key, 'a'], ONE_KEY), '1.5')
    assert.equal(await connection.send(['ZSCORE', key, 'b'], ONE_KEY), '2')
    assert.equal(await connection.send(['ZSCORE', key, 'c'], ONE_KEY), '-inf')
    assert.equal(await connection.send(['ZSCORE', key, 'x'], ONE_KEY), null)
    assert.deepEqual(await connection.send(['ZSCORE', key, 'b'], ONE_KEY_BYTES), Buffer.from('2'))
    assert.deepEqual(await connection.send(['ZMSCORE', key, 'b', 'x'], ONE_KEY), ['2', null])
    assert.equal(await connection.send(['ZINCRBY', key, '1', 'b'], ONE_KEY), '3')
    assert.equal(await connection.send(['ZADD', key, 'INCR', '1', 'b'], ONE_KEY), '4')
    assert.equal(await connection.send(['ZRANK', key, 'b'], ONE_KEY), 2)
    const low: Command = ['ZRANGE', key, '1', '2', 'WITHSCORES']
    assert.deepEqual(await connection.send(low, ONE_KEY), ['a', '1.5', 'b', '4'])
    assert.deepEqual(
      await connection.send(low, ONE_KEY_BYTES),
      ['a', '1.5', 'b', '4'].map((text) => Buffer.from(text)),
    )
    assert.deepEqual(await connection.send(['ZRANGE', key, '1', '2'], ONE_KEY), ['a', 'b'])
    const byScore: Command = ['ZRANGEBYSCORE', key, '-inf', '5', 'WITHSCORES', 'LIMIT', '1', '2']
    assert.deepEqual(await connection.send(byScore, ONE_KEY), ['a', '1.5', 'b', '4'])
    const reversed: Command = ['ZREVRANGEBYSCORE', key, '5', '1', 'WITHSCORES']
    assert.deepEqual(await connection.send(reversed, ONE_KEY), ['b', '4', 'a', '1.5'])
    // The digits differ between versions of the server, the number does not.
    const [member, score] = (await connection.send(['ZPOPMAX', key], ONE_KEY)) as string[]
    assert.deepEqual([member, typeof score, Number(score)], ['d', 'string', 1e300])
    assert.deepEqual(await connection.send(['ZPOPMIN', key, '2'], ONE_KEY), ['c', '-inf', 'a', '1.5'])
    assert.deepEqual(await connection.send(['ZPOPMIN', `${key}:absent`], ONE_KEY), [])
    await connection.send(['SET', `${key}:n`, '1'], ONE_KEY)
    assert.equal(await connection.send(['INCRBYFLOAT', `${key}:n`, '1'], ONE_KEY), '2')
    assert.equal(await connection.send(['HINCRBYFLOAT', `${key}:h`, 'f', '2.5'], ONE_KEY), '2.5')
  },

  'answers streams as entries of flat fields': async (connection, key) => {
    await connection.send(['XADD', key, '1-1', 'f', 'v', 'g', 'w'], ONE_KEY)
    await connection.send(['XADD', key, '2-1', 'f', 'x'], ONE_KEY)
    const entries = [
      ['1-1', ['f', 'v', 'g', 'w']],
      ['2-1', ['f', 'x']],
    ]
    assert.deepEqual(await connection.send(['XRANGE', key, '-', '+'], ONE_KEY), entries)
    assert.deepEqual(await connection.send(['XREVRANGE', key, '+', '-', 'COUNT', '1'], ONE_KEY), [entries[1]])
    const ids = await connection.send(['XRANGE', key, '2', '2'], ONE_KEY_BYTES)
    assert.deepEqual(ids, [[Buffer.from('2-1'), [Buffer.from('f'), Buffer.from('x')]]])
    const read: Command = ['XREAD', 'COUNT', '5', 'STREAMS', key, '0']
    assert.deepEqual(await connection.send(read, { firstKey: 4, keyCount: 1 }), [[key, entries]])
    assert.equal(
      await connection.send(['XREAD', 'STREAMS', `${key}:absent`, '0'], { ...XREAD, firstKey: 2 }),
      null,
    )
    await connection.send(['XGROUP', 'CREATE', key, 'g', '0'], { firstKey: 2, keyCount: 1 })
    const group: Command = ['XREADGROUP', 'GROUP', 'g', 'me', 'STREAMS', key, '>']
    assert.deepEqual(await connection.send(group, XREADGROUP), [[key, entries]])
    assert.deepEqual(await connection.send(['XCLAIM', key, 'g', 'you', '0', '1-1'], ONE_KEY), [entries[0]])
    assert.deepEqual(await connection.send(['XCLAIM', key, 'g', 'you', '0', '1-1', 'JUSTID'], ONE_KEY), [
      '1-1',
    ])
    const claimed = (await connection.send(['XAUTOCLAIM', key, 'g', 'me', '0', '0'], ONE_KEY)) as Reply[]
    assert.deepEqual(claimed.slice(0, 2), ['0-0', entries])
    const pending = await connection.send(['XPENDING', key, 'g'], ONE_KEY)
    assert.deepEqual(pending, [2, '1-1', '2-1', [['me', '2']]])
  },

  'rejects with a ServerError that has the server’s words, the code and the key': async (connection, key) => {
    await connection.send(['SET', key, 'text'], ONE_KEY)
    const foreign = await refusalOf(connection.send(['LPUSH', key, 'x'], ONE_KEY))
    assert.equal(foreign.reply, 'WRONGTYPE Operation against a key holding the wrong kind of value')
    assert.deepEqual([foreign.code, foreign.key], ['E_WRONG_TYPE', key])
    const unknown = await refusalOf(connection.send(['NOSUCHCOMMAND', key], ONE_KEY))
    assert.match(unknown.reply, /^ERR unknown command '?`?NOSUCHCOMMAND/)
    assert.equal(unknown.code, 'E_TOO_OLD')
    const number = await refusalOf(connection.send(['INCR', key], ONE_KEY))
    assert.equal(number.reply, 'ERR value is not an integer or out of range')
    const missing: Command = ['EVALSHA', '0'.repeat(40), '1', key]
    const script = await refusalOf(connection.send(missing, SCRIPT))
    assert.match(script.reply, /^NOSCRIPT No matching script/)
    assert.deepEqual([script.code, script.key], ['E_NO_SCRIPT', key])
    const inside: Command = ['EVAL', 'return redis.call("LPUSH", KEYS[1], 1)', '1', key]
    assert.equal((await refusalOf(connection.send(inside, SCRIPT))).code, 'E_WRONG_TYPE')
    for (const words of [
      'READONLY You can’t',
      'LOADING Redis is',
      'NOPERM this user',
      'BUSYKEY Target',
      'ERR so: be it',
    ]) {
      const said: Command = ['EVAL', 'return redis.error_reply(ARGV[1])', '1', key, words]
      assert.equal((await refusalOf(connection.send(said, SCRIPT))).reply, words)
    }
    // Redis 6.2 gives a returned error its place in the script, and a code only if the command gave it.
    for (const [words, reply] of [
      ['-OOM command not allowed', 'OOM command not allowed'],
      ["The user executing the script can't run this", "ERR The user executing the script can't run this"],
    ] as const) {
      const said: Command = ['EVAL', 'return {err = ARGV[1]}', '1', key, `@user_script: 6: ${words}`]
      assert.equal((await refusalOf(connection.send(said, SCRIPT))).reply, reply)
    }
  },

  'keeps to the order of the calls on one key, whatever they are': async (connection, key) => {
    const push = 'return redis.call("RPUSH", KEYS[1], ARGV[1])'
    const sent: Promise<Reply>[] = []
    for (let at = 0; at < 60; at++) {
      const item = String(at)
      sent.push(
        at % 3 === 0
          ? connection.send(['EVAL', push, '1', key, item], SCRIPT)
          : connection.send(['RPUSH', key, at % 3 === 1 ? item : Buffer.from(item)], ONE_KEY),
      )
    }
    const expected = Array.from({ length: 60 }, (_, at) => String(at))
    assert.deepEqual(await connection.send(['LRANGE', key, '0', '-1'], ONE_KEY), expected)
    assert.deepEqual(
      await Promise.all(sent),
      expected.map((item) => Number(item) + 1),
    )
  },

  'gives every call of a tick its own answer or error': async (connection, key) => {
    const outcomes = await Promise.allSettled([
      connection.send(['SET', key, 'a'], ONE_KEY),
      connection.send(['INCR', key], ONE_KEY),
      connection.send(['APPEND', key, 'b'], ONE_KEY),
      connection.send(['LPOP', key], ONE_KEY_BYTES),
      connection.send(['GET', key], ONE_KEY_BYTES),
    ])
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.code)),
      ['OK', 'E_SERVER', 2, 'E_WRONG_TYPE', Buffer.from('ab')],
    )
  },

  'carries commands of 100 000 arguments, and values of megabytes': async (connection, key) => {
    const items = Array.from({ length: 100_000 }, (_, at) => `i${at}`)
    assert.equal(await connection.send(['RPUSH', key, ...items], ONE_KEY), items.length)
    assert.deepEqual(await connection.send(['LRANGE', key, '0', '-1'], ONE_KEY), items)
    const large = Buffer.alloc(3_000_000, NOT_UTF8)
    await connection.send(['SET', `${key}:large`, large], ONE_KEY)
    assert.ok(large.equals((await connection.send(['GET', `${key}:large`], ONE_KEY_BYTES)) as Buffer))
  },

  'waits on the server where the command does': async (connection, key) => {
    assert.equal(await connection.send(['BLPOP', key, '0.01'], BLOCKS), null)
    await connection.send(['RPUSH', key, 'a'], ONE_KEY)
    assert.deepEqual(await connection.send(['BLPOP', key, '1'], BLOCKS), [key, 'a'])
  },

  'sends commands without a key to one server': async (connection) => {
    assert.equal(await connection.send(['PING'], NO_KEY), 'PONG')
    assert.match(
      (await connection.send(['INFO', 'server'], NO_KEY)) as string,
      /redis_version|valkey_version/,
    )
    const time = (await connection.send(['TIME'], NO_KEY)) as string[]
    assert.deepEqual(
      time.map((part) => /^\d+$/.test(part)),
      [true, true],
    )
  },

  'finds every key through its masters': async (connection, key) => {
    const tag = key.slice(1, -1)
    const names = Array.from({ length: 50 }, (_, at) => `${tag}:${at}`)
    await Promise.all(names.map((name) => connection.send(['SET', name, '1'], ONE_KEY)))
    const found = new Set<string>()
    for (const master of await connection.masters()) {
      assert.equal(master.cluster, connection.cluster)
      let cursor = '0'
      do {
        const scan: Command = ['SCAN', cursor, 'MATCH', `${tag}:*`, 'COUNT', '100']
        const [next, page] = (await master.send(scan, NO_KEY)) as [string, string[]]
        cursor = next
        for (const name of page) found.add(name)
      } while (cursor !== '0')
    }
    assert.deepEqual([...found].toSorted(), names.toSorted())
  },
}

async function refusalOf(replying: Promise<Reply>): Promise<ServerError> {
  try {
    await replying
  } catch (error) {
    assert.ok(error instanceof ServerError, `rejects with a ServerError, not ${String(error)}`)
    return error
  }
  assert.fail('rejects')
}
