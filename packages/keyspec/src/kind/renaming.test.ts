import { createHash } from 'node:crypto'
import { createClient } from 'redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import { integer } from '../codec/integer.ts'
import { text } from '../codec/text.ts'
import { fromNodeRedis } from '../connection/client/node-redis.ts'
import { open } from '../keyspace.ts'
import { param } from '../param.ts'
import { unique } from '../testing/index.ts'
import { counter } from './counter.ts'
import { hash } from './hash.ts'
import type { KeySpec } from './kind.ts'
import { list } from './list.ts'
import { ANY_KEY, VERBS } from './permission.ts'
import { set } from './set.ts'
import { sortedSet } from './sorted-set.ts'
import { stream } from './stream.ts'
import { isProvenEverywhere } from '../script/proof.ts'
import { string } from './string.ts'
import { renaming } from './renaming.ts'

const { redis, connection } = await connected()
const { connection: another } = await connected(redis)
const options = (kind: string) =>
  ({ ttl: '1h', renamedFrom: { pattern: [`old:${kind}:<id>`, `older:${kind}:<id>`], phase: 2 } }) as const
const schema = {
  string: string('new:string:<id>', text, options('string')),
  counter: counter('new:counter:<id>', options('counter')),
  hash: hash('new:hash:<id>', { a: integer, b: integer }, options('hash')),
  list: list('new:list:<id>', text, options('list')),
  set: set('new:set:<id>', text, options('set')),
  sortedSet: sortedSet('new:zset:<id>', text, options('zset')),
  stream: stream('new:stream:<id>', { a: text }, options('stream')),
}
const fresh = () => {
  const prefix = `${unique()}:`
  return { prefix, keys: open(schema, connection, { prefix }), rival: open(schema, another, { prefix }) }
}
type Keys = ReturnType<typeof fresh>['keys']
const one = { id: 1 }

/** How each kind's value comes to stand under a name, how it is read, and what a write makes of it. */
const kinds: Readonly<
  Record<
    string,
    {
      readonly type: string
      readonly make: readonly (string | number)[]
      readonly read: (keys: Keys) => Promise<unknown>
      readonly value: unknown
      readonly write: (keys: Keys) => Promise<unknown>
      readonly written: unknown
    }
  >
> = {
  string: {
    type: 'string',
    make: ['SET', 'x'],
    read: (keys) => keys.string(one).get(),
    value: 'x',
    write: (keys) => keys.string(one).getAndSet('y'),
    written: 'y',
  },
  counter: {
    type: 'counter',
    make: ['SET', 7],
    read: (keys) => keys.counter(one).get(),
    value: 7,
    write: (keys) => keys.counter(one).increment(),
    written: 8,
  },
  hash: {
    type: 'hash',
    make: ['HSET', 'a', 1],
    read: (keys) => keys.hash(one).get(),
    value: { a: 1 },
    write: (keys) => keys.hash(one).set({ b: 2 }),
    written: { a: 1, b: 2 },
  },
  list: {
    type: 'list',
    make: ['RPUSH', 'x'],
    read: (keys) => keys.list(one).range(),
    value: ['x'],
    write: (keys) => keys.list(one).pushBack('y'),
    written: ['x', 'y'],
  },
  set: {
    type: 'set',
    make: ['SADD', '1'],
    read: (keys) => keys.set(one).members(),
    value: ['1'],
    write: (keys) => keys.set(one).add('2'),
    written: ['1', '2'],
  },
  sortedSet: {
    type: 'zset',
    make: ['ZADD', 1, 'x'],
    read: (keys) => keys.sortedSet(one).range(),
    value: [{ value: 'x', score: 1 }],
    write: (keys) => keys.sortedSet(one).increment('x', 2),
    written: [{ value: 'x', score: 3 }],
  },
  stream: {
    type: 'stream',
    make: ['XADD', '5-0', 'a', 'x'],
    read: (keys) => keys.stream(one).range(),
    value: [{ id: '5-0', value: { a: 'x' } }],
    write: (keys) => keys.stream(one).add({ a: 'y' }, { id: '6-0' }),
    written: [
      { id: '5-0', value: { a: 'x' } },
      { id: '6-0', value: { a: 'y' } },
    ],
  },
}

