import { createClient } from 'redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startProxy } from '../../../../../test-support/index.ts'
import { guarded } from '../../connection/guard/guarded.ts'
import { fromNodeRedis } from '../../connection/client/node-redis.ts'
import { isUnavailable } from '../../connection/server-error.ts'
import { open } from '../../keyspace.ts'
import { eventually, startRedis, unique } from '../../testing/index.ts'
import { fixedWindow } from '../fixed-window/fixed-window.ts'
import { slidingWindow } from '../sliding-window/sliding-window.ts'
import type { Unreachable } from './outage.ts'

type Declare = (unreachable: Unreachable | undefined) => ReturnType<typeof fixedWindow<'rate:<user>'>>

const common = (unreachable: Unreachable | undefined) => ({
  per: '10m' as const,
  limit: 16,
  ...(unreachable === undefined ? {} : { unreachable }),
})
const recipes: readonly [name: string, declare: Declare][] = [
  ['fixedWindow', (unreachable) => fixedWindow('rate:<user>', common(unreachable))],
  ['slidingWindow', (unreachable) => slidingWindow('rate:<user>', common(unreachable))],
  [
    'slidingWindow, compact',
    (unreachable) => slidingWindow('rate:<user>', { ...common(unreachable), form: 'compact' }),
  ],
]

/** A limiter behind a proxy, and the same without the proxy, which sees what Redis has counted. */
async function behindProxy(declare: Declare, unreachable?: Unreachable) {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const proxy = await startProxy(server)
  onTestFinished(() => proxy.stop())
  const prefix = `${unique()}:`
  const limiter = async (path: string) => {
    const client = createClient({
      socket: { path, reconnectStrategy: 10 },
      disableOfflineQueue: true,
      commandOptions: { timeout: 1_000 },
    })
    client.on('error', () => {})
    await client.connect()
    onTestFinished(() => client.destroy())
    const connection = guarded(fromNodeRedis(client), { openFor: '50ms' })
    const keys = open({ hits: declare(unreachable) }, connection, { prefix })
    return keys.hits({ user: 1 })
  }
  return {
    server,
    proxy,
    hits: await limiter(proxy.socket!),
    direct: await limiter(server.socket),
    cut() {
      proxy.refuse()
      proxy.cut()
    },
  }
}

describe.each(recipes)('%s', (_name, declare) => {
  test('without a declaration the error passes through, and the limiter works again afterwards', async () => {
    const { hits, cut, proxy } = await behindProxy(declare)
    cut()
    const error: unknown = await hits.take().catch((reason: unknown) => reason)
    expect(isUnavailable(error)).toBe(true)
    await proxy.restore()
    await eventually(async () => expect(await hits.take()).toMatchObject({ from: 'redis' }))
  })

  test('`refuse` refuses, and says that Redis did not decide', async () => {
    const { hits, cut, proxy } = await behindProxy(declare, 'refuse')
    expect(await hits.take()).toMatchObject({ allowed: true, from: 'redis' })
    cut()
    for (let i = 0; i < 5; i += 1) {
      expect(await hits.take()).toMatchObject({ allowed: false, remaining: 0, from: 'unreachable' })
    }
    await proxy.restore()
    await eventually(async () =>
      expect(await hits.take()).toMatchObject({ allowed: true, remaining: 14, from: 'redis' }),
    )
  })

  test('`admit` admits, and what was admitted counts when Redis is back', async () => {
    const { hits, direct, cut, proxy } = await behindProxy(declare, 'admit')
    cut()
    for (let i = 0; i < 5; i += 1) {
      expect(await hits.take()).toMatchObject({ allowed: true, from: 'unreachable' })
    }
    await proxy.restore()
    await eventually(async () => expect(await hits.take()).toMatchObject({ from: 'redis' }))
    // The five, and what was taken since: the first of these may have been decided before the five were told.
    await eventually(async () => expect((await direct.peek()).remaining).toBeLessThanOrEqual(16 - 5 - 1))
  })

  test('a share admits its part of what was left, and it counts when Redis is back, though nothing is taken', async () => {
    const { hits, direct, cut, proxy, server } = await behindProxy(declare, { share: 1 / 4 })
    expect(await hits.take(8)).toMatchObject({ allowed: true, remaining: 8 })
    cut()
    const taken = await Promise.all(Array.from({ length: 20 }, () => hits.take()))
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(2)
    expect(taken.every(({ from }) => from === 'unreachable')).toBe(true)
    expect((await direct.peek()).remaining).toBe(8)
    await proxy.restore()
    await eventually(async () => expect((await direct.peek()).remaining).toBe(6), { within: '20s' })
    expect(await server.command('PTTL', hits.name)).toBeGreaterThan(0)
  })

  test('a server that was killed and came back empty is told what was admitted meanwhile', async () => {
    const { hits, direct, server } = await behindProxy(declare, { share: 1 / 2 })
    await server.kill()
    const taken = await Promise.all(Array.from({ length: 20 }, () => hits.take()))
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(8)
    await server.restart()
    await eventually(async () => expect((await direct.peek()).remaining).toBe(8), { within: '20s' })
    expect(await server.command('PTTL', hits.name)).toBeGreaterThan(0)
  })

  test('a server that hangs is noticed by the time-out, and misses no admission when it goes on', async () => {
    const { hits, direct, server } = await behindProxy(declare, { share: 1 / 2 })
    server.pause()
    onTestFinished(() => server.resume())
    let admitted = 0
    for (let i = 0; i < 4; i += 1) if ((await hits.take()).allowed) admitted += 1
    expect(admitted).toBe(4)
    server.resume()
    // What timed out may have been done besides: never less than was admitted, nor more than was asked twice over.
    await eventually(async () => expect((await direct.peek()).remaining).toBeLessThanOrEqual(16 - 4), {
      within: '20s',
    })
    expect((await direct.peek()).remaining).toBeGreaterThanOrEqual(16 - 8)
  })
})
