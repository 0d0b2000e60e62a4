import { readdirSync, readFileSync } from 'node:fs'
import { string, text } from 'keyspec'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import * as tools from '../index.ts'
import { operation, type Operation, Progress, type Step, type Steps, StoppedError } from './operation.ts'

const { redis, connection } = await connected()
const { redis: otherRedis, connection: other } = await connected()
const KEYS = 700
const schema = {
  page: string('page:<id>', text, { ttl: '1h', renamedFrom: { pattern: 'old:<id>', phase: 2 } }),
}

// Before any test asks for an export.
await redis.command(
  'EVAL',
  `for at = 1, ${KEYS} do redis.call('SET', 'page:' .. at, 'x', 'EX', '900') end`,
  '0',
)
const chosen = tools.selectKeys(schema, {})
const how = { maxLoad: 1 } as const
const packed = await all(tools.exportKeys(connection, chosen, { schema, keyspec: '0', ...how }))
const source = async function* () {
  for (const { bytes } of packed) yield bytes
}

/** Every operation, and how many keys it counts; `total` where it says how many there are. */
const operations: Readonly<
  Record<string, { run(): Operation<unknown, Step<unknown>>; done: number; total?: number }>
> = {
  audit: { run: () => tools.audit(schema, connection, how), done: KEYS, total: KEYS },
  stats: { run: () => tools.stats(schema, connection, { ...how, exact: true }), done: KEYS, total: KEYS },
  usage: { run: () => tools.usage(schema, connection), done: KEYS },
  previewErase: { run: () => tools.previewErase(schema, connection, { ...how, under: 'page:' }), done: KEYS },
  erase: { run: () => tools.erase(schema, connection, { ...how, under: 'none:' }), done: 0 },
  cleanupKeys: { run: () => tools.cleanupKeys(schema, connection, how), done: KEYS },
  planMigration: { run: () => tools.planMigration(schema, connection, how), done: KEYS },
  runMigration: { run: () => tools.runMigration(schema, connection, how), done: 0 },
  rollBackMigration: {
    run: () => tools.rollBackMigration(schema, connection, { ...how, under: 'page:none' }),
    done: 0,
  },
  verifyMigration: {
    run: () => tools.verifyMigration(schema, connection, { ...how, sample: 0 }),
    done: KEYS,
  },
  previewCopy: { run: () => tools.previewCopy(connection, other, chosen, how), done: KEYS },
  copyKeys: { run: () => tools.copyKeys(connection, other, chosen, how), done: KEYS },
  exportKeys: {
    run: () => tools.exportKeys(connection, chosen, { schema, keyspec: '0', ...how }),
    done: KEYS,
  },
  inspectArchive: { run: () => tools.inspectArchive(source), done: KEYS },
  previewImport: { run: () => tools.previewImport(other, source, how), done: KEYS },
  importKeys: { run: () => tools.importKeys(other, source, how), done: KEYS },
  diffServers: { run: () => tools.diffServers(connection, connection, chosen, how), done: KEYS },
  diffArchive: { run: () => tools.diffArchive(connection, source, KEYS, chosen, how), done: KEYS },
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

test.each(Object.entries(operations))('%s counts up to what is there', async (_, { run, done, total }) => {
  const running = run()
  const steps = await all(running)
  const counts = steps.map((step) => step.done)
  expect(counts).toEqual(counts.toSorted((a, b) => a - b))
  expect(counts.at(-1) ?? 0).toBe(done)
  expect(steps.at(-1)?.total).toBe(total)
  for (const step of steps) expect(step.perSecond).toBeGreaterThanOrEqual(0)
  if (steps.length > 0) expect(await running).toEqual(steps.at(-1)!.soFar)
})

test('a page that was only asked for is erased when it is awaited, and not before', async () => {
  await redis.command('SET', 'page:mine', 'x', 'EX', '60')
  const erasing = tools.erase(schema, connection, { ...how, under: 'page:mine' })
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
