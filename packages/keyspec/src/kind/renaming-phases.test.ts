import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connected } from '../../../../test-support/connected.ts'
import { connections, type Opened } from '../../../../test-support/connections.ts'
import { bytes } from '../codec/bytes.ts'
import { text } from '../codec/text.ts'
import { PhaseError, SchemaError } from '../errors.ts'
import { open } from '../keyspace.ts'
import { cache } from '../recipe/cache/cache.ts'
import { fixedWindow } from '../recipe/fixed-window/fixed-window.ts'
import { lock } from '../recipe/lock/lock.ts'
import { slidingWindow } from '../recipe/sliding-window/sliding-window.ts'
import { workQueue } from '../recipe/work-queue/work-queue.ts'
import { eventually, startRedis, type TemporaryRedis, unique } from '../testing/index.ts'
import { counter } from './counter.ts'
import { hash } from './hash.ts'
import type { Phase, RenamedFrom } from './kind.ts'
import { list } from './list.ts'
import { set } from './set.ts'
import { stream } from './stream.ts'
import { string } from './string.ts'

const { redis, connection } = await connected()
const { connection: another } = await connected(redis)

/** The names of one entry: as a program that knows only the old one declares them (0), or at a phase of the rename. */
const naming = <const Name extends string>(name: Name, phase: 0 | Phase) =>
  phase === 0
    ? ([`old:${name}`, {}] as const)
    : ([`new:${name}`, { renamedFrom: { pattern: `old:${name}`, phase } }] as const)

const schemaAt = (phase: 0 | Phase) => {
  const at = <const Name extends string>(name: Name) => {
    const [pattern, renamedFrom] = naming(name, phase)
    return [pattern as `new:${Name}`, renamedFrom as { readonly renamedFrom?: RenamedFrom }] as const
  }
  const ttl = '1h'
  const [calls, ofCalls] = at('calls:<id>')
  const [log, ofLog] = at('log:<id>')
  const [value, ofValue] = at('value:<id>')
  const [count, ofCount] = at('count:<id>')
  const [fields, ofFields] = at('fields:<id>')
  const [items, ofItems] = at('items:<id>')
  const [lease, ofLease] = at('lease:<id>')
  const [page, ofPage] = at('page:<id>')
  const [jobs, ofJobs] = at('jobs:{<id>}')
  const [events, ofEvents] = at('events:<id>')
  return {
    calls: fixedWindow(calls, { per: '1h', limit: 10, ...ofCalls }),
    log: slidingWindow(log, { per: '1h', limit: 10, ...ofLog }),
    value: string(value, text, { ttl, ...ofValue }),
    count: counter(count, { ttl, ...ofCount }),
    fields: hash(fields, { a: text, b: text, c: text }, { ttl, ...ofFields }),
    items: list(items, text, { ttl, ...ofItems }),
    lease: lock(lease, { ttl: '1m', ...ofLease }),
    page: cache(page, text, { ttl, ...ofPage }),
    jobs: workQueue(jobs, text, { lease: '1m', ...ofJobs }),
    events: stream(events, { a: text }, { ttl, ...ofEvents }),
  }
}

const pairs = [
  [0, 1],
  [1, 1],
  [1, 2],
  [2, 2],
  [2, 3],
] as const

