import { type Connection, integer, open, param, type Schema, text } from 'keyspec'
import * as library from 'keyspec'
import type { Command } from 'keyspec/extend'
import { fromNodeRedis } from 'keyspec/node-redis'
import * as recipes from 'keyspec/recipes'
import { startRedis, type TemporaryRedis, unique } from 'keyspec/testing'
import { createClient } from 'redis'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { connected } from '../../../../test-support/connected.ts'
import { aclLine, permissionsOf, probePermissions } from './permissions.ts'

const { counter, hash, list, set, sortedSet, stream, string } = library
const {
  cache,
  fixedWindow,
  lock,
  quota,
  cappedList,
  dedupe,
  sequence,
  slidingWindow,
  swapSet,
  swapHash,
  watermark,
  workQueue,
} = recipes

const ttl = { ttl: '1h' } as const
const renewed = { ttl: '1h', renew: 'read' } as const
const replicated = { to: 1, within: '1ms' } as const
const forever = { ttl: 'forever', reason: 'a test' } as const
const schema = {
  string: string('string:<id>', text, { ...ttl, renew: 'creation' }),
  read: string('read:<id>', text, renewed),
  counter: counter('counter:<id>', ttl),
  hash: hash('hash:<id>', { n: integer, word: text }, ttl),
  list: list('list:<id>', text, ttl),
  set: set('set:<id>', text, ttl),
  sortedSet: sortedSet('sorted:<id>', text, ttl),
  stream: stream('stream:<id>', { word: text }, ttl),
  cache: cache('cache:<id>', text, ttl),
  fixed: fixedWindow('fixed:<id>', { per: '1m', limit: 10 }),
  sliding: slidingWindow('sliding:<id>', { per: '1m', limit: 10 }),
  compact: slidingWindow('compact:<id>', { per: '1m', limit: 10, form: 'compact' }),
  quota: quota('quota:<hour>', { limit: 10, ttl: '2h', params: { hour: param.hour } }),
  lock: lock('mutex:<id>', { ttl: '1m', fence: 'fence:<id>' }),
  recent: cappedList('recent:<id>', text, { ...ttl, most: 3 }),
  seen: dedupe('seen:<id>', text, ttl),
  sequence: sequence('sequence:<id>', forever),
  acknowledged: sequence('acknowledged:<id>', { ...forever, replicated }),
  acknowledgedLock: lock('acknowledged-lock:<id>', {
    ttl: '1m',
    fence: 'acknowledged-fence:<id>',
    replicated,
  }),
  unfenced: lock('unfenced:<id>', { ttl: '1m' }),
  // Verbs that take read first, unless the codec can read everything.
  strictString: string('strict-string:<id>', integer, ttl),
  strictList: list('strict-list:<id>', integer, ttl),
  strictSet: set('strict-set:<id>', integer, ttl),
  strictSorted: sortedSet('strict-sorted:<id>', integer, ttl),
  shared: cache('shared:<id>', text, { ...ttl, failureTtl: '1s', absenceTtl: '1s' }),
  ...Object.fromEntries(
    ([1, 2, 3] as const).flatMap((phase) => {
      const was = (name: string) => ({ renamedFrom: { pattern: `was-${name}${phase}:<id>`, phase } })
      return [
        [`string${phase}`, string(`string${phase}:<id>`, text, { ...ttl, ...was('string') })],
        [`counter${phase}`, counter(`counter${phase}:<id>`, { ...ttl, ...was('counter') })],
        [`list${phase}`, list(`list${phase}:<id>`, text, { ...ttl, ...was('list') })],
        [
          `watermark${phase}`,
          watermark(`watermark${phase}:<id>`, integer, { ...forever, ...was('watermark') }),
        ],
        [`unfenced${phase}`, lock(`unfenced${phase}:<id>`, { ttl: '1m', ...was('lock') })],
      ] as const
    }),
  ),
  snapshot: swapSet('snapshot:<id>', text, { ...ttl, staging: 'snapshot-next:<id>' }),
  scored: swapHash('scored:<id>', text, integer, { ...ttl, staging: 'scored-next:<id>' }),
  watermark: watermark('watermark:<id>', integer, forever),
  queue: workQueue('queue:<id>', text, { lease: '1m', keepCompleted: 2, reason: 'a test' }),
}

