import { expect, test } from 'vitest'
import { connected } from '../../../test-support/connected.ts'
import { number } from './codec/number.ts'
import { integer } from './codec/integer.ts'
import { text } from './codec/text.ts'
import { KeyError } from './errors.ts'
import { open } from './keyspace.ts'
import { counter } from './kind/counter.ts'
import { hash } from './kind/hash.ts'
import { list } from './kind/list.ts'
import { set } from './kind/set.ts'
import { sortedSet } from './kind/sorted-set.ts'
import { stream } from './kind/stream.ts'
import { string } from './kind/string.ts'
import { param } from './param.ts'
import * as recipes from './recipe/index.ts'
import { unique } from './testing/index.ts'

const { connection } = await connected()
const lasting = { ttl: '1h' } as const
const forever = { ttl: 'forever', reason: 'a test' } as const
const schema = {
  string: string('string:<id>', integer, lasting),
  counter: counter('counter:<id>', lasting),
  hash: hash('hash:<id>', { a: integer }, lasting),
  list: list('list:<id>', integer, lasting),
  set: set('set:<id>', integer, lasting),
  sortedSet: sortedSet('sorted:<id>', integer, lasting),
  stream: stream('stream:<id>', { a: integer }, lasting),
  cache: recipes.cache('cache:<id>', integer, lasting),
  fixedWindow: recipes.fixedWindow('fixed:<id>', { per: '1m', limit: 2, unreachable: 'admit' }),
  slidingWindow: recipes.slidingWindow('sliding:<id>', { per: '1m', limit: 2, unreachable: 'admit' }),
  lock: recipes.lock('lock:<id>', { ttl: '10s', unreachable: 'proceed' }),
  fenced: recipes.lock('{fenced:<id>}', { ttl: '10s', fence: '{fenced:<id>}:fence' }),
  quota: recipes.quota('quota:<id>:<hour>', {
    limit: 2,
    ...lasting,
    params: { hour: param.hour },
    unreachable: 'admit',
  }),
  cappedList: recipes.cappedList('recent:<id>', integer, { most: 2, ...lasting }),
  dedupe: recipes.dedupe('seen:<id>', integer, lasting),
  sequence: recipes.sequence('sequence:<id>', forever),
  swapHash: recipes.swapHash('scored:<id>', integer, number, {
    staging: 'scored_next:<id>',
    ...forever,
  }),
  swapSet: recipes.swapSet('snapshot:<id>', integer, { staging: 'snapshot_next:<id>', ...forever }),
  watermark: recipes.watermark('watermark:<id>', integer, forever),
  workQueue: recipes.workQueue('queue:{<id>}', text, { lease: '30s' }),
}
const keys = open(schema, connection, { prefix: `${unique()}:` })
type AnyEntry = ((params: unknown) => object) & { many?(params: unknown): object }
const entries = Object.entries(keys as unknown as Record<string, AnyEntry>)

/** Verbs of a quota that do not concern the window of now. */
const FREE: ReadonlySet<string> = new Set(['at', 'settle'])
// What is not asynchronous, and why.
const SYNCHRONOUS: ReadonlySet<string> = new Set([
  'group', // a handle
  'namesAt', // the names of keys
  // protected
  'send',
  'read',
  'write',
  'encode',
  'decode',
  'encodeAll',
  'decodeAll',
  'decodeOne',
  'swap',
  'whole',
  'copy',
  'stored',
  'valueIn',
  'valueLoaded',
  'put',
  'find',
  'combine', // internal
])

/** The methods of a handle, its own class's and the inherited ones. */
function verbsOf(handle: object): string[] {
  const verbs = new Set<string>()
  for (
    let at = Object.getPrototypeOf(handle) as object | null;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object | null
  ) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (name !== 'constructor' && typeof value === 'function' && !SYNCHRONOUS.has(name)) verbs.add(name)
    }
  }
  return [...verbs]
}

/** How a verb ended: never by throwing. */
async function outcomeOf(handle: object, verb: string, args: unknown[]): Promise<{ error?: unknown }> {
  const answer = (handle as Record<string, (...args: unknown[]) => unknown>)[verb]!(...args)
  const promise =
    typeof (answer as AsyncIterator<unknown>).next === 'function'
      ? (answer as AsyncIterator<unknown>).next()
      : (answer as Promise<unknown>)
  expect(promise, `${verb} answers a promise`).toBeInstanceOf(Promise)
  return promise.then(
    () => ({}),
    (error: unknown) => ({ error }),
  )
}

test('every kind and recipe that can be named is among these', () => {
  const builders = Object.entries(recipes).filter(([, value]) => typeof value === 'function')
  const others = ['bullmq', 'celery', 'celeryResults', 'external', 'rateLimitHeaders']
  const missing = builders.map(([name]) => name).filter((name) => !(name in schema) && !others.includes(name))
  expect(missing).toEqual([])
})