describe.each(pairs)('programs at %i and %i', (earlier, later) => {
  const id = { id: 1 }
  const fresh = () => {
    const prefix = `${unique()}:`
    return {
      prefix,
      programs: [
        open(schemaAt(earlier), connection, { prefix }),
        open(schemaAt(later), another, { prefix }),
      ] as const,
    }
  }
  type Program = ReturnType<typeof fresh>['programs'][0]
  /** Runs one step many times, by both in turn, all at once. */
  const together = <T>(
    programs: readonly Program[],
    times: number,
    step: (keys: Program, at: number) => Promise<T>,
  ) => Promise.all(Array.from({ length: times }, (_, at) => step(programs[at % 2]!, at)))

  test.each(['calls', 'log'] as const)('admit no more together than one limit: %s', async (entry) => {
    const { programs } = fresh()
    const taken = await together(programs, 60, (keys) => keys[entry](id).take())
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(10)
    for (const keys of programs) expect((await keys[entry](id).take()).allowed).toBe(false)
  })

  test('lose no value of a getAndSet', async () => {
    const { programs } = fresh()
    const replaced = await together(programs, 40, (keys, at) => keys.value(id).getAndSet(`${at}`))
    const last = await programs[0].value(id).get()
    expect(await programs[1].value(id).get()).toBe(last)
    const seen = [...replaced.filter((each) => each !== undefined), last]
    expect(seen.toSorted()).toEqual(Array.from({ length: 40 }, (_, at) => `${at}`).toSorted())
  })

  test('count in one counter', async () => {
    const { programs } = fresh()
    const counts = await together(programs, 40, (keys) => keys.count(id).increment())
    expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, at) => at + 1))
  })

  test('share a list and lose or double no element', async () => {
    const { programs } = fresh()
    await together(programs, 40, (keys, at) => keys.items(id).pushBack(`${at}`))
    const popped = await together(programs, 40, (keys) => keys.items(id).popFront())
    expect(popped.toSorted()).toEqual(Array.from({ length: 40 }, (_, at) => `${at}`).toSorted())
  })

  test('share the fields of a hash', async () => {
    const { programs } = fresh()
    await Promise.all([programs[0].fields(id).set({ a: 'x' }), programs[1].fields(id).set({ b: 'y' })])
    await programs[0].fields(id).set({ c: 'z' })
    for (const keys of programs) expect(await keys.fields(id).get()).toEqual({ a: 'x', b: 'y', c: 'z' })
    expect(await programs[1].fields(id).delete()).toBe(true)
    expect(await programs[0].fields(id).exists()).toBe(false)
  })

  test('give a lock to one holder', async () => {
    const { programs } = fresh()
    const asked = await together(programs, 10, (keys) => keys.lease(id).acquire())
    const held = asked.filter((each) => each.acquired)
    expect(held).toHaveLength(1)
    for (const each of held) if (each.acquired) expect(await each.release()).toBe(true)
    expect((await programs[0].lease(id).acquire()).acquired).toBe(true)
    expect((await programs[1].lease(id).acquire()).acquired).toBe(false)
  })

  test('load a cached value once', async () => {
    const { programs } = fresh()
    let loads = 0
    const values = await together(programs, 20, (keys) =>
      keys.page(id).getOrLoad(() => `load ${(loads += 1)}`),
    )
    expect([loads, new Set(values)]).toEqual([1, new Set(['load 1'])])
  })

  test('finish each job of a queue once', async () => {
    const { programs } = fresh()
    const all = Array.from({ length: 30 }, (_, at) => `${at}`)
    await together(programs, 30, (keys, at) => keys.jobs(id).add([all[at]!]))
    const done: string[] = []
    await together(programs, 2, async (keys, at) => {
      for (;;) {
        const [job] = await keys.jobs(id).take(`worker ${at}`)
        if (job === undefined) return
        const [ended] = await keys.jobs(id).complete(`worker ${at}`, { id: job.id, result: 1 })
        expect(ended).toMatchObject({ id: job.id, outcome: 'completed' })
        done.push(job.job)
      }
    })
    expect(done.toSorted()).toEqual(all.toSorted())
    for (const keys of programs)
      expect(await keys.jobs(id).stats()).toMatchObject({ waiting: 0, inProgress: 0 })
  })

  test('never leave a key under two names', async () => {
    const { programs, prefix } = fresh()
    await together(programs, 20, (keys) => keys.count(id).increment())
    const old = (await redis.command('EXISTS', `${prefix}old:count:1`)) as number
    const now = (await redis.command('EXISTS', `${prefix}new:count:1`)) as number
    expect(old + now).toBe(1)
    expect(now).toBe(later >= 2 ? 1 : 0)
  })
})

