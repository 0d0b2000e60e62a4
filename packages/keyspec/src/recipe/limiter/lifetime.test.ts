import { expect, test } from 'vitest'
import { connected } from '../../../../../test-support/connected.ts'
import type { Connection } from '../../connection/connection.ts'
import { NotSentError } from '../../errors.ts'
import { open } from '../../keyspace.ts'
import type { Kind } from '../../kind/kind.ts'
import { param } from '../../param.ts'
import { unique } from '../../testing/eventually.ts'
import { fixedWindow } from '../fixed-window/fixed-window.ts'
import { quota } from '../quota/quota.ts'
import { slidingWindow } from '../sliding-window/sliding-window.ts'

const { redis, connection } = await connected()

interface Limiter {
  take(cost?: number): Promise<{ readonly allowed: boolean }>
  settle(): Promise<number>
}

const common = { per: '10m', limit: 5, unreachable: 'admit' } as const
const kinds: Readonly<Record<string, Kind<any>>> = {
  fixedWindow: fixedWindow('rate', common),
  slidingWindow: slidingWindow('rate', common),
  'slidingWindow, compact': slidingWindow('rate', { ...common, form: 'compact' }),
  quota: quota('rate:<hour>', { limit: 5, ttl: '10m', params: { hour: param.hour }, unreachable: 'admit' }),
}

/** Every way in which the scripts are called that may meet no key: each gives a new one its time to live. */
const ways: Readonly<Record<string, (it: Limiter, beside: Beside) => Promise<unknown>>> = {
  'by one take': (it) => it.take(),
  'by many at once': (it) => Promise.all([1, 2, 3].map(() => it.take())),
  'after a refusal': async (it, { forget }) => {
    await it.take(5)
    expect(await it.take()).toMatchObject({ allowed: false })
    await forget()
    expect(await it.take()).toMatchObject({ allowed: true })
  },
  'by what was admitted without Redis': async (it, { down, up }) => {
    down()
    expect(await it.take(3)).toMatchObject({ allowed: true, from: 'unreachable' })
    up()
    expect(await it.settle()).toBe(0)
  },
}

interface Beside {
  /** Another program deletes the key. */
  forget(): Promise<unknown>
  down(): void
  up(): void
}

test.each(Object.keys(kinds).flatMap((kind) => Object.keys(ways).map((way) => [kind, way] as const)))(
  'a key of %s that is made %s has a time to live, and not a longer one than its window',
  async (kind, way) => {
    let isDown = false
    const breaking: Connection = {
      ...connection,
      send: (command, shape) =>
        isDown ? Promise.reject(new NotSentError('down')) : connection.send(command, shape),
    }
    const prefix = `${unique()}:`
    const { rate } = open({ rate: kinds[kind]! }, breaking, { prefix }) as { rate: () => Limiter }
    const names = async () => {
      const [, found] = (await redis.command('SCAN', '0', 'MATCH', `${prefix}*`, 'COUNT', 1000)) as [
        string,
        string[],
      ]
      return found
    }
    await ways[way]!(rate(), {
      forget: async () => redis.command('DEL', ...(await names())),
      down: () => void (isDown = true),
      up: () => void (isDown = false),
    })
    const [name, ...others] = await names()
    expect(others).toEqual([])
    const leftMs = Number(await redis.command('PTTL', name!))
    expect(leftMs).toBeGreaterThan(590_000)
    expect(leftMs).toBeLessThanOrEqual(600_000)
  },
)
