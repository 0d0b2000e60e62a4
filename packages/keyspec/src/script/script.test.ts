import { afterAll, beforeAll, expect, test } from 'vitest'
import { connections, type Opened } from '../../../../test-support/connections.ts'
import type { Command, Connection } from '../connection/connection.ts'
import { tick } from '../connection/pipeline/tick.ts'
import { SchemaError, ScriptError } from '../errors.ts'
import { startRedis, type TemporaryRedis, unique } from '../testing/index.ts'
import { digits, double, flag, int, rest, serverNow, text } from './argument.ts'
import {
  bytesReply,
  integerReply,
  listReply,
  optionalReply,
  textReply,
  tupleReply,
} from '../connection/reply.ts'
import { script } from './script.ts'

let redis: TemporaryRedis
let opened: Opened
let plain: Connection
let ticked: Connection
beforeAll(async () => {
  redis = await startRedis({ port: 'any' })
  opened = await connections[0]![1](redis)
  plain = opened.connection
  ticked = tick(plain)
})
afterAll(async () => {
  await opened.close()
  await redis.stop()
})

// A script of its own for each test: one that the server has lost is sent again, behind what was asked meanwhile.
function counting() {
  return script('test/count', {
    keys: ['key'],
    args: { by: int },
    commands: [],
    lua: `return redis.call('INCRBY', key, by) -- ${unique()}`,
    reply: integerReply,
    merge: true,
  })
}

test('the body reads its keys and arguments by name, each as what it was declared', async () => {
  const [first, second] = [unique(), unique()]
  const named = script('test/named', {
    keys: ['first', 'second'],
    args: { whole: int, fraction: double, handed: digits, words: text, yes: flag, no: flag },
    commands: [],
    lua: `redis.call('SET', first, words) redis.call('SET', second, whole + 1)
return {tostring(fraction), type(handed) .. handed, tostring(yes), tostring(no), words}`,
    reply: listReply(textReply),
  })
  const values = { whole: 41, fraction: 0.5, handed: 2 ** 53 - 1, words: 'ö', yes: true, no: false }
  expect(await named.run(plain, { first, second }, values)).toEqual([
    '0.5',
    'string9007199254740991',
    'true',
    'false',
    'ö',
  ])
  expect(await redis.command('MGET', first, second)).toEqual(['ö', '42'])
  const broken = { ...values, handed: 0.5 }
  await expect(async () => named.run(plain, { first, second }, broken)).rejects.toThrow(RangeError)
})

test('Redis’s errors name the line of the .lua file, alone and merged', async () => {
  const body = `-- fails.lua\nlocal fine = 1\nif by > 0 then error('here') end\nreturn fine`
  const fails = script('test/fails', {
    keys: ['key'],
    args: { by: int },
    lua: body,
    commands: [],
    reply: integerReply,
    merge: true,
  })
  const key = unique()
  await expect(fails.run(plain, { key }, { by: 1 })).rejects.toThrow(/user_script:3: here/)
  const merged = [fails.run(ticked, { key }, { by: 1 }), fails.run(ticked, { key }, { by: 0 })]
  const [failed, well] = await Promise.allSettled(merged)
  expect((failed as PromiseRejectedResult).reason.message).toMatch(/user_script:3: here/)
  expect(well).toMatchObject({ value: 1 })
})

test('the text is sent once, its SHA-1 from then on, and the text again when the server lost it', async () => {
  const sent: Command[] = []
  const recording: Connection = {
    ...plain,
    send: (command, shape) => {
      sent.push(command)
      return plain.send(command, shape)
    },
  }
  const key = unique()
  const once = script('test/once', {
    keys: ['key'],
    args: {},
    commands: [],
    lua: `return redis.call('INCR', key)`,
    reply: integerReply,
  })
  for (let turn = 0; turn < 3; turn++) await once.run(recording, { key }, {})
  await redis.command('SCRIPT', 'FLUSH')
  expect(await once.run(recording, { key }, {})).toBe(4)
  expect(sent.map(([name]) => name)).toEqual(['EVAL', 'EVALSHA', 'EVALSHA', 'EVALSHA', 'EVAL'])
})

test('the first run carries the proof of permissions, the second teaches the text, and later ones name it', async () => {
  const sent: Command[] = []
  const recording: Connection = {
    ...plain,
    send: (command, shape) => {
      sent.push(command)
      return plain.send(command, shape)
    },
  }
  const key = unique()
  const proven = script('test/proven', {
    keys: ['key'],
    args: {},
    commands: ['INCR', 'PTTL'],
    lua: `redis.call('PTTL', key) return redis.call('INCR', key)`,
    reply: integerReply,
  })
  // Both before the first answer: neither may run without the proof.
  await Promise.all([proven.run(recording, { key }, {}), proven.run(recording, { key }, {})])
  for (let turn = 0; turn < 3; turn++) await proven.run(recording, { key }, {})
  expect(sent.map(([name]) => name)).toEqual(['EVAL', 'EVALSHA', 'EVAL', 'EVALSHA', 'EVALSHA'])
  const withProof = sent.map(([, words]) => words === sent[0]![1] || words === sent[1]![1])
  expect(withProof).toEqual([true, true, false, false, false])
  sent.length = 0
  await redis.command('SCRIPT', 'FLUSH')
  for (let turn = 0; turn < 3; turn++) await proven.run(recording, { key }, {})
  expect(sent.map(([name]) => name)).toEqual(['EVALSHA', 'EVAL', 'EVAL', 'EVALSHA'])
  expect(await redis.command('GET', key)).toBe('8')
})