describe.each(Object.entries(kinds))(
  'a %s under an old name',
  (kind, { type, make, read, value, write, written }) => {
    const makeAt = async (name: string, ttlMs?: number) => {
      const [command, ...values] = make
      await redis.command(command!, name, ...values)
      if (ttlMs !== undefined) await redis.command('PEXPIRE', name, ttlMs)
    }
    const namesOf = (prefix: string) => ({
      now: `${prefix}new:${type}:1`,
      old: `${prefix}old:${type}:1`,
      older: `${prefix}older:${type}:1`,
    })

    test('is read, and moved with its time to live', async () => {
      const { prefix, keys } = fresh()
      const { now, older } = namesOf(prefix)
      await makeAt(older, 60_000)
      expect(await read(keys)).toEqual(value)
      expect(await redis.command('EXISTS', older)).toBe(0)
      const ttl = await redis.command('PTTL', now)
      expect(ttl).toBeGreaterThan(0)
      expect(ttl).toBeLessThanOrEqual(60_000)
      expect(await read(keys)).toEqual(value)
    })

    test('is written to where it now stands, and nothing of it is lost', async () => {
      const { prefix, keys } = fresh()
      const { now, old } = namesOf(prefix)
      await makeAt(old)
      await write(keys)
      expect(await read(keys)).toEqual(written)
      expect(await redis.command('EXISTS', old)).toBe(0)
      expect(await redis.command('PTTL', now)).toBeGreaterThan(0)
    })

    test('is found as well when the server has lost its scripts', async () => {
      const { prefix, keys } = fresh()
      await write(keys)
      for (const [use, expected] of [
        [read, value],
        [write, written],
      ] as const) {
        await keys[kind as 'string'](one).delete()
        await makeAt(namesOf(prefix).old)
        await redis.command('SCRIPT', 'FLUSH')
        await use(keys)
        expect(await read(keys)).toEqual(expected)
        expect(await redis.command('EXISTS', namesOf(prefix).old)).toBe(0)
      }
    })

    test('is refused under two names, and a delete takes both away', async () => {
      const { prefix, keys } = fresh()
      const { now, old, older } = namesOf(prefix)
      await write(keys)
      await makeAt(old)
      await makeAt(older)
      const before = await redis.command('DUMP', now)
      await expect(read(keys)).rejects.toMatchObject({ code: 'E_TWO_NAMES', key: now })
      await expect(write(keys)).rejects.toMatchObject({ code: 'E_TWO_NAMES', key: now })
      expect(await redis.command('DUMP', now)).toEqual(before)
      expect(await redis.command('EXISTS', now, old, older)).toBe(3)
      const key = keys[kind as 'string'](one)
      expect(await key.delete()).toBe(true)
      expect(await key.exists()).toBe(false)
      expect(await redis.command('EXISTS', now, old, older)).toBe(0)
      expect(await key.delete()).toBe(false)
    })

    test('is deleted, and counted, though it was never moved', async () => {
      const { prefix, keys } = fresh()
      await makeAt(namesOf(prefix).older)
      expect(await keys[kind as 'string'](one).exists()).toBe(true)
      await redis.command('RENAME', namesOf(prefix).now, namesOf(prefix).old)
      expect(await keys[kind as 'string'](one).ttlMs()).toBe('forever')
      await redis.command('RENAME', namesOf(prefix).now, namesOf(prefix).old)
      expect(await keys[kind as 'string'].many([one, { id: 2 }]).delete()).toBe(1)
      expect(await redis.command('EXISTS', namesOf(prefix).old, namesOf(prefix).now)).toBe(0)
    })

    test('is moved once, whoever asks first', async () => {
      const { prefix, keys, rival } = fresh()
      await makeAt(namesOf(prefix).old)
      const values = await Promise.all(Array.from({ length: 20 }, (_, i) => read(i % 2 === 0 ? keys : rival)))
      expect(values).toEqual(Array.from({ length: 20 }, () => value))
    })
  },
)

test('a value under two old names is refused, and moved once only one is left', async () => {
  const { prefix, keys } = fresh()
  await redis.command('MSET', `${prefix}old:string:1`, 'newer', `${prefix}older:string:1`, 'oldest')
  await expect(keys.string(one).getAndDelete()).rejects.toMatchObject({ code: 'E_TWO_NAMES' })
  await redis.command('DEL', `${prefix}older:string:1`)
  expect(await keys.string(one).getAndDelete()).toBe('newer')
  expect(await keys.string(one).get()).toBeUndefined()
})