const id = { id: 'a' }

/** Verbs that need arguments, in order; those of a key that are not named here are called without any. */
const ARGUMENTS: { readonly [entry: string]: { readonly [verb: string]: readonly unknown[] } } = {
  string: { set: ['v'], setIfAbsent: ['v'], setIfPresent: ['v'], getAndSet: ['v'], update: [() => 'w'] },
  read: { set: ['v'], setIfAbsent: ['v'], setIfPresent: ['v'], getAndSet: ['v'], update: [() => 'w'] },
  counter: { set: [1], setIfAbsent: [1], setIfPresent: [1], getAndSet: [1], update: [() => 2] },
  hash: {
    set: [{ n: 1 }],
    setIfAbsent: ['n', 1],
    getField: ['n'],
    getFields: ['n'],
    update: [{ n: 1 }],
    updateIf: [{ n: 1 }, { n: 2 }],
    increment: ['n'],
    remove: ['word'],
    has: ['n'],
  },
  list: {
    pushFront: ['a'],
    pushBack: ['b'],
    at: [0],
    indexOf: ['a'],
    setAt: [0, 'c'],
    insert: ['d', { before: 'c' }],
    trim: [0, 5],
    remove: ['a'],
    move: ['front', 'back'],
  },
  set: { add: ['a', 'b'], remove: ['b'], has: ['a'], hasMany: [['a']] },
  sortedSet: {
    add: [{ value: 'a', score: 1 }],
    increment: ['a'],
    score: ['a'],
    scores: [['a']],
    rank: ['a'],
    remove: ['b'],
    removeRange: [5, 6],
    removeByScore: [{ min: 8, max: 9 }],
  },
  stream: { add: [{ word: 'a' }], get: ['1-1'], readAfter: ['0'], trim: [{ maxLength: 5 }], remove: ['1-1'] },
  cache: {
    set: ['v'],
    setIfAbsent: ['v'],
    setIfPresent: ['v'],
    getAndSet: ['v'],
    update: [() => 'w'],
    getOrLoad: [() => 'v'],
  },
  recent: { add: ['a'] },
  seen: { claim: [['a']], has: ['a'], forget: ['a'] },
  sequence: { nextMany: [2], atLeast: [9] },
  acknowledged: { nextMany: [2], atLeast: [9] },
  strictString: { set: [1], setIfAbsent: [1], setIfPresent: [1], getAndSet: [1], update: [() => 2] },
  strictList: {
    pushFront: [1],
    pushBack: [2],
    at: [0],
    indexOf: [1],
    setAt: [0, 3],
    insert: [4, { before: 3 }],
    trim: [0, 5],
    remove: [1],
    move: ['front', 'back'],
  },
  strictSet: { add: [1, 2], remove: [2], has: [1], hasMany: [[1]] },
  strictSorted: {
    add: [{ value: 1, score: 1 }],
    increment: [1],
    score: [1],
    scores: [[1]],
    rank: [1],
    remove: [2],
    removeRange: [5, 6],
    removeByScore: [{ min: 8, max: 9 }],
  },
  snapshot: { replace: [['a']], has: ['a'] },
  scored: { replace: [[['a', 1]]], has: ['a'], score: ['a'] },
  watermark: { advance: [7] },
  quota: { at: [new Date()] },
  queue: {
    add: [['a', 'b']],
    take: ['w', 2],
    takeWhenAvailable: ['w', { wait: '1ms' }],
    complete: ['w', { id: '1', result: 'r' }],
    fail: ['w', ['2'], 'no'],
    release: ['w', ['2']],
    completeAndTake: ['w', { take: 1 }],
    renew: ['w', ['1']],
    held: ['w'],
    running: ['1'],
    result: ['1'],
  },
}
const EVERY: { readonly [verb: string]: readonly unknown[] } = {
  expireIn: ['1m'],
  readAgain: ['c'],
  read: ['c'],
}
/** Takes the key away, so it comes last. */
const LAST = [
  'delete',
  'clear',
  'reset',
  'getAndDelete',
  'getAndReset',
  'pop',
  'popFront',
  'popBack',
  'popLowest',
  'popHighest',
]
/** Not verbs, or verbs of a stage between. */
const INTERNAL = new Set(
  (
    'constructor stored put valueIn valueLoaded find using combine namesAt group send read encode decode taken encodeAll ' +
    'write swap whole decodeAll decodeOne copy issue raise'
  ).split(' '),
)

