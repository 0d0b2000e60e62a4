import { connect } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { connected } from '../../../../test-support/connected.ts'
import { openVerbs, type Verb as TableVerb, verbTables } from '../../../../test-support/verbs.ts'
import { integer } from '../codec/integer.ts'
import { text } from '../codec/text.ts'
import { SchemaError } from '../errors.ts'
import { open } from '../keyspace.ts'
import { eventually, unique } from '../testing/index.ts'
import { counter } from './counter.ts'
import { hash } from './hash.ts'
import type { Key } from './key.ts'
import { type LifetimeOptions, describeLifetime, lifetime, ttlFor } from './lifetime.ts'
import { list } from './list.ts'
import { set } from './set.ts'
import { sortedSet } from './sorted-set.ts'
import { stream } from './stream.ts'
import { string } from './string.ts'

const { redis, connection } = await connected()
const HOUR = 3_600_000

const kinds = (ttl: LifetimeOptions) => ({
  string: string('string', text, ttl),
  counter: counter('counter', ttl),
  hash: hash('hash', { a: integer, b: integer }, ttl),
  list: list('list:<id>', text, ttl),
  set: set('set', text, ttl),
  sortedSet: sortedSet('zset', text, ttl),
  stream: stream('stream', { a: text }, ttl),
})
const fresh = (ttl: LifetimeOptions) => open(kinds(ttl), connection, { prefix: `${unique()}:` })
type Keys = ReturnType<typeof fresh>
type Verb = readonly [name: string, call: (keys: Keys) => Promise<unknown>]

/** Every verb that writes, by the kind that has it. */
const writes: Readonly<Record<string, readonly Verb[]>> = {
  string: [
    ['set', (keys) => keys.string().set('a')],
    ['setIfAbsent', (keys) => keys.string().setIfAbsent('a')],
    ['setIfPresent', (keys) => keys.string().setIfPresent('a')],
    ['getAndSet', (keys) => keys.string().getAndSet('a')],
    ['getAndDelete', (keys) => keys.string().getAndDelete()],
    ['many.set', (keys) => keys.string.many([{}, {}]).set(['a', 'b'])],
  ],
  counter: [
    ['set', (keys) => keys.counter().set(1)],
    ['setIfAbsent', (keys) => keys.counter().setIfAbsent(1)],
    ['increment', (keys) => keys.counter().increment()],
    ['decrement', (keys) => keys.counter().decrement(2)],
    ['two increments', (keys) => Promise.all([keys.counter().increment(), keys.counter().increment()])],
    ['getAndReset', (keys) => keys.counter().getAndReset()],
  ],
  hash: [
    ['set', (keys) => keys.hash().set({ a: 1 })],
    ['setIfAbsent', (keys) => keys.hash().setIfAbsent('a', 1)],
    ['update', (keys) => keys.hash().update({ b: 1 })],
    ['increment', (keys) => keys.hash().increment('a')],
    ['remove', (keys) => keys.hash().remove('a', 'b')],
  ],
  list: [
    ['pushFront', (keys) => keys.list({ id: 1 }).pushFront('a', 'b')],
    ['pushBack', (keys) => keys.list({ id: 1 }).pushBack('a')],
    ['setAt', (keys) => keys.list({ id: 1 }).setAt(0, 'c')],
    ['insert', (keys) => keys.list({ id: 1 }).insert('c', { after: 'a' })],
    [
      'move to',
      (keys) =>
        keys
          .list({ id: 2 })
          .pushBack('x')
          .then(() => keys.list({ id: 2 }).move('back', 'front', keys.list({ id: 1 }))),
    ],
    ['move', (keys) => keys.list({ id: 1 }).move('front', 'back')],
    ['popFront', (keys) => keys.list({ id: 1 }).popFront(2)],
    ['popBack', (keys) => keys.list({ id: 1 }).popBack(9)],
    ['trim', (keys) => keys.list({ id: 1 }).trim(0, 1)],
    ['remove', (keys) => keys.list({ id: 1 }).remove('a')],
  ],
  set: [
    ['add', (keys) => keys.set().add('a', 'b')],
    ['remove', (keys) => keys.set().remove('a', 'b')],
    ['pop', (keys) => keys.set().pop(2)],
  ],
  sortedSet: [
    ['add', (keys) => keys.sortedSet().add({ value: 'a', score: 1 })],
    ['add if present', (keys) => keys.sortedSet().add({ value: 'a', score: 2 }, { onlyIf: 'present' })],
    ['add if greater', (keys) => keys.sortedSet().add({ value: 'b', score: 2 }, { onlyIf: 'greater' })],
    ['increment', (keys) => keys.sortedSet().increment('c')],
    ['remove', (keys) => keys.sortedSet().remove('a', 'b', 'c')],
    ['removeRange', (keys) => keys.sortedSet().removeRange(0, 1)],
    ['popLowest', (keys) => keys.sortedSet().popLowest()],
    ['popHighest', (keys) => keys.sortedSet().popHighest(9)],
  ],
  stream: [
    ['add', (keys) => keys.stream().add({ a: 'x' })],
    ['add to a length', (keys) => keys.stream().add({ a: 'x' }, { maxLength: 1, exact: true })],
    ['create a group', (keys) => keys.stream().group('g').create()],
    [
      'read in a group',
      (keys) =>
        keys
          .stream()
          .group('g')
          .create()
          .then(() => keys.stream().group('g').read('c')),
    ],
    ['trim', (keys) => keys.stream().trim({ maxLength: 0, exact: true })],
  ],
}
const reads: Readonly<Record<string, Verb>> = {
  string: ['get', (keys) => keys.string().get()],
  counter: ['get', (keys) => keys.counter().get()],
  hash: ['get', (keys) => keys.hash().get()],
  list: ['range', (keys) => keys.list({ id: 1 }).range()],
  set: ['members', (keys) => keys.set().members()],
  sortedSet: ['range', (keys) => keys.sortedSet().range()],
  stream: ['range', (keys) => keys.stream().range()],
}
const keyOf = (keys: Keys, kind: string): Key =>
  kind === 'list' ? keys.list({ id: 1 }) : keys[kind as 'string']()
