import { createClient } from 'redis'
import { expect, onTestFinished, test } from 'vitest'
import { startProxy } from '../../../../../test-support/index.ts'
import type { Kind } from '../../kind/kind.ts'
import { fromNodeRedis } from '../../connection/client/node-redis.ts'
import { open } from '../../keyspace.ts'
import { param } from '../../param.ts'
import { startRedis, unique } from '../../testing/index.ts'
import { fixedWindow } from '../fixed-window/fixed-window.ts'
import { quota } from '../quota/quota.ts'
import { slidingWindow } from '../sliding-window/sliding-window.ts'
import type { LimitResult, LimitState } from './limit-result.ts'

const LIMIT = 100
const SHARE = 0.5
const NOON = Date.UTC(2026, 0, 1, 12)
const common = { per: '10m', limit: LIMIT, unreachable: { share: SHARE } } as const

/** A limiter of either kind, as far as this test uses it. */
type Taker = (params: Readonly<Record<string, unknown>>) => {
  take(): Promise<LimitResult>
  peek(): Promise<LimitState>
}

const recipes: readonly [name: string, perMs: number, kind: Kind<any>][] = [
  ['fixedWindow', 600_000, fixedWindow('rate:<user>', common)],
  ['slidingWindow', 600_000, slidingWindow('rate:<user>', common)],
  ['slidingWindow, compact', 600_000, slidingWindow('rate:<user>', { ...common, form: 'compact' })],
  ['slidingWindow of 800 ms', 800, slidingWindow('rate:<user>', { ...common, per: '800ms' })],
  [
    'quota',
    3_600_000,
    quota('rate:<user>:<hour>', {
      limit: LIMIT,
      unreachable: { share: SHARE },
      ttl: '2h',
      params: { hour: param.hour },
    }),
  ],
]

interface Admission {
  readonly begunAt: number
  readonly endedAt: number
  readonly from: LimitResult['from']
}

/** The most admissions that surely lie in one window, which may begin at any of them. */
function mostInAWindow(admissions: readonly Admission[], perMs: number): number {
  const counts = admissions.map(
    ({ begunAt }) =>
      admissions.filter((other) => other.begunAt >= begunAt && other.endedAt < begunAt + perMs).length,
  )
  return Math.max(0, ...counts)
}

/** A limiter behind a connection that the test can break. */
async function breakable(name: string, kind: Kind<any>) {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const proxy = await startProxy(server)
  onTestFinished(() => proxy.stop())
  const client = createClient({
    socket: { path: proxy.socket!, tls: false, reconnectStrategy: 2 },
    disableOfflineQueue: true,
    commandOptions: { timeout: 300 },
  })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.destroy())
  // A quota's window must not end under the test.
  const opening = name === 'quota' ? { now: () => NOON + performance.now() } : {}
  const keys = open({ hits: kind }, fromNodeRedis(client), { prefix: `${unique()}:`, ...opening })
  const back = async () => {
    await proxy.restore()
    while (!client.isReady) await new Promise(setImmediate)
  }
  return { limiter: (keys.hits as Taker)({ user: 1 }), proxy, back }
}

test.each(recipes)(
  '%s: a connection that breaks every few calls, and loses answers, admits no more than the limit in any window, nor than the share without Redis',
  async (name, perMs, kind) => {
    const { limiter, proxy, back } = await breakable(name, kind)

    const admissions: Admission[] = []
    const take = async () => {
      const begunAt = performance.now()
      const { allowed, from } = await limiter.take()
      if (allowed) admissions.push({ begunAt, endedAt: performance.now(), from })
    }
    const takes = (count: number) => Promise.all(Array.from({ length: count }, take))

    for (let round = 0; round < 16; round += 1) {
      proxy.refuse()
      proxy.cut()
      await takes(60)
      await back()
      // One take is answered, upon which what is owed is added; behind the takes that were sent meanwhile, or before them.
      const first = takes(1)
      for (let turn = 0; turn < round; turn += 1) await new Promise(setImmediate)
      proxy.stall(round % 3 === 2 ? 'replies' : 'requests')
      const behind = takes(20)
      await first
      const later = takes(20)
      proxy.cut()
      await Promise.all([behind, later])
      await takes(20)
      await back()
      if (round % 4 === 3) await takes(10)
    }
    const away = admissions.filter(({ from }) => from === 'unreachable')
    expect(away.length).toBeGreaterThan(0)
    expect(mostInAWindow(away, perMs)).toBeLessThanOrEqual(LIMIT * SHARE)
    expect(mostInAWindow(admissions, perMs)).toBeLessThanOrEqual(LIMIT)
  },
)

test.each(recipes)(
  '%s: `peek` leaves out what was admitted without Redis, before it is added',
  async (name, perMs, kind) => {
    const { limiter, proxy, back } = await breakable(name, kind)
    proxy.refuse()
    proxy.cut()
    for (let call = 0; call < 3; call += 1)
      expect(await limiter.take()).toMatchObject({ allowed: true, from: 'unreachable' })
    await expect(limiter.peek()).rejects.toMatchObject({
      code: expect.stringMatching(/^E_(NOT_SENT|UNKNOWN_OUTCOME)$/),
    })
    await back()
    const standing = await limiter.peek()
    expect(standing).toMatchObject({ from: 'redis', remaining: LIMIT - 3 })
    expect(standing.resetMs).toBeGreaterThan(0)
    expect(standing.resetMs).toBeLessThanOrEqual(perMs)
  },
)
