import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { startSentinels } from '../../../../../test-support/sentinel.ts'
import { integer } from '../../codec/integer.ts'
import { fromIoredis, invalidationsFromIoredis } from '../../connection/client/ioredis.ts'
import type { Invalidations } from '../../connection/tracking/invalidations.ts'
import { open } from '../../keyspace.ts'
import { eventually, unique } from '../../testing/eventually.ts'
import { cache } from './cache.ts'

test('after a failover copies are of the new master, and none is of the old', async () => {
  await using set = await startSentinels()
  const sentinels = set.sentinels.map(({ port }) => ({ host: '127.0.0.1', port: port! }))
  const redis = new Redis({ sentinels, name: set.name, sentinelRetryStrategy: () => 50 })
  const told = redis.duplicate({ protocol: 2 })
  redis.on('error', () => {})
  try {
    const prefix = `${unique()}:`
    const schema = { n: cache('n:<id>', integer, { ttl: '1h', near: { most: 10 } }) }
    const invalidations = invalidationsFromIoredis(told)
    let heard = 0
    const counted: Invalidations = {
      ...invalidations,
      listen: (listener) =>
        invalidations.listen({
          ...listener,
          changed(key) {
            listener.changed(key)
            if (key === `${prefix}n:1`) heard += 1
          },
        }),
    }
    const keys = open(schema, fromIoredis(redis), { prefix, invalidations: counted })
    const live = () =>
      eventually(
        async () => {
          const { nearHits } = keys.n.stats()
          expect([await keys.n({ id: 1 }).get(), await keys.n({ id: 1 }).get()]).not.toContain(undefined)
          expect(keys.n.stats().nearHits).toBeGreaterThan(nearHits)
        },
        { within: '60s' },
      )
    await keys.n({ id: 1 }).set(1)
    await redis.wait(1, 1000)
    await live()

    const master = await set.failover()
    await master.command('SET', `${prefix}n:1`, '2')
    await eventually(async () => expect(await keys.n({ id: 1 }).get()).toBe(2), { within: '60s' })
    await live()
    for (let n = 3; n < 20; n++) {
      expect(await keys.n({ id: 1 }).get()).toBe(n - 1)
      const before = heard
      await master.command('SET', `${prefix}n:1`, String(n))
      await eventually(() => expect(heard).toBeGreaterThan(before))
      expect(await keys.n({ id: 1 }).get()).toBe(n)
    }
  } finally {
    redis.disconnect()
    told.disconnect()
  }
})