const pttl = async (key: Key) => Number(await redis.command('PTTL', key.name))
const names = Object.keys(writes)
const creation = { ttl: '1h', renew: 'creation' } as const

describe.each(names)('a %s', (kind) => {
  const verbs = writes[kind]!
  const [, create] = verbs[0]!
  const [, read] = reads[kind]!
  const sequence = fc.array(fc.constantFrom(...verbs.keys()), { minLength: 1, maxLength: 12 })

  test.each([
    ['creation', 0],
    ['write', 0],
    ['read', 0.3],
  ] as const)('renewed at %s always has a time to live, whatever is written', async (renew, jitter) => {
    await fc.assert(
      fc.asyncProperty(sequence, async (steps) => {
        const keys = fresh({ ttl: '1h', renew, jitter })
        const key = keyOf(keys, kind)
        for (const step of steps) {
          await verbs[step]![1](keys)
          const ttl = await pttl(key)
          // -2: there is no such key; -1 would be a key without a time to live.
          if (ttl !== -2) expect(ttl).toBeGreaterThan(0)
          expect(ttl).toBeLessThanOrEqual(HOUR)
        }
      }),
      { numRuns: 12 },
    )
  })

  test('renewed at creation is never extended', async () => {
    const keys = fresh(creation)
    const key = keyOf(keys, kind)
    await create(keys)
    expect(await pttl(key)).toBeGreaterThan(HOUR - 60_000)
    for (const [, call] of verbs) {
      if ((await pttl(key)) === -2) await create(keys)
      await redis.command('PEXPIRE', key.name, 60_000)
      await call(keys)
      await read(keys)
      expect(await pttl(key)).toBeLessThanOrEqual(60_000)
    }
  })

  test('begins a new life once it was gone', async () => {
    const keys = fresh(creation)
    const key = keyOf(keys, kind)
    await create(keys)
    await redis.command('PEXPIRE', key.name, 60_000)
    await key.delete()
    await create(keys)
    expect(await pttl(key)).toBeGreaterThan(60_000)
  })

  test('renewed on write is renewed by a write, and not by a read', async () => {
    const keys = fresh({ ttl: '1h' })
    const key = keyOf(keys, kind)
    await create(keys)
    await redis.command('PEXPIRE', key.name, 60_000)
    await read(keys)
    expect(await pttl(key)).toBeLessThanOrEqual(60_000)
    await create(keys)
    expect(await pttl(key)).toBeGreaterThan(60_000)
  })

  test('renewed on read is renewed by a read', async () => {
    const keys = fresh({ ttl: '1h', renew: 'read' })
    const key = keyOf(keys, kind)
    await read(keys)
    expect(await pttl(key)).toBe(-2)
    await create(keys)
    await redis.command('PEXPIRE', key.name, 60_000)
    await read(keys)
    expect(await pttl(key)).toBeGreaterThan(60_000)
  })

  test.each(['creation', 'write', 'read'] as const)(
    'that was given no time to live by another program gets one at the next write (renewed at %s)',
    async (renew) => {
      const keys = fresh({ ttl: '1h', renew })
      const key = keyOf(keys, kind)
      await create(keys)
      await redis.command('PERSIST', key.name)
      await create(keys)
      expect(await pttl(key)).toBeGreaterThan(0)
    },
  )

  test('declared forever has no time to live', async () => {
    const keys = fresh({ ttl: 'forever', reason: 'a test' })
    const key = keyOf(keys, kind)
    for (const [, call] of verbs) {
      await call(keys)
      expect(await pttl(key)).toBeLessThan(0)
    }
  })

  test('is never without its time to live in between: no client sends EXPIRE after a write', async () => {
    const keys = fresh({ ttl: '1h' })
    const key = keyOf(keys, kind)
    const sent = await monitored(async () => {
      for (const [, call] of verbs) await call(keys)
    })
    expect(sent.some((line) => line.includes(key.name))).toBe(true)
    expect(sent.filter((line) => /"P?EXPIRE/i.test(line))).toEqual([])
  })

  test('with jitter lives up to that fraction shorter', async () => {
    const keys = fresh({ ttl: '1h', jitter: 0.5 })
    const key = keyOf(keys, kind)
    const ttls = new Set<number>()
    for (let i = 0; i < 15; i++) {
      await create(keys)
      const ttl = await pttl(key)
      expect(ttl).toBeGreaterThan(HOUR * 0.5 - 60_000)
      expect(ttl).toBeLessThanOrEqual(HOUR)
      ttls.add(Math.round(ttl / 60_000))
    }
    expect(ttls.size).toBeGreaterThan(1)
  })
})

test('a jittered time to live is spread over what was declared, and nothing else', () => {
  const spread = lifetime('x', { ttl: '10s', jitter: 0.2 })
  fc.assert(
    fc.property(fc.constant(0), () => {
      const ttl = ttlFor(spread)
      return Number.isInteger(ttl) && ttl >= 8000 && ttl <= 10_000
    }),
  )
  expect(ttlFor(lifetime('x', { ttl: '1ms', jitter: 0.99 }))).toBe(1)
  expect(ttlFor(lifetime('x', { ttl: 'forever', reason: 'a test' }))).toBe(0)
})

test('a lifetime that is missing, unreasoned or senseless is refused', () => {
  expect(() => lifetime('a:<b>', {} as never)).toThrow('"a:<b>" declares no ttl')
  expect(() => lifetime('a', undefined as never)).toThrow(SchemaError)
  expect(() => lifetime('a', { ttl: 'forever', reason: ' ' })).toThrow(
    '"a" lives forever: say why, in `reason`',
  )
  expect(() => lifetime('a', { ttl: '0s' })).toThrow('not a duration')
  for (const jitter of [1, -0.1, Number.NaN])
    expect(() => lifetime('a', { ttl: '1s', jitter })).toThrow('jitter')
})

test('a lifetime is told in words', () => {
  expect(describeLifetime(lifetime('a', { ttl: '24h' }))).toBe('24h from the last write')
  expect(describeLifetime(lifetime('a', { ttl: '90m', renew: 'creation' }))).toBe('90m from its creation')
  expect(describeLifetime(lifetime('a', { ttl: '1s', renew: 'read' }))).toBe('1s from the last use')
  expect(describeLifetime(lifetime('a', { ttl: 'forever', reason: 'ids' }))).toBe('forever: ids')
})

/** Recipes whose lifetime is not declared with `renew`: what their scripts do. */
const fixed: Readonly<Record<string, 'creation' | 'write' | 'forever'>> = {
  fixedWindow: 'creation',
  refusingWindow: 'creation',
  quota: 'creation',
  slidingWindow: 'write',
  compactWindow: 'write',
  lock: 'creation',
  jobs: 'forever',
}
const MINUTE = 60_000
/** Keys beside that of the entry: who loads, and the fence. */
const isBeside = (name: string) => /\/(?:loading|fence$)/.test(name)

/** Every verb of every kind and recipe, on keys with a given time to live: what became of it, where it is not what it should be. */
async function wrongLifetimes(
  renew: 'creation' | 'write' | 'read',
  given: 'a minute' | 'none',
): Promise<string[]> {
  const wrong = await Promise.all(
    verbTables.flatMap((table) =>
      Object.entries(table.verbs).map(async ([name, verb]) => {
        const renewed = fixed[table.entry] ?? renew
        const prefix = `${unique()}/`
        const keys = openVerbs(connection, prefix, { ttl: '2h', renew })
        const prepare = verb.prepare === undefined ? table.prepare : verb.prepare
        await prepare?.(keys, { connection, prefix })
        await verb.unapplied?.(keys)
        const before = await keysBehind(prefix)
        for (const key of before)
          await (given === 'none' ? redis.command('PERSIST', key) : redis.command('PEXPIRE', key, MINUTE))
        if (verb.unapplied !== undefined) return []
        await verb.act(keys, () => {})
        const found: string[] = []
        for (const key of await keysBehind(prefix)) {
          const ttl = Number(await redis.command('PTTL', key))
          const renamedFrom = !before.includes(key) ? 'absent' : given
          const text = `${table.name}.${name} (${verb.effect}), renewed at ${renewed}: ${renamedFrom}, then ${ttl} ms`
          if (ttl !== -2 && !isRight(ttl, renamedFrom, verb, renewed)) found.push(text)
        }
        return found
      }),
    ),
  )
  return wrong.flat()
}

function isRight(
  ttl: number,
  renamedFrom: 'absent' | 'a minute' | 'none',
  verb: TableVerb,
  renewed: string,
): boolean {
  if (verb.effect === 'life') return ttl === -1 || ttl > 0
  const renews =
    verb.anew === true ||
    (verb.effect === 'write' && renewed !== 'creation') ||
    (verb.effect === 'read' && renewed === 'read')
  if (renewed === 'forever') return renamedFrom === 'absent' ? ttl === -1 : ttl <= MINUTE
  if (renamedFrom === 'absent' || renews) return ttl > MINUTE
  if (renamedFrom === 'a minute') return ttl > 0 && ttl <= MINUTE
  // A key that another program left without a time to live gets one at the next write, and only then.
  return verb.effect === 'write' ? ttl > MINUTE : ttl === -1 || verb.effect === 'begin'
}

async function keysBehind(prefix: string): Promise<string[]> {
  const found: string[] = []
  let cursor = '0'
  do {
    const [next, names] = (await redis.command('SCAN', cursor, 'MATCH', `${prefix}*`, 'COUNT', 10_000)) as [
      string,
      string[],
    ]
    cursor = next
    found.push(...names)
  } while (cursor !== '0')
  return [...new Set(found)].filter((name) => !isBeside(name))
}

describe.each(['creation', 'write', 'read'] as const)(
  'every verb of every kind and recipe, renewed at %s,',
  (renew) => {
    test('renews the time to live as declared, and no other verb does', async () => {
      expect(await wrongLifetimes(renew, 'a minute')).toEqual([])
    })

    test('gives a time to live, if it writes, to a key that has none', async () => {
      expect(await wrongLifetimes(renew, 'none')).toEqual([])
    })
  },
)

/** What clients send to the server meanwhile, without what scripts do inside it. */
async function monitored(act: () => Promise<unknown>): Promise<string[]> {
  const socket = connect(redis.socket)
  let heard = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (heard += chunk))
  socket.write('MONITOR\r\n')
  await eventually(() => expect(heard).toContain('+OK'))
  await act()
  const end = unique()
  await redis.command('ECHO', end)
  await eventually(() => expect(heard).toContain(end))
  socket.destroy()
  return heard.split('\r\n').filter((line) => !/ \[\d+ lua\] /.test(line))
}
