import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { string, text } from 'keyspec'
import type { TemporaryRedis } from 'keyspec/testing'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import * as tools from '../index.ts'
import { operation, type Operation, Progress, type Step, type Steps, StoppedError } from './operation.ts'

const { redis, connection } = await connected()
const { redis: otherRedis, connection: other } = await connected()
const { redis: changing, connection: changed } = await connected()
const KEYS = 700
const schema = {
  page: string('page:<id>', text, { ttl: '1h', renamedFrom: { pattern: 'old:<id>', phase: 2 } }),
}

async function fill(server: TemporaryRedis, start: string): Promise<void> {
  const lua = `for at = 1, ${KEYS} do redis.call('SET', ARGV[1] .. at, 'x', 'EX', '900') end`
  await server.command('EVAL', lua, '0', start)
}

// Before any test asks for an export.
await fill(redis, 'page:')
const chosen = tools.selectKeys(schema, {})
// Less than 1, so that there are many steps.
const kindly = { maxLoad: 0.9 } as const
const packed = await all(tools.exportKeys(connection, chosen, { schema, keyspec: '0', ...kindly }))
const source = async function* () {
  for (const { bytes } of packed) yield bytes
}

interface Case {
  /** What is on the third server before. */
  readonly given?: string
  run(how: { maxLoad: number; signal?: AbortSignal }): Operation<unknown, Step<unknown>>
  readonly done: number
  /** `undefined`: it does not say how many there are. */
  readonly total?: number
}

type OperationName = {
  [N in keyof typeof tools]: (typeof tools)[N] extends (...given: never[]) => Operation<unknown> ? N : never
}[keyof typeof tools]

/** Every operation, and how many keys it counts. The compiler finds one that is missing. */
const operations: Readonly<Record<OperationName, Case>> = {
  audit: { run: (how) => tools.audit(schema, connection, how), done: KEYS, total: KEYS },
  stats: {
    run: (how) => tools.stats(schema, connection, { ...how, exact: true }),
    done: KEYS,
    total: KEYS,
  },
  usage: { run: (how) => tools.usage(schema, connection, { ...how, count: 100 }), done: KEYS },
  previewErase: {
    run: (how) => tools.previewErase(schema, connection, { ...how, under: 'page:' }),
    done: KEYS,
  },
  erase: {
    given: 'erase:page:',
    run: (how) => tools.erase(schema, changed, { ...how, prefix: 'erase:' }),
    done: KEYS,
  },
  cleanupKeys: { run: (how) => tools.cleanupKeys(schema, connection, how), done: KEYS },
  planMigration: { run: (how) => tools.planMigration(schema, connection, how), done: KEYS },
  runMigration: {
    given: 'run:old:',
    run: (how) => tools.runMigration(schema, changed, { ...how, prefix: 'run:' }),
    done: KEYS,
  },
  rollBackMigration: {
    given: 'back:page:',
    run: (how) => tools.rollBackMigration(schema, changed, { ...how, prefix: 'back:' }),
    done: KEYS,
  },
  verifyMigration: { run: (how) => tools.verifyMigration(schema, connection, how), done: KEYS },
  previewCopy: { run: (how) => tools.previewCopy(connection, other, chosen, how), done: KEYS },
  copyKeys: { run: (how) => tools.copyKeys(connection, other, chosen, how), done: KEYS },
  exportKeys: {
    run: (how) => tools.exportKeys(connection, chosen, { schema, keyspec: '0', ...how }),
    done: KEYS,
  },
  inspectArchive: { run: ({ signal }) => tools.inspectArchive(source, signal && { signal }), done: KEYS },
  previewImport: { run: (how) => tools.previewImport(other, source, how), done: KEYS },
  importKeys: { run: (how) => tools.importKeys(other, source, how), done: KEYS },
  diffServers: { run: (how) => tools.diffServers(connection, connection, chosen, how), done: KEYS },
  diffArchive: { run: (how) => tools.diffArchive(connection, source, KEYS, chosen, how), done: KEYS },
}