test.each([
  [
    'rename',
    'removes no name of a key that it cannot move',
    ['old', 'older'],
    (keys: Keys) => keys.counter(one).delete(),
  ],
  [
    'incrby',
    'moves no key for a script that is refused',
    ['old'],
    (keys: Keys) => keys.counter(one).increment(),
  ],
] as const)('a user without %s %s', async (command, _what, names, verb) => {
  const user = unique()
  await redis.command('ACL', 'SETUSER', user, 'on', '>secret', '~*', '&*', '+@all', `-${command}`)
  const client = createClient({
    socket: { path: redis.socket, tls: false },
    username: user,
    password: 'secret',
  })
  onTestFinished(() => client.destroy())
  await client.connect()
  const prefix = `${unique()}:`
  for (const name of names) await redis.command('SET', `${prefix}${name}:counter:1`, '5')
  const keys = open(schema, fromNodeRedis(client), { prefix })
  await expect(verb(keys)).rejects.toMatchObject({ code: 'E_DENIED' })
  for (const name of names) expect(await redis.command('GET', `${prefix}${name}:counter:1`)).toBe('5')
  // Once the user may, the next call runs.
  await redis.command('ACL', 'SETUSER', user, `+${command}`)
  await verb(keys)
  for (const name of names) expect(await redis.command('EXISTS', `${prefix}${name}:counter:1`)).toBe(0)
})

test.each(
  Object.entries(VERBS).map(([kind, verbs]) => [kind, [...new Set([...ANY_KEY, ...verbs])]] as const),
)('a command of a %s moves no key if the user may not run it', async (kind, commands) => {
  const user = unique()
  await redis.command('ACL', 'SETUSER', user, 'on', '>secret', '~*', '&*', '+@all')
  const client = createClient({
    socket: { path: redis.socket, tls: false },
    username: user,
    password: 'secret',
  })
  onTestFinished(() => client.destroy())
  await client.connect()
  const prefix = `${unique()}:`
  const { keys } = schema[kind as keyof typeof schema]
  const [of] = keys as readonly [KeySpec]
  const renamed = renaming(fromNodeRedis(client), keys, prefix)
  const [old, now] = ['old', 'new'].map((name) => of.pattern.text.replace('new', name).replace('<id>', '1'))
  await redis.command('SET', `${prefix}${old}`, '5')
  const isRedis7 = await hasAclCheck()
  for (const command of commands) {
    const words = command.split(' ')
    // Those of scripts are proven by the scripts; SCAN has no key.
    if (['EVAL', 'EVALSHA', 'SCAN'].includes(command)) continue
    if (!isProvenEverywhere(command) && !isRedis7) continue
    // Redis 6.2 takes no subcommand away.
    const denied = (isRedis7 ? words.join('|') : words[0]!).toLowerCase()
    await redis.command('ACL', 'SETUSER', user, '+@all', `-${denied}`)
    const sent = renamed.send([...words, `${prefix}${now}`, '1'], { firstKey: words.length, keyCount: 1 })
    await expect(sent, command).rejects.toMatchObject({ code: 'E_DENIED', key: `${prefix}${now}` })
    expect(await redis.command('EXISTS', `${prefix}${now}`), command).toBe(0)
    expect(await redis.command('EXISTS', `${prefix}${old}`), command).toBe(1)
  }
})

/** Whether the server has `redis.acl_check_cmd`, since Redis 7. */
async function hasAclCheck(): Promise<boolean> {
  return (await redis.command('EVAL', 'return redis.acl_check_cmd and 1 or 0', '0')) === 1
}

test('many are read under whatever name each has', async () => {
  const { prefix, keys } = fresh()
  await redis.command(
    'MSET',
    `${prefix}new:string:1`,
    'a',
    `${prefix}old:string:2`,
    'b',
    `${prefix}older:string:3`,
    'c',
  )
  expect(await keys.string.many([1, 2, 3, 4].map((id) => ({ id }))).get()).toEqual(['a', 'b', 'c', undefined])
  await redis.command('RENAME', `${prefix}new:string:2`, `${prefix}old:string:2`)
  expect(await keys.string.many([{ id: 1 }, { id: 2 }, { id: 9 }]).exists()).toBe(2)
})