test.each(entries)(
  'every verb of %s rejects for a key that cannot be named, and none throws',
  async (_, entry) => {
    for (const params of [
      { id: '::1' },
      { id: '' },
      {},
      { id: 'x'.repeat(2000) },
      { id: '\ud800' },
      null,
      7,
    ]) {
      const verbs = verbsOf(entry({ id: 1 }))
      expect(verbs.length).toBeGreaterThan(2)
      for (const verb of verbs) {
        const { error } = await outcomeOf(entry(params), verb, [])
        // A verb may refuse its arguments first.
        if (params !== null && params !== 7 && !(error instanceof RangeError) && !FREE.has(verb))
          expect(error, verb).toBeInstanceOf(KeyError)
        else if (verb !== 'settle') expect(error, verb).toBeInstanceOf(Error)
      }
    }
  },
)

test.each(entries)(
  'every verb of %s rejects for arguments that are none of its own, and none throws',
  async (_, entry) => {
    expect(verbsOf(entry({ id: 1 }))).not.toEqual([])
    const hostile = [
      null,
      Symbol('x'),
      { id: Symbol('x') },
      [Symbol('x')],
      Infinity,
      () => {
        throw new Error('thrown')
      },
    ]
    for (const args of hostile.flatMap((value) => [[value], [value, value], [1, value], [{}, value]])) {
      for (const verb of verbsOf(entry({ id: 1 }))) {
        if (verb === 'takeWhenAvailable') continue
        await outcomeOf(entry({ id: 1 }), verb, args)
      }
    }
  },
)

test.each(entries.filter(([, entry]) => entry.many !== undefined))(
  'every verb of many %s rejects if one of them cannot be named, and none throws',
  async (_, entry) => {
    const many = entry.many!([{ id: 1 }])
    if (Array.isArray(many)) return
    for (const params of [[{ id: 1 }, { id: '::1' }], [null], null, 7]) {
      for (const verb of verbsOf(many)) {
        const { error } = await outcomeOf(entry.many!(params), verb, [])
        expect(error, verb).toBeInstanceOf(Error)
      }
    }
    for (const verb of verbsOf(many)) {
      for (const args of [[null], [Symbol('x')], [7], [[Symbol('x')]]]) await outcomeOf(many, verb, args)
    }
  },
)

test('a handle of a key that cannot be named hands on its error, and is no promise itself', async () => {
  const bad = keys.stream({ id: '' })
  await expect(bad.group('g').create()).rejects.toThrow(KeyError)
  await expect(bad.group('g').read('c')).rejects.toThrow(KeyError)
  expect(await Promise.resolve(bad)).toBe(bad)
  expect(() => bad.name).toThrow(KeyError)
  expect(JSON.stringify({ bad })).toBe('{"bad":{}}')
  const [good, refused] = [...keys.string.many([{ id: 1 }, { id: '' }])]
  expect(await good!.exists()).toBe(false)
  await expect(refused!.get()).rejects.toThrow(KeyError)
  await expect(keys.list({ id: 1 }).move('front', 'back', keys.list({ id: '' }))).rejects.toThrow(Error)
})

test('the verbs of a stream’s group never throw', async () => {
  for (const value of [null, Symbol('x'), [Symbol('x')]]) {
    const group = keys.stream({ id: 1 }).group(value as never)
    expect(verbsOf(group)).toContain('create')
    for (const verb of verbsOf(group)) await outcomeOf(group, verb, [value, value])
  }
})

test('a limiter by address takes from every address, and one address has one limit', async () => {
  const perAddress = {
    signIn: recipes.fixedWindow('rate:<ip>', { per: '1m', limit: 2, params: { ip: param.ip } }),
  }
  const { signIn } = open(perAddress, connection, { prefix: `${unique()}:` })
  for (const address of ['::1', '0:0::1', '::0001']) await signIn({ ip: address }).take()
  expect(await signIn({ ip: '::1' }).peek()).toMatchObject({ remaining: 0 })
  expect(await signIn({ ip: '127.0.0.1' }).peek()).toMatchObject({ remaining: 2 })
  expect(signIn.parse(signIn({ ip: '2001:DB8::1' }).name)).toEqual({ ip: '2001:db8::1' })
  await expect(signIn({ ip: 'unknown' }).take()).rejects.toThrow(KeyError)
})

test('text with a lone surrogate is sent nowhere, since it would be sent as another text', async () => {
  const { stream, workQueue, hash } = keys
  const lone = 'a\ud800'
  for (const call of [
    () => stream({ id: 1 }).group(lone).create(),
    () => stream({ id: 1 }).group(lone).pending(),
    () => stream({ id: 1 }).group('g').read(lone),
    () => workQueue({ id: 1 }).take(lone),
    () => workQueue({ id: 1 }).add(['job'], { token: lone }),
    () => workQueue({ id: 1 }).complete('w', { id: lone, result: undefined }),
    () => hash({ id: 1 }).remove(lone as 'a'),
  ])
    await expect(call()).rejects.toThrow(TypeError)
})