/** The places in a value that JSON does not write as they are. Declarations (`rule`, `owned`) and bytes are left out. */
function unlikeJson(value: unknown, path = ''): readonly string[] {
  if (value === undefined || value === null || ['string', 'boolean'].includes(typeof value)) return []
  if (typeof value === 'number') return Number.isFinite(value) ? [] : [path]
  if (typeof value !== 'object') return [path]
  if (Buffer.isBuffer(value)) return []
  if (![Object.prototype, Array.prototype].includes(Object.getPrototypeOf(value) as never)) return [path]
  return Object.entries(value)
    .filter(([name]) => name !== 'rule' && name !== 'owned')
    .flatMap(([name, inner]) => unlikeJson(inner, `${path}.${name}`))
}

test('every export that returns an operation is in the table', () => {
  const folder = new URL('..', import.meta.url)
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
  // By the source, since types are gone when this runs.
  const returns = (name: string) =>
    sources.some((source) =>
      new RegExp(String.raw`^export function ${name}\([^)]*\): Operation<`, 'm').test(source),
    )
  expect(Object.keys(operations).toSorted()).toEqual(Object.keys(tools).filter(returns).toSorted())
})

describe.each(Object.entries(operations))('%s', (_, { given, run, done, total }) => {
  beforeEach(async () => {
    if (given !== undefined) await fill(changing, given)
  })

  test.each([1, kindly.maxLoad])('counts up to what is there, at a load of %d', async (maxLoad) => {
    const running = run({ maxLoad })
    const steps = await all(running)
    const counts = steps.map((step) => step.done)
    expect(counts).toEqual(counts.toSorted((a, b) => a - b))
    expect(counts.at(-1)).toBe(done)
    expect(steps.at(-1)!.total).toBe(total)
    for (const step of steps) expect(step.perSecond).toBeGreaterThanOrEqual(0)
    expect(await running).toEqual(steps.at(-1)!.soFar)
  })

  test('has a result of plain data, and what was read of it before stays as it was', async () => {
    const running = run(kindly)
    const read: { soFar: unknown; said: string }[] = []
    for await (const { soFar } of running) read.push({ soFar, said: inspect(soFar, { depth: 6 }) })
    for (const { soFar, said } of read) expect(inspect(soFar, { depth: 6 })).toBe(said)
    expect(unlikeJson(await running)).toEqual([])
  })

  test('is stopped by its signal, when it is awaited and between two steps', async () => {
    const enough = new Error('enough')
    await expect(run({ ...kindly, signal: AbortSignal.abort(enough) })).rejects.toBe(enough)
    const stopping = new AbortController()
    const running = run({ ...kindly, signal: stopping.signal })
    const loop = (async () => {
      for await (const _ of running) stopping.abort(enough)
    })()
    await expect(loop).rejects.toBe(enough)
    await expect(running).rejects.toBe(enough)
  })
})

test('an operation over a part of the keys does not say how many keys all are', async () => {
  const how = { ...kindly, exact: true } as const
  for (const part of [{ entries: ['page'] }, { under: 'page:1' }, { prefix: 'page:1' }]) {
    const steps = await all(tools.stats(schema, connection, { ...how, ...part }))
    expect(steps.map((step) => step.total)).toEqual(steps.map(() => undefined))
  }
  const steps = await all(tools.audit(schema, connection, { ...kindly, prefix: 'page:1' }))
  expect(steps.map((step) => step.total)).toEqual(steps.map(() => undefined))
})

test('a sample is of as many keys as were asked for', async () => {
  const how = { ...kindly, sample: 100 }
  for (const running of [tools.audit(schema, connection, how), tools.stats(schema, connection, how)])
    expect((await all<Step<unknown>>(running))[0]!.total).toBe(100)
})