test('a scan shows each key once by its new name, used or not as it is shown', async () => {
  const { prefix, keys } = fresh()
  const ids = Array.from({ length: 60 }, (_, i) => `${i}`)
  for (const id of ids) {
    const name = ['new', 'old', 'older'][Number(id) % 3]!
    await redis.command('SET', `${prefix}${name}:string:${id}`, id)
  }
  await redis.command('SET', `${prefix}older:string:0`, 'both')
  const shown = (await all(keys.string.scan({ count: 5 }))).map(({ params, key }) => [params.id, key.name])
  expect(shown.toSorted()).toEqual(ids.map((id) => [id, `${prefix}new:string:${id}`]).toSorted())
  await redis.command('DEL', `${prefix}older:string:0`)

  const values: (string | undefined)[] = []
  for await (const { key } of keys.string.scan({ count: 5 })) values.push(await key.get())
  expect(values.toSorted()).toEqual(ids.toSorted())
})

test('an entry of one key is shown once by a scan, whatever it is called', async () => {
  const prefix = `${unique()}:`
  const keys = open(
    {
      last: string('last', integer, {
        ttl: 'forever',
        reason: 'a test',
        renamedFrom: { pattern: 'latest', phase: 2 },
      }),
    },
    connection,
    { prefix },
  )
  expect(await all(keys.last.scan())).toEqual([])
  await redis.command('SET', `${prefix}latest`, 5)
  expect((await all(keys.last.scan())).map(({ key }) => key.name)).toEqual([`${prefix}last`])
  expect(await keys.last().get()).toBe(5)
  expect((await all(keys.last.scan())).map(({ params }) => params)).toEqual([{}])
})

test('placeholders may change places, and hold a digest', async () => {
  const prefix = `${unique()}:`
  const cached = string('cache:<model>:<content>', text, {
    ttl: '1h',
    renamedFrom: { pattern: 'by:<content>:<model>', phase: 2 },
    params: { content: param.digest(16) },
  })
  const keys = open({ cached }, connection, { prefix })
  const sha = createHash('sha256').update('a film').digest('hex').slice(0, 16)
  await redis.command('SET', `${prefix}by:${sha}:m1`, 'found')
  const [shown] = await all(keys.cached.scan())
  expect(shown?.params).toEqual({ model: 'm1', content: { digest: sha } })
  expect(await keys.cached({ model: 'm1', content: 'a film' }).get()).toBe('found')
  expect(await redis.command('GET', `${prefix}cache:m1:${sha}`)).toBe('found')
  expect(await shown?.key.get()).toBe('found')
})

test('a key that could have had no old name is none the worse for it', async () => {
  const prefix = `${unique()}:`
  const keys = open(
    { doc: string('doc:<path*>', text, { ttl: '1h', renamedFrom: { pattern: '{d}:<path>', phase: 2 } }) },
    connection,
    {
      prefix,
    },
  )
  await keys.doc({ path: 'a:b' }).set('x')
  expect(await keys.doc({ path: 'a:b' }).get()).toBe('x')
  await redis.command('SET', `${prefix}{d}:c`, 'y')
  expect(await keys.doc({ path: 'c' }).get()).toBe('y')

  const narrowed = open(
    { doc: string('doc:<path>', text, { ttl: '1h', renamedFrom: { pattern: 'd:<path*>', phase: 2 } }) },
    connection,
    {
      prefix,
    },
  )
  await redis.command('MSET', `${prefix}d:e`, 'z', `${prefix}d:e:f`, 'not one of ours')
  const shown = (await all(narrowed.doc.scan())).map(({ params }) => params.path)
  expect(shown.toSorted()).toEqual(['c', 'e'])
})

test('an entry without old names pays nothing for those of others', async () => {
  const prefix = `${unique()}:`
  const sent: string[] = []
  const counting = {
    ...connection,
    send: (...call: Parameters<typeof connection.send>) => {
      sent.push(String(call[0][0]))
      return connection.send(...call)
    },
  }
  const keys = open({ ...schema, plain: string('plain:<id>', text, { ttl: '1h' }) }, counting, { prefix })
  await keys.plain(one).get()
  expect(sent).toEqual(['GET'])
  await keys.string(one).get()
  // It says once which phase it is at; then each command is one script.
  expect(sent).toEqual(['GET', 'EVAL', 'EVAL'])
  await keys.string(one).get()
  await keys.string(one).get()
  // The first carried the proof of permissions.
  expect(sent.slice(3)).toEqual(['EVAL', 'EVALSHA'])
  const last = open(
    { doc: string('l:<id>', text, { ttl: '1h', renamedFrom: { pattern: 'k:<id>', phase: 3 } }) },
    counting,
  )
  await last.doc(one).get()
  await last.doc(one).get()
  expect(sent.slice(5)).toEqual(['EVAL', 'GET', 'GET'])
})
