import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { integer } from './codec/integer.ts'
import { text } from './codec/text.ts'
import type { Connection } from './connection/connection.ts'
import { fromNodeRedis } from './connection/client/node-redis.ts'
import { Many } from './kind/many.ts'
import { hash } from './kind/hash.ts'
import { Key } from './kind/key.ts'
import { list } from './kind/list.ts'
import { set } from './kind/set.ts'
import { sortedSet } from './kind/sorted-set.ts'
import { stream } from './kind/stream.ts'
import { string } from './kind/string.ts'
import { open } from './keyspace.ts'
import { cappedList } from './recipe/capped-list/capped-list.ts'
import { dedupe } from './recipe/dedupe/dedupe.ts'
import { swapHash } from './recipe/swap/swap-hash.ts'
import { swapSet } from './recipe/swap/swap-set.ts'
import { startRedis, type TemporaryRedis, unique } from './testing/index.ts'

/**
 * How many elements one command of a verb may touch, by docs/design/bounds.md: `one` (a fixed number), `asked` (as many as
 * its argument asks for), `whole` (all that the key holds, in one reply), `step` (all that are given, in one atomic step),
 * or a number: more are cut into commands of at most so many.
 */
type Bound = 'one' | 'asked' | 'whole' | 'step' | number

let server: TemporaryRedis
let client: ReturnType<typeof connect>
const connect = () => createClient({ socket: { path: server.socket, tls: false } })
beforeAll(async () => {
  server = await startRedis()
  client = connect()
  await client.connect()
})
afterAll(async () => {
  client.destroy()
  await server.stop()
})

/** All keys of one keyspace, and how many elements each command took that was sent: its arguments from the first element. */
function opened() {
  const sent: string[][] = []
  const over = fromNodeRedis(client)
  const send: Connection['send'] = (command, shape) => {
    sent.push(command.map(String))
    return over.send(command, shape)
  }
  const ttl = { ttl: '1h' } as const
  const keys = open(
    {
      string: string('string:<n>', text, ttl),
      set: set('set', text, ttl),
      list: list('list', text, ttl),
      sorted: sortedSet('sorted', text, ttl),
      hash: hash('hash', { '*': text }, ttl),
      stream: stream('stream', { a: text }, ttl),
      seen: dedupe('seen', text, ttl),
      recent: cappedList('recent', text, { ...ttl, most: 20_000 }),
      snapshot: swapSet('snapshot', text, { ...ttl, staging: 'snapshot:next' }),
      scored: swapHash('scored', text, integer, { ...ttl, staging: 'scored:next' }),
    },
    { ...over, send },
    { prefix: `${unique()}:` },
  )
  return { keys, sent }
}

type Keys = ReturnType<typeof opened>['keys']

const COUNT = 10_000
const elements = Array.from({ length: COUNT }, (_, n) => `element-${n}`)
const ids = elements.map((_, n) => `1-${n + 1}`)
const isElement = (argument: string) => argument.includes('element-') || /^1-\d+$/.test(argument)
const scored = elements.map((value, score) => ({ value, score }))
const fields = Object.fromEntries(elements.map((name) => [name, 'x']))
const strings = (keys: Keys) => keys.string.many(elements.map((n) => ({ n })))

interface Verbs {
  readonly [verb: string]: Bound | readonly [bound: 'step' | number, run: (keys: Keys) => Promise<unknown>]
}

const SCAN = 'asked'