test('an old program of plain commands and programs at phase 1 admit 10 together', async () => {
  const prefix = `${unique()}:`
  const keys = open(schemaAt(1), another, { prefix })
  const old = `${prefix}old:calls:1`
  const plain = async () => {
    const count = (await connection.send(['INCR', old], { firstKey: 1, keyCount: 1 })) as number
    if (count <= 10) return true
    await connection.send(['DECR', old], { firstKey: 1, keyCount: 1 })
    return false
  }
  const admitted = await Promise.all(
    Array.from({ length: 40 }, async (_, at) =>
      at % 2 === 0 ? plain() : (await keys.calls({ id: 1 }).take()).allowed,
    ),
  )
  const count = admitted.filter(Boolean).length
  // A refused INCR of the plain program stands for a moment before it is taken back.
  expect(count).toBeLessThanOrEqual(10)
  expect(Number(await redis.command('GET', old))).toBe(count)
  expect(await redis.command('EXISTS', `${prefix}new:calls:1`)).toBe(0)
})

test('beside an old program that writes again, phase 2 refuses instead of keeping the older value', async () => {
  const prefix = `${unique()}:`
  const keys = open(schemaAt(2), connection, { prefix })
  await redis.command('SET', `${prefix}old:value:1`, 'v1')
  expect(await keys.value({ id: 1 }).get()).toBe('v1')
  await redis.command('SET', `${prefix}old:value:1`, 'v2')
  await expect(keys.value({ id: 1 }).get()).rejects.toMatchObject({ code: 'E_TWO_NAMES' })
  await redis.command('DEL', `${prefix}new:value:1`)
  expect(await keys.value({ id: 1 }).get()).toBe('v2')
})

test('phases 1 and 3 refuse each other while either is in use, whichever came first', async () => {
  for (const [first, second] of [
    [1, 3],
    [3, 1],
  ] as const) {
    const prefix = `${unique()}:`
    await open(schemaAt(first), connection, { prefix }).count({ id: 1 }).increment()
    const refused = open(schemaAt(second), another, { prefix })
    const rejection = await refused
      .count({ id: 1 })
      .increment()
      .catch((error: unknown) => error)
    expect(rejection).toBeInstanceOf(PhaseError)
    expect((rejection as PhaseError).message).toContain(
      `at phase ${second} of its rename, and programs at phase ${first}`,
    )
    // Entries that only one of them uses are free.
    expect(await refused.value({ id: 1 }).get()).toBeUndefined()
    const ttl = (await redis.command('PTTL', `${prefix}keyspec:phases`)) as number
    expect(ttl).toBeGreaterThan(0)
    expect(ttl).toBeLessThanOrEqual(60_000)
    // Nobody has used the other phase for a minute: what the register says of it is gone.
    await redis.command(
      'ZADD',
      `${prefix}keyspec:phases`,
      Date.now() - 61_000,
      `${first} ${prefix}new:count:<id>`,
    )
    expect(await refused.count({ id: 1 }).increment()).toBe(second === 3 ? 1 : 2)
  }
})

test('in phase 3 the old name is neither read nor shown', async () => {
  const prefix = `${unique()}:`
  const keys = open(schemaAt(3), connection, { prefix })
  await redis.command('SET', `${prefix}old:value:1`, 'left')
  expect(await keys.value({ id: 1 }).get()).toBeUndefined()
  const shown: unknown[] = []
  for await (const { params } of keys.value.scan()) shown.push(params)
  expect(shown).toEqual([])
})

test('calls of one tick keep their order while the phase is announced', async () => {
  for (const phase of [1, 2, 3] as const) {
    const keys = open(schemaAt(phase), connection, { prefix: `${unique()}:` })
    const id = { id: 1 }
    const first = keys.items(id).pushBack('0')
    const rest = Array.from({ length: 20 }, async (_, at) => {
      for (let hops = 0; hops < at; hops++) await Promise.resolve()
      return keys.items(id).pushBack(`${at + 1}`)
    })
    await Promise.all([first, ...rest])
    expect(await keys.items(id).range()).toEqual(Array.from({ length: 21 }, (_, at) => `${at}`))
  }
})