test('a permission that is taken away later is named, and the call after it changes nothing', async () => {
  const connection = { ...plain }
  const key = unique()
  const renewing = script('test/renewing', {
    keys: ['key'],
    args: {},
    commands: ['INCRBY', 'PEXPIRE'],
    lua: `local count = redis.call('INCRBY', key, '1') redis.call('PEXPIRE', key, '60000') return count`,
    reply: integerReply,
  })
  expect(await renewing.run(connection, { key }, {})).toBe(1)
  await redis.command('ACL', 'SETUSER', 'default', '-pexpire')
  try {
    for (let turn = 0; turn < 2; turn++) {
      await expect(renewing.run(connection, { key }, {})).rejects.toMatchObject({
        code: 'E_DENIED',
        // Redis 7.2 and Valkey name the user; before, the proof names the command.
        message: expect.stringMatching(/ACL SETUSER (?:<user>|default) \+pexpire\)$/),
      })
    }
  } finally {
    await redis.command('ACL', 'SETUSER', 'default', '+@all')
  }
  // The one call that was the first to meet it.
  expect(await redis.command('GET', key)).toBe('2')
})

test('a key of another type than the script says is refused before its first command, and named', async () => {
  const [first, second] = [unique(), unique()]
  const typed = script('test/typed', {
    keys: ['first', 'second*'],
    args: {},
    commands: ['SET', 'SADD'],
    types: { second: 'set' },
    lua: `redis.call('SET', first, '1') for _, key in ipairs(second) do redis.call('SADD', key, 'a') end return 1`,
    reply: integerReply,
  })
  await redis.command('RPUSH', second, 'a')
  await expect(typed.run(plain, { first, second: [unique(), second] }, {})).rejects.toMatchObject({
    code: 'E_WRONG_TYPE',
    message: expect.stringContaining(`${second} holds a list, not a set`),
  })
  expect(await redis.command('EXISTS', first)).toBe(0)
})

test('a script that is lost while calls are under way is still run once for each', async () => {
  const count = counting()
  const key = unique()
  const one = script('test/one', {
    keys: ['key'],
    args: {},
    commands: [],
    lua: `return redis.call('INCR', key)`,
    reply: integerReply,
  })
  const calls: Promise<number>[] = []
  for (let round = 0; round < 20; round++) {
    for (let at = 0; at < 10; at++)
      calls.push(one.run(plain, { key }, {}), count.run(ticked, { key }, { by: 1 }))
    await redis.command('SCRIPT', 'FLUSH')
  }
  const answers = await Promise.all(calls)
  expect(await redis.command('GET', key)).toBe('400')
  expect(new Set(answers).size).toBe(400)
})

test('merged calls are bounded: 200 on one key are one alone and four together, in order', async () => {
  const count = counting()
  const key = unique()
  await count.run(ticked, { key }, { by: 1 })
  await redis.command('CONFIG', 'RESETSTAT')
  const answers = await Promise.all(Array.from({ length: 200 }, () => count.run(ticked, { key }, { by: 1 })))
  expect(answers).toEqual(Array.from({ length: 200 }, (_, at) => at + 2))
  const stats = String(await redis.command('INFO', 'commandstats'))
  const runs = [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  )
  expect(runs).toBe(1 + 4)
})

test('merged calls on many keys stay apart', async () => {
  const count = counting()
  const prefix = unique()
  const names = Array.from({ length: 30 }, (_, at) => `${prefix}:${at % 3}`)
  const answers = await Promise.all(names.map((key) => count.run(ticked, { key }, { by: 1 })))
  expect(answers).toEqual(names.map((_, at) => Math.floor(at / 3) + 1))
})

test('an error that is raised, returned or met by a command is that call’s alone', async () => {
  const [key, list] = [unique(), unique()]
  await redis.command('RPUSH', list, 'x')
  const risky = script('test/risky', {
    keys: ['key', 'list'],
    args: { how: text },
    commands: [],
    lua: `if how == 'raise' then error({err = 'ERR raised'}) end
if how == 'return' then return redis.error_reply('ERR returned') end
if how == 'type' then return redis.call('INCR', list) end
return redis.call('INCR', key)`,
    reply: integerReply,
    merge: true,
  })
  for (const connection of [plain, ticked]) {
    await redis.command('DEL', key)
    const outcomes = await Promise.allSettled(
      ['fine', 'return', 'type', 'fine'].map((how) => risky.run(connection, { key, list }, { how })),
    )
    expect(outcomes).toMatchObject([
      { value: 1 },
      { reason: { code: 'E_SCRIPT', script: 'test/risky', key, cause: { reply: 'ERR returned' } } },
      { reason: { code: 'E_WRONG_TYPE', key } },
      { value: 2 },
    ])
    expect(await redis.command('GET', key)).toBe('2')
  }
})