describe('the ACL line of a schema lets a user run every verb of it, and without any one of its rules the prober names it:', () => {
  let redis: TemporaryRedis

  beforeAll(async () => {
    redis = await startRedis()
    await connected(redis)
  })

  const prefix = `${unique()}:`

  async function as(user: string): Promise<Connection> {
    const client = createClient({
      socket: { path: redis.socket, tls: false },
      username: user,
      password: 'secret',
    })
    client.on('error', () => {})
    await client.connect()
    onTestFinished(() => client.destroy())
    return fromNodeRedis(client)
  }

  const only = (entry: string) => ({ [entry]: schema[entry as keyof typeof schema] })
  const lineFor = (user: string, given: Schema) => aclLine(user, permissionsOf(given, prefix)).split(' ')

  test.each(Object.keys(schema))('%s', async (entry) => {
    const user = `user-${entry}`
    await redis.command('ACL', 'SETUSER', user, 'reset', 'resetchannels', 'on', '>secret')
    await redis.command(...(lineFor(user, only(entry)) as [string]))
    const connection = await as(user)
    let sent: Command[] = []
    const recording: Connection = {
      ...connection,
      masters: async () => [recording],
      send(command, shape) {
        sent.push(command)
        return connection.send(command, shape)
      },
    }
    const keyspace = open(only(entry), recording, { prefix, replicating: { ...recording } }) as Record<
      string,
      any
    >
    const make = keyspace[entry]
    const key = make(entry === 'quota' ? {} : id)
    const failures: string[] = []
    const silent: string[] = []
    const call = async (on: any, verb: string, args: readonly unknown[]) => {
      sent = []
      try {
        const answer = on[verb](...args)
        if (answer?.[Symbol.asyncIterator] === undefined) await answer
        else for await (const each of answer) void each
      } catch (error) {
        failures.push(`${verb}: ${String(error)}`)
      }
      if (sent.length === 0) silent.push(verb)
    }
    const verbs = verbsOf(key).sort((a, b) => Number(LAST.includes(a)) - Number(LAST.includes(b)))
    for (const verb of verbs) await call(key, verb, argumentsOf(entry)?.[verb] ?? EVERY[verb] ?? [])
    if (/^unfenced|lock$/i.test(entry)) {
      const held = await key.acquire()
      for (const verb of ['extend', 'release']) await call(held, verb, [])
      await call(key, 'using', [async () => {}])
    }
    if (entry === 'stream') {
      const group = key.group('g')
      for (const verb of ['create', 'read', 'readAgain', 'info', 'pending'])
        await call(group, verb, EVERY[verb] ?? [])
      await call(group, 'ack', ['1-1'])
      await call(group, 'claim', ['c', { idleFor: '1m' }])
      await call(group, 'delete', [])
    }
    if (make.many !== undefined && entry !== 'queue') {
      const many = make.many([id, { id: 'b' }])
      for (const verb of verbsOf(many)) {
        if (verb === 'getOrLoad')
          await call(many, verb, [async (all: readonly unknown[]) => all.map(() => 'v')])
        else
          await call(many, verb, verb === 'set' ? [/^counter|^strict/.test(entry) ? [1, 2] : ['v', 'w']] : [])
      }
    }
    await call(make, 'scan', [])
    expect(failures.filter((each) => !/WRONGTYPE/.test(each))).toEqual([])
    expect(silent.filter((verb) => !['exists', 'isReadTogether', 'stats', 'settle'].includes(verb))).toEqual(
      [],
    )

    const needs = permissionsOf(only(entry), prefix)
    // Redis 6.2 has no check of its own: the rules are read.
    await redis.command('ACL', 'SETUSER', user, '+acl')
    const nothing = await probePermissions(needs, connection)
    expect(nothing).toEqual({ user: await whoIs(connection, user), missing: [], unknown: [] })
  })

  test('each rule that is taken away is the one that is missing', async () => {
    const user = 'every'
    const needs = permissionsOf(schema, prefix)
    const connection = await (async () => {
      await redis.command('ACL', 'SETUSER', user, 'reset', 'resetchannels', 'on', '>secret')
      return as(user)
    })()
    for (const { rule } of needs) {
      if (rule === '+eval') continue
      const others = needs.filter((each) => each.rule !== rule).map((each) => each.rule)
      await redis.command(
        'ACL',
        'SETUSER',
        user,
        'resetkeys',
        'resetchannels',
        '-@all',
        '+acl|whoami',
        '+acl|getuser',
        '+acl|cat',
        ...others,
      )
      const { missing, unknown } = await probePermissions(needs, connection)
      expect(missing.map((each) => each.rule)).toEqual([rule])
      expect(unknown).toEqual([])
    }
  }, 60_000)

  test('what cannot be seen is unknown, and never called missing', async () => {
    await redis.command('ACL', 'SETUSER', 'blind', 'reset', 'on', '>secret', '~*', '+get')
    const { missing, unknown } = await probePermissions(
      permissionsOf(only('string'), prefix),
      await as('blind'),
    )
    expect(missing).toEqual([])
    expect(unknown.map(({ rule }) => rule)).toContain('+eval')
  })
})