test('a snapshot says how many keys it has as soon as its part is read', async () => {
  await redis.command('SAVE')
  const dump = readFileSync(join(redis.directory, 'dump.rdb'))
  // In pieces, as a file is read.
  const open = async function* () {
    for (let at = 0; at < dump.length; at += 4096) yield dump.subarray(at, at + 4096)
  }
  for (const make of [tools.audit, tools.stats]) {
    const steps = await all<Step<unknown>>(make(schema, tools.snapshotSource([{ open }])))
    expect(steps.length).toBeGreaterThan(2)
    expect(steps[0]).toMatchObject({ total: KEYS })
    expect(steps[0]!.done).toBeLessThan(KEYS)
    expect(steps.at(-1)).toMatchObject({ done: KEYS, total: KEYS })
    const twoParts = await all<Step<unknown>>(make(schema, tools.snapshotSource([{ open }, { open }])))
    expect(twoParts[0]!.total).toBeUndefined()
    expect(twoParts.at(-1)).toMatchObject({ done: 2 * KEYS, total: 2 * KEYS })
  }
})

test('a page that was only asked for is erased when it is awaited, and not before', async () => {
  await redis.command('SET', 'page:mine', 'x', 'EX', '60')
  const erasing = tools.erase(schema, connection, { maxLoad: 1, under: 'page:mine' })
  expect(await redis.command('EXISTS', 'page:mine')).toBe(1)
  expect(await erasing).toMatchObject({ keys: 1, shares: [{ entry: 'page', keys: 1 }] })
  expect(await redis.command('EXISTS', 'page:mine')).toBe(0)
})