test('merged calls answer nil, nothing, false, nested arrays and bytes as they do alone', async () => {
  const key = unique()
  await redis.command('SET', key, Buffer.of(0, 255))
  const bodies = { nil: 'return nil', nothing: 'if false then return 1 end', no: 'return false' }
  for (const [name, lua] of Object.entries(bodies)) {
    const silent = script(`test/${name}`, {
      keys: ['key'],
      args: {},
      lua,
      commands: [],
      reply: optionalReply(textReply),
      merge: true,
    })
    const all = [
      silent.run(ticked, { key }, {}),
      silent.run(ticked, { key }, {}),
      silent.run(plain, { key }, {}),
    ]
    expect(await Promise.all(all)).toEqual([undefined, undefined, undefined])
  }
  const nested = script('test/nested', {
    keys: ['key'],
    args: {},
    commands: [],
    lua: `return {1, redis.call('GET', key), {redis.status_reply('fine')}}`,
    reply: tupleReply(integerReply, bytesReply, listReply(bytesReply)),
    bytes: true,
    merge: true,
  })
  const expected = [1, Buffer.of(0, 255), [Buffer.from('fine')]]
  const all = [
    nested.run(ticked, { key }, {}),
    nested.run(ticked, { key }, {}),
    nested.run(plain, { key }, {}),
  ]
  expect(await Promise.all(all)).toEqual([expected, expected, expected])
})

test('100 000 values travel in one call', async () => {
  const key = unique()
  const sum = script('test/sum', {
    keys: ['key'],
    args: { factor: int, values: rest },
    commands: [],
    lua: `local total = 0 for _, value in ipairs(values) do total = total + factor * value end
redis.call('SET', key, total) return #values`,
    reply: integerReply,
  })
  const values = Array.from({ length: 100_000 }, (_, at) => String(at))
  expect(await sum.run(plain, { key }, { factor: 2, values })).toBe(100_000)
  expect(Number(await redis.command('GET', key))).toBe(100_000 * 99_999)
})

test('a key declared with a star stands for as many as are given, none too', async () => {
  const first = script('test/first', {
    keys: ['key', 'old*'],
    args: { words: text },
    commands: [],
    lua: `for _, before in ipairs(old) do redis.call('APPEND', key, before) end
redis.call('APPEND', key, words) return #old`,
    reply: integerReply,
  })
  const key = unique()
  expect(await first.run(plain, { key, old: ['a', 'b', 'c'] }, { words: '!' })).toBe(3)
  expect(await first.run(plain, { key, old: [] }, { words: '?' })).toBe(0)
  expect(await redis.command('GET', key)).toBe('abc!?')
})

test('what takes any number of keys or arguments cannot be merged', () => {
  const options = { commands: [], lua: 'return 1', reply: integerReply, merge: true }
  expect(() => script('test/rest', { ...options, keys: ['key'], args: { values: rest } })).toThrow(
    SchemaError,
  )
  expect(() => script('test/star', { ...options, keys: ['old*'], args: {} })).toThrow('script test/star')
})

test('a reply of a form that was not declared is a ScriptError that names script and key', async () => {
  const key = unique()
  const odd = script('test/odd', {
    keys: ['key'],
    args: {},
    commands: [],
    lua: `return 'text'`,
    reply: integerReply,
  })
  const error: unknown = await odd.run(plain, { key }, {}).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(ScriptError)
  expect((error as ScriptError).message).toBe(
    `${key}: script test/odd failed: the server answered string where an integer was expected`,
  )
})

test('the clock is the server’s, unless a test names the instant', async () => {
  const clock = script('test/clock', {
    keys: ['key'],
    args: { now: serverNow },
    commands: [],
    lua: `return string.format('%.0f', now)`,
    reply: textReply,
  })
  const key = unique()
  expect(await clock.run(plain, { key }, { now: 1_700_000_000_123 })).toBe('1700000000123')
  const millis = async () => {
    const [seconds, micros] = (await redis.command('TIME')) as [string, string]
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  }
  const before = await millis()
  const now = Number(await clock.run(plain, { key }, {}))
  expect(now).toBeGreaterThanOrEqual(before)
  expect(now).toBeLessThanOrEqual(await millis())
})

test('a number that Lua could not hold is refused before anything is sent', async () => {
  const count = counting()
  const key = unique()
  await expect(count.run(plain, { key }, { by: 2 ** 53 })).rejects.toThrow(RangeError)
  await expect(count.run(plain, { key }, { by: 0.5 })).rejects.toThrow(
    'a script takes whole numbers, not 0.5',
  )
  expect(await redis.command('EXISTS', key)).toBe(0)
})