const tables: readonly (readonly [name: string, of: (keys: Keys) => object, verbs: Verbs])[] = [
  ['Key', () => Key.prototype, { exists: 'one', delete: 'one', ttlMs: 'one', renew: 'one', expireIn: 'one' }],
  [
    'Many',
    () => Many.prototype,
    {
      exists: [512, (keys) => strings(keys).exists()],
      delete: [512, (keys) => strings(keys).delete()],
    },
  ],
  [
    'many strings',
    (keys) => keys.string.many([]),
    {
      get: [128, (keys) => strings(keys).get()],
      set: [1, (keys) => strings(keys).set(elements.map(() => 'x'))],
    },
  ],
  [
    'set',
    (keys) => keys.set(),
    {
      add: ['step', (keys) => keys.set().add(...elements)],
      remove: ['step', (keys) => keys.set().remove(...elements)],
      has: 'one',
      hasMany: ['step', (keys) => keys.set().hasMany(elements)],
      members: 'whole',
      size: 'one',
      random: 'asked',
      pop: 'asked',
      scan: SCAN,
      combine: 'whole',
    },
  ],
  [
    'list',
    (keys) => keys.list(),
    {
      pushFront: ['step', (keys) => keys.list().pushFront(...elements)],
      pushBack: ['step', (keys) => keys.list().pushBack(...elements)],
      popFront: 'asked',
      popBack: 'asked',
      range: 'asked',
      at: 'whole',
      indexOf: 'whole',
      length: 'one',
      setAt: 'whole',
      insert: 'whole',
      trim: 'whole',
      remove: 'whole',
      move: 'one',
      scan: SCAN,
    },
  ],
  [
    'sorted set',
    (keys) => keys.sorted(),
    {
      add: ['step', (keys) => keys.sorted().add(scored)],
      increment: 'one',
      score: 'one',
      scores: ['step', (keys) => keys.sorted().scores(elements)],
      rank: 'one',
      range: 'asked',
      rangeByScore: 'asked',
      count: 'one',
      size: 'one',
      remove: ['step', (keys) => keys.sorted().remove(...elements)],
      removeRange: 'asked',
      removeByScore: 'asked',
      popLowest: 'asked',
      popHighest: 'asked',
      scan: SCAN,
    },
  ],
  [
    'hash',
    (keys) => keys.hash(),
    {
      get: 'whole',
      getField: 'one',
      getFields: ['step', (keys) => keys.hash().getFields(...elements)],
      setIfAbsent: 'one',
      set: ['step', (keys) => keys.hash().set(fields)],
      update: 'whole',
      updateIf: 'whole',
      increment: 'one',
      remove: ['step', (keys) => keys.hash().remove(...elements)],
      has: 'one',
      size: 'one',
      fields: 'whole',
      scan: SCAN,
    },
  ],
  [
    'stream',
    (keys) => keys.stream(),
    {
      add: 'one',
      range: 'asked',
      get: 'one',
      readAfter: 'asked',
      length: 'one',
      trim: 'asked',
      remove: ['step', (keys) => keys.stream().remove(...ids)],
      info: 'one',
      group: 'one',
    },
  ],
  [
    'stream group',
    (keys) => keys.stream().group('workers'),
    {
      create: 'one',
      read: 'asked',
      readAgain: 'asked',
      ack: [
        'step',
        (keys) =>
          keys
            .stream()
            .group('workers')
            .ack(...ids),
      ],
      pending: 'asked',
      claim: 'asked',
      info: 'one',
      delete: 'one',
    },
  ],
  [
    'seen',
    (keys) => keys.seen(),
    {
      claim: [2000, (keys) => keys.seen().claim(elements)],
      has: 'one',
      size: 'one',
      forget: [2000, (keys) => keys.seen().forget(...elements)],
    },
  ],
  [
    'recent',
    (keys) => keys.recent(),
    {
      add: ['step', (keys) => keys.recent().add(...elements)],
      list: 'asked',
      latest: 'one',
      size: 'one',
      clear: 'one',
    },
  ],
  [
    'snapshot',
    (keys) => keys.snapshot(),
    {
      replace: ['step', (keys) => keys.snapshot().replace(elements)],
      members: 'whole',
      has: 'one',
      size: 'one',
    },
  ],
  [
    'scored snapshot',
    (keys) => keys.scored(),
    {
      replace: ['step', (keys) => keys.scored().replace(elements.map((value, n) => [value, n] as const))],
      scores: 'whole',
      score: 'one',
      has: 'one',
      size: 'one',
    },
  ],
]

/** Methods that are no verbs: the type system hides them. */
const HIDDEN = new Set(['constructor', 'send', 'read', 'encode', 'decode', 'taken', 'write', 'encodeAll'])

describe.each(tables)('%s', (name, of, verbs) => {
  test('has a bound for every verb', () => {
    const it = of(opened().keys)
    const prototype: unknown = name === 'Key' || name === 'Many' ? it : Object.getPrototypeOf(it)
    const own = Object.getOwnPropertyNames(prototype).filter(
      (verb) => Object.hasOwn(verbs, verb) || !HIDDEN.has(verb),
    )
    expect(own.toSorted()).toEqual(Object.keys(verbs).toSorted())
  })

  for (const [verb, bound] of Object.entries(verbs)) {
    if (typeof bound !== 'object') continue
    const [most, run] = bound
    const limit = most === 'step' ? COUNT : most
    test(`${verb} of ${COUNT} takes ${most === 'step' ? 'one step' : `commands of ${most} at most`}`, async () => {
      const { keys, sent } = opened()
      await run(keys)
      const counts = sent.map((command) => command.filter(isElement).length)
      expect(counts.filter((count) => count > 0).length).toBeGreaterThanOrEqual(Math.ceil(COUNT / limit))
      expect(Math.max(...counts)).toBe(limit)
    })
  }
})