describe('an operation', () => {
  /** Counts to `last`, and notes what happened to it. */
  const counter = (last: number, fails?: Error) => {
    const seen: string[] = []
    async function* count(): Steps<{ count: number }> {
      const soFar = { count: 0 }
      const progress = new Progress(() => soFar)
      seen.push('began')
      try {
        for (let at = 1; at <= last; at += 1) {
          soFar.count = at
          yield progress.step(at, last)
        }
        if (fails !== undefined) throw fails
        return soFar
      } finally {
        seen.push('ended')
      }
    }
    return { running: operation(count), seen }
  }

  test('does nothing until somebody asks, and runs once however often it is awaited', async () => {
    const { running, seen } = counter(3)
    expect(seen).toEqual([])
    expect(await Promise.all([running, running])).toEqual([{ count: 3 }, { count: 3 }])
    expect(await running).toEqual({ count: 3 })
    expect(seen).toEqual(['began', 'ended'])
  })

  test('takes no step before it is asked for', async () => {
    const { running } = counter(1_000_000)
    const steps = running[Symbol.asyncIterator]()
    const { value } = await steps.next()
    await new Promise((resolve) => setImmediate(resolve))
    expect(value!.soFar.count).toBe(1)
    await steps.return!()
  })

  test('stops where its loop is left, and says so to whoever awaits it', async () => {
    const { running, seen } = counter(3)
    for await (const { done } of running) if (done === 2) break
    expect(seen).toEqual(['began', 'ended'])
    await expect(running).rejects.toThrow(StoppedError)
    await expect(running).rejects.toMatchObject({ code: 'E_STOPPED' })
  })

  test('stops where its loop throws', async () => {
    const { running, seen } = counter(3)
    const watching = (async () => {
      for await (const _ of running) throw new Error('mine')
    })()
    await expect(watching).rejects.toThrow('mine')
    expect(seen).toEqual(['began', 'ended'])
    await expect(running).rejects.toMatchObject({ code: 'E_STOPPED' })
  })

  test('fails in the loop and for whoever awaits it, and leaves no rejection unhandled', async () => {
    const unhandled = vi.fn<() => void>()
    process.on('unhandledRejection', unhandled)
    onTestFinished(() => void process.off('unhandledRejection', unhandled))
    const { running } = counter(1, new Error('lost'))
    await expect(all(running)).rejects.toThrow('lost')
    await new Promise((resolve) => setImmediate(resolve))
    expect(unhandled).not.toHaveBeenCalled()
    await expect(running).rejects.toThrow('lost')
    await expect(counter(1, new Error('lost')).running).rejects.toThrow('lost')
  })

  test('refuses a second loop, and one after it was awaited', async () => {
    const { running } = counter(2)
    await all(running)
    await expect(all(running)).rejects.toThrow('runs already')
    const awaited = counter(2).running
    void awaited.then(() => {})
    await expect(all(awaited)).rejects.toThrow('runs already')
    await expect(all(awaited)).rejects.toMatchObject({ code: 'E_STARTED_TWICE' })
  })

  test('goes on when a loop that was refused is left', async () => {
    const { running } = counter(3)
    const mine = running[Symbol.asyncIterator]()
    await mine.next()
    const refused = running[Symbol.asyncIterator]()
    await expect(refused.next()).rejects.toThrow('runs already')
    await refused.return!()
    while ((await mine.next()).done !== true);
    expect(await running).toEqual({ count: 3 })
  })

  test('runs when it is awaited though an iterator was made, and not after one was left', async () => {
    const { running } = counter(3)
    running[Symbol.asyncIterator]()
    expect(await running).toEqual({ count: 3 })
    const left = counter(3)
    const iterator = left.running[Symbol.asyncIterator]()
    await iterator.return!()
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
    await expect(left.running).rejects.toMatchObject({ code: 'E_STOPPED' })
    expect(left.seen).toEqual([])
  })

  test('rejects with what went wrong at its beginning, or when it was stopped', async () => {
    const begins = () =>
      operation<string>(() => {
        throw new Error('no beginning')
      })
    await expect(begins()).rejects.toThrow('no beginning')
    const watched = begins()
    await expect(all(watched)).rejects.toThrow('no beginning')
    await expect(watched).rejects.toThrow('no beginning')
    const stopping = operation<string>(async function* () {
      try {
        yield new Progress(() => 'so far').step(1)
        return 'all'
      } finally {
        await Promise.reject(new Error('no end'))
      }
    })
    const loop = (async () => {
      for await (const _ of stopping) break
    })()
    await expect(loop).rejects.toThrow('no end')
    await expect(stopping).rejects.toThrow('no end')
  })

  test('keeps no step when it is awaited', { timeout: 60_000 }, async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const used = () => {
      collect()
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      return heapUsed + arrayBuffers
    }
    const STEPS = 1_000_000
    let most = 0
    async function* count(): Steps<number> {
      const progress = new Progress(() => STEPS)
      const before = used()
      for (let at = 1; at <= STEPS; at += 1) {
        yield progress.step(at, STEPS, { rows: [at] })
        if (at % 250_000 === 0) most = Math.max(most, used() - before)
      }
      return STEPS
    }
    expect(await operation(count)).toBe(STEPS)
    // A step of which one word is kept would come to as much.
    expect(most).toBeLessThan(8 * STEPS)
  })

  test('is a promise: catch, finally and Promise.all work on it', async () => {
    expect(await counter(2).running.catch(() => 'failed')).toEqual({ count: 2 })
    expect(await counter(2, new Error('lost')).running.catch(() => 'failed')).toBe('failed')
    const last = vi.fn<() => void>()
    expect(await counter(2).running.finally(last)).toEqual({ count: 2 })
    expect(last).toHaveBeenCalledOnce()
  })

  test('counts by the monotonic clock, never falls, and never says that there are fewer than it did', () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(1000)
    onTestFinished(() => now.mockRestore())
    const progress = new Progress(() => 'so far')
    expect(progress.step(0)).toMatchObject({ done: 0, total: undefined, perSecond: 0, soFar: 'so far' })
    now.mockReturnValue(3000)
    expect(progress.step(10, 20)).toMatchObject({ done: 10, total: 20, perSecond: 5 })
    expect(progress.step(8, 9)).toMatchObject({ done: 10, total: 10 })
  })
})

test('the other server holds what was copied', async () => {
  expect(await otherRedis.command('DBSIZE')).toBe(KEYS)
})