test('a read that waits sees what is added under the old name', async () => {
  const prefix = `${unique()}:`
  const keys = open(schemaAt(1), connection, { prefix })
  const reading = keys.events({ id: 1 }).readAfter('0', { wait: '10s' })
  await redis.command('XADD', `${prefix}old:events:1`, '*', 'a', 'x')
  expect((await reading).map(({ value }) => value)).toEqual([{ a: 'x' }])
})

test('a read that waits for what comes next misses nothing between two looks', async () => {
  const prefix = `${unique()}:`
  const keys = open(schemaAt(2), connection, { prefix })
  await redis.command('XADD', `${prefix}old:events:1`, '*', 'a', 'before')
  const reading = keys.events({ id: 1 }).readAfter('$', { wait: '10s' })
  await eventually(async () => expect(await redis.command('EXISTS', `${prefix}new:events:1`)).toBe(1))
  await redis.command('XADD', `${prefix}new:events:1`, '*', 'a', 'x')
  expect((await reading).map(({ value }) => value)).toEqual([{ a: 'x' }])
})

test('a script that the server has lost is sent again, and runs once', async () => {
  const prefix = `${unique()}:`
  const keys = open(schemaAt(1), connection, { prefix })
  expect(await keys.count({ id: 1 }).increment()).toBe(1)
  await keys.calls({ id: 1 }).take()
  await redis.command('SCRIPT', 'FLUSH')
  expect(await keys.count({ id: 1 }).increment()).toBe(2)
  expect(await keys.calls({ id: 1 }).take()).toMatchObject({ allowed: true, remaining: 8 })
})

test('an error of the server names the command and the key, not the script around it', async () => {
  const prefix = `${unique()}:`
  const keys = open(schemaAt(1), connection, { prefix })
  await redis.command('RPUSH', `${prefix}old:value:1`, 'x')
  await expect(keys.value({ id: 1 }).get()).rejects.toMatchObject({
    code: 'E_WRONG_TYPE',
    key: `${prefix}new:value:1`,
    message: expect.stringContaining('GET was refused'),
  })
})

test.each([
  [['old:<id>'], /names no pattern/],
  [{ pattern: 'old:<id>' }, /the phase must be 1, 2 or 3, not undefined/],
  [{ pattern: 'old:<id>', phase: 4 }, /the phase must be 1, 2 or 3, not 4/],
])('a rename without a pattern or a phase is refused: %j', (renamedFrom, words) => {
  const declare = () => string('new:<id>', text, { ttl: '1h', renamedFrom: renamedFrom as never })
  expect(declare).toThrow(SchemaError)
  expect(declare).toThrow(words)
})

test('a command with more arguments than a script can hand on is refused, and changes nothing', async () => {
  const prefix = `${unique()}:`
  const renamedFrom = { pattern: 'old:<id>', phase: 1 } as const
  const keys = open({ many: set('new:<id>', text, { ttl: '1h', renamedFrom }) }, connection, { prefix })
  const values = Array.from({ length: 8_000 }, (_, at) => `${at}`)
  await keys.many({ id: 1 }).add(...values)
  expect(await redis.command('SCARD', `${prefix}old:1`)).toBe(8_000)
  await expect(keys.many({ id: 1 }).remove(...values)).rejects.toMatchObject({ code: 'E_MIGRATION' })
  expect(await redis.command('SCARD', `${prefix}old:1`)).toBe(8_000)
  expect(await keys.many({ id: 1 }).remove(...values.slice(0, 6_000))).toBe(6_000)
})

