import { expect, onTestFinished, test } from 'vitest'
import { defaultClients } from '../../../../test-support/default-clients.ts'
import { startProxy } from '../../../../test-support/index.ts'
import { integer } from '../codec/integer.ts'
import { text } from '../codec/text.ts'
import { counter } from '../kind/counter.ts'
import { stream } from '../kind/stream.ts'
import { string } from '../kind/string.ts'
import { open } from '../keyspace.ts'
import { eventually, startRedis, unique } from '../testing/index.ts'
import { cache } from './cache/cache.ts'
import { fixedWindow } from './fixed-window/fixed-window.ts'
import { lock } from './lock/lock.ts'
import { dedupe } from './dedupe/dedupe.ts'
import { slidingWindow } from './sliding-window/sliding-window.ts'
import { workQueue } from './work-queue/work-queue.ts'

const ttl = { ttl: '1h' } as const
const refuse = { per: '1h', limit: 100, unreachable: 'refuse' } as const
const schema = {
  n: string('n', integer, ttl),
  count: counter('count', ttl),
  events: stream('events', { what: text }, ttl),
  shown: dedupe('shown', text, ttl),
  fixed: fixedWindow('fixed', refuse),
  sliding: slidingWindow('sliding', refuse),
  lease: lock('lease', ttl),
  jobs: workQueue('{jobs}', text, { lease: '1h' }),
  page: cache('page', text, ttl),
}

// 5 s, and an eighth: the default of every adapter. The machine may be busy.
const BOUND_MS = 5_625 + 1_000

test.each(['a server that is stopped', 'a connection that is half open'])(
  'over every client as it comes, %s meets the bound, and `unreachable` applies',
  async (fault) => {
    const redis = await startRedis({ port: 'any' })
    onTestFinished(() => redis.stop())
    const proxy = await startProxy(redis)
    onTestFinished(() => proxy.stop())
    const clients = await Promise.all(
      defaultClients.map(async ([name, over]) => {
        const { connection, close } = await over(proxy)
        onTestFinished(async () => {
          await close()
        })
        const keys = open(schema, connection, { prefix: `${unique()}:` })
        // Each script is known, and the clients are connected.
        await Promise.all([keys.fixed().take(), keys.sliding().take(), keys.n().set(1)])
        return { name, keys }
      }),
    )
    const isStopped = fault.startsWith('a server')
    if (isStopped) redis.pause()
    else {
      proxy.stall('requests')
      proxy.stall('replies')
    }
    const start = performance.now()
    const ends: [string, number, unknown][] = []
    const timed = async (name: string, outcome: Promise<unknown>) => {
      const end = await outcome.catch((error: unknown) => (error as { code?: unknown }).code)
      ends.push([name, performance.now() - start, end])
      return end
    }
    try {
      await Promise.all(
        clients.map(async ({ name, keys }) => {
          const refused = expect.objectContaining({ allowed: false, from: 'unreachable' })
          const unknown = 'E_UNKNOWN_OUTCOME'
          const calls: readonly [string, Promise<unknown>, unknown][] = [
            ['get', keys.n().get(), unknown],
            ['set', keys.n().set(2), unknown],
            ['update', keys.n().update((n) => (n ?? 0) + 1), unknown],
            ['increment', keys.count().increment(), unknown],
            ['events.add', keys.events().add({ what: 'x' }), unknown],
            ['readAfter', keys.events().readAfter('$', { wait: '100ms' }), unknown],
            ['claim', keys.shown().claim(['a']), unknown],
            ['fixed.take', keys.fixed().take(), refused],
            ['sliding.take', keys.sliding().take(), refused],
            ['acquire', keys.lease().acquire(), unknown],
            ['jobs.add', keys.jobs().add(['a']), unknown],
            ['jobs.take', keys.jobs().take('me'), unknown],
            ['getOrLoad', keys.page().getOrLoad(() => 'loaded'), 'loaded'],
          ]
          for (const [verb, call, expected] of calls.map(
            ([verb, call, expected]) => [verb, timed(`${name}: ${verb}`, call), expected] as const,
          ))
            expect([name, verb, await call]).toEqual([name, verb, expected])
        }),
      )
    } finally {
      if (isStopped) redis.resume()
      else await proxy.restore()
    }
    // A cache reads, and then asks for the lock under which it loads.
    const bound = (name: string) => (name.endsWith('getOrLoad') ? 2 * BOUND_MS : BOUND_MS)
    expect(ends.filter(([name, ms]) => ms > bound(name))).toEqual([])
    for (const { keys } of clients)
      expect(await eventually(() => keys.n().get(), { within: '20s' })).toBeTypeOf('number')
  },
)
