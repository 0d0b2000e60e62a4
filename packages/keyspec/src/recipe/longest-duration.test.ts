import { beforeAll, expect, test } from 'vitest'
import { connected } from '../../../../test-support/connected.ts'
import { sqlDate } from '../codec/sql-date.ts'
import { text } from '../codec/text.ts'
import type { Connection } from '../connection/connection.ts'
import { open } from '../keyspace.ts'
import { hash } from '../kind/hash.ts'
import { list } from '../kind/list.ts'
import { string } from '../kind/string.ts'
import { type TemporaryRedis, unique } from '../testing/index.ts'
import { cache } from './cache/cache.ts'
import { fixedWindow } from './fixed-window/fixed-window.ts'
import { lock } from './lock/lock.ts'
import { cappedList } from './capped-list/capped-list.ts'
import { dedupe } from './dedupe/dedupe.ts'
import { sequence } from './sequence/sequence.ts'
import { slidingWindow } from './sliding-window/sliding-window.ts'
import { watermark } from './watermark/watermark.ts'
import { workQueue } from './work-queue/work-queue.ts'

// 10,000 years, which no timer of Node keeps, and beyond the 14 digits that Lua writes of a number.
const ttl = '3650000d'
const TTL_MS = 315_360_000_000_000

let redis: TemporaryRedis
let connection: Connection
beforeAll(async () => ({ redis, connection } = await connected()))

const schema = {
  string: string('string', text, { ttl, renew: 'read' }),
  hash: hash('hash', { name: text }, { ttl }),
  list: list('list', text, { ttl, jitter: 0.0001 }),
  cache: cache('cache:<id>', text, { ttl, lock: 'loading:<id>', lockTtl: ttl }),
  lock: lock('lock:<key>', { ttl, fence: 'fence:<key>' }),
  ids: sequence('ids', { ttl }),
  mark: watermark('mark', sqlDate, { ttl }),
  seen: dedupe('seen', text, { ttl }),
  recent: cappedList('recent', text, { ttl, most: 5 }),
  fixed: fixedWindow('fixed', { limit: 5, per: ttl }),
  sliding: slidingWindow('sliding', { limit: 5, per: ttl }),
  jobs: workQueue('jobs', text, { lease: ttl }),
}

test('the longest duration reaches Redis whole, from every kind and recipe', async () => {
  const prefix = `${unique()}:`
  const keys = open(schema, connection, { prefix })
  await keys.string().set('a')
  expect(await keys.string().get()).toBe('a')
  await keys.string().expireIn(ttl)
  await keys.hash().set({ name: 'a' })
  await keys.list().pushBack('a')
  expect(await keys.cache({ id: 'a' }).getOrLoad(async () => 'a')).toBe('a')
  const used = await keys.lock({ key: 'a' }).using(async (signal, held) => {
    expect(await held.extend(ttl)).toBe(true)
    expect(held.leftMs).toBeGreaterThan(TTL_MS - 60_000)
    expect(await redis.command('PTTL', `${prefix}lock:a`)).toBeGreaterThan(TTL_MS - 60_000)
    return signal.aborted
  })
  expect(used).toEqual({ acquired: true, value: false })
  await keys.ids().next()
  await keys.mark().advance(new Date())
  await keys.seen().claim(['a'])
  await keys.recent().add('a')
  await keys.jobs().add(['a'])
  const [job] = await keys.jobs().take('w')
  const lease = await redis.command('ZSCORE', `${prefix}jobs:deadlines`, job!.id)
  expect(Number(lease)).toBeGreaterThan(Date.now() + TTL_MS - 60_000)
  await keys.fixed().take()
  await keys.sliding().take()

  const names = (await redis.command('SCAN', '0', 'MATCH', `${prefix}*`, 'COUNT', '1000')) as [
    string,
    string[],
  ]
  const expiring = names[1].filter((name) => !name.startsWith(`${prefix}jobs`))
  expect(expiring).toHaveLength(11)
  for (const name of expiring)
    expect(await redis.command('PTTL', name), name).toBeGreaterThan(TTL_MS * 0.9998)
})