test('the types ask for a phase', () => {
  // @ts-expect-error: no phase
  expect(() => string('new:<id>', text, { ttl: '1h', renamedFrom: { pattern: 'old:<id>' } })).toThrow(
    SchemaError,
  )
  expect(() =>
    // @ts-expect-error: no such phase
    string('new:<id>', text, { ttl: '1h', renamedFrom: { pattern: 'old:<id>', phase: 0 } }),
  ).toThrow(SchemaError)
  // @ts-expect-error: another form
  expect(() => string('new:<id>', text, { ttl: '1h', renamedFrom: ['old:<id>'] })).toThrow(SchemaError)
})

describe.each(connections)('over %s', (_name, connect) => {
  let server: TemporaryRedis
  let opened: Opened
  beforeAll(async () => {
    server = await startRedis({ port: 'any' })
    opened = await connect(server)
  })
  afterAll(async () => {
    await opened?.close()
    await server.stop()
  })

  test.each([1, 2] as const)('replies are those of the command itself, at phase %i', async (phase) => {
    const prefix = `${unique()}:`
    const id = { id: 1 }
    const keys = open(schemaAt(phase), opened.connection, { prefix })
    const raw = {
      bytes: string(`${prefix}raw`, bytes, { ttl: '1h', renamedFrom: { pattern: `${prefix}was`, phase } }),
    }
    const stored = Buffer.from([0xff, 0, 0x80])
    await open(raw, opened.connection).bytes().set(stored)
    expect(await open(raw, opened.connection).bytes().get()).toEqual(stored)
    expect(await keys.value(id).get()).toBeUndefined()
    await keys.value(id).set('x')
    expect(await Promise.all([keys.value(id).get(), keys.value(id).get()])).toEqual(['x', 'x'])
    expect(await keys.value(id).ttlMs()).toBeGreaterThan(3_000_000)
    await keys.fields(id).set({ a: 'x', c: 'z' })
    expect(await keys.fields(id).get()).toEqual({ a: 'x', c: 'z' })
    expect(await keys.items(id).pushBack('1', '2')).toBe(2)
    expect(await keys.items(id).range()).toEqual(['1', '2'])
    expect((await keys.calls(id).take()).remaining).toBe(9)
    const taken = await Promise.all(Array.from({ length: 12 }, () => keys.calls(id).take()))
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(9)
    await keys.events(id).add({ a: 'x' })
    expect((await keys.events(id).range()).map(({ value }) => value)).toEqual([{ a: 'x' }])
    await keys.jobs(id).add(['job'])
    expect((await keys.jobs(id).take('worker')).map(({ job }) => job)).toEqual(['job'])
    await server.command('DEL', `${prefix}${phase === 1 ? 'old' : 'new'}:value:1`)
    await server.command('RPUSH', `${prefix}old:value:1`, 'x')
    await expect(keys.value(id).get()).rejects.toMatchObject({ code: 'E_WRONG_TYPE' })
    await server.command('SET', `${prefix}${phase === 1 ? 'new' : 'old'}:value:1`, 'y')
    await expect(keys.value(id).get()).rejects.toMatchObject({ code: 'E_TWO_NAMES' })
  })
})

test('on a cluster a rename between slots is refused where one step touches several keys', () => {
  const cluster = { ...connection, cluster: true }
  const at = (renamedFrom: RenamedFrom) => ({
    jobs: workQueue('new:{<id>}', text, { lease: '1m', renamedFrom }),
  })
  expect(() => open(at({ pattern: 'old:{x<id>}', phase: 1 }), cluster)).toThrow(/same \{hash tag\}/)
  expect(() => open(at({ pattern: 'old:{x<id>}', phase: 3 }), cluster)).not.toThrow()
  expect(() => open(at({ pattern: 'old:{<id>}', phase: 1 }), cluster)).not.toThrow()
  const two = { pattern: ['old:<id>', 'older:<id>'], phase: 2 } as const
  const one = { value: string('new:<id>', text, { ttl: '1h', renamedFrom: two }) }
  expect(() => open(one, cluster)).toThrow(/one old name only/)
  expect(() => open(one, connection)).not.toThrow()
})