/** A renamed entry has the verbs of the one that it is named for. */
function argumentsOf(entry: string) {
  if (entry === 'shared') return { ...ARGUMENTS['cache'], getOrLoad: [() => undefined] }
  return ARGUMENTS[entry.replace(/\d$/, '')]
}

test('a rename needs the names beside its keys on a cluster alone, and the old channels until phase 3', () => {
  const renamed = (phase: 1 | 2 | 3) => ({
    mutex: lock('new:<id>', { ttl: '1m', renamedFrom: { pattern: 'old:<id>', phase } }),
  })
  const rules = (phase: 1 | 2 | 3, cluster: boolean) =>
    permissionsOf(renamed(phase), 'p*:', { cluster }).map(({ rule }) => rule)
  expect(rules(1, true)).toEqual(
    expect.arrayContaining(['~p\\*:keyspec:moving:*', '~p\\*:keyspec:moved:*', '+restore', '&p\\*:old:*']),
  )
  expect(rules(2, false).filter((rule) => rule.includes('keyspec:'))).toEqual(['~p\\*:keyspec:phases'])
  expect(rules(3, true).filter((rule) => rule.includes('keyspec:'))).toEqual(['~p\\*:keyspec:phases'])
  expect(rules(3, true)).not.toContain('&p\\*:old:*')
})

function verbsOf(handle: object): string[] {
  const found = new Set<string>()
  for (let at = handle; at !== Object.prototype; at = Object.getPrototypeOf(at) as object) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (typeof value === 'function' && !INTERNAL.has(name)) found.add(name)
  }
  return [...found]
}

async function whoIs(connection: Connection, user: string): Promise<string | undefined> {
  return connection.send(['ACL', 'WHOAMI'], { firstKey: 0, keyCount: 0 }).then(
    () => user,
    () => undefined,
  )
}
