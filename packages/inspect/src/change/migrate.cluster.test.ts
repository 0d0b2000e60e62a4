import { type Connection, list, string, text } from 'keyspec'
import { fromNodeRedisCluster } from 'keyspec/node-redis'
import { unique } from 'keyspec/testing'
import { createCluster } from 'redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Cluster, startCluster } from '../../../../test-support/index.ts'
import { cleanupKeys } from './cleanup.ts'
import { erase } from './erase.ts'
import { planMigration, rollBackMigration, runMigration } from './migrate.ts'
import { expiresAt } from '../../../../test-support/expires-at.ts'

const HOUR = 3_600_000
const schema = {
  // Most of these change their slot, the tagged never do.
  page: string('cache:page:<id>', text, { ttl: '1h', renamedFrom: { pattern: 'page:<id>', phase: 2 } }),
  tagged: list('new:{<id>}', text, { ttl: '1h', renamedFrom: { pattern: 'old:{<id>}', phase: 2 } }),
}

let cluster: Cluster
let client: ReturnType<typeof createCluster>
let connection: Connection

beforeAll(async () => {
  cluster = await startCluster()
  client = createCluster({ rootNodes: [{ url: cluster.urls[0]! }] })
  await client.connect()
  connection = fromNodeRedisCluster(client)
})
afterAll(async () => {
  client?.destroy()
  await cluster?.stop()
})

const send = (command: string, key: string, ...words: (string | number)[]) =>
  connection.send([command, key, ...words.map(String)], { firstKey: 1, keyCount: 1 })

async function counts(work: typeof planMigration, options: object): Promise<Record<string, number>> {
  return { ...(await work(schema, connection, { maxLoad: 1, ...options })).counts }
}

/** When a key expires, in ms since the epoch. */
const endOf = (key: string) =>
  expiresAt(
    { command: (...words) => connection.send(words.map(String), { firstKey: 3, keyCount: 1 }) as never },
    key,
  )

const ids = Array.from({ length: 60 }, (_, id) => `${id}`)

test('keys move between slots with the instant they end, while a slot is on its way, and back', async () => {
  const prefix = `${unique()}:`
  const endsAt = Date.now() + HOUR / 2
  for (const id of ids) await send('SET', `${prefix}page:${id}`, `value ${id}`, 'PXAT', endsAt)
  await send('RPUSH', `${prefix}old:{a}`, 'x', 'y')
  await send('SET', `${prefix}page:forever`, 'x')

  // Half of the keys of these slots have gone to their new owner when the migration comes by.
  const slots = [await cluster.slotOf(`${prefix}page:0`), await cluster.slotOf(`${prefix}cache:page:1`)]
  const moves = []
  for (const slot of new Set(slots)) {
    const owner = await cluster.ownerOf(slot)
    const other = (await cluster.masters()).find((node) => node !== owner)!
    moves.push(await cluster.beginMove(slot, other))
  }
  expect(await counts(planMigration, { prefix })).toEqual({ waiting: ids.length + 2 })
  // The names beside a key cannot be reached together while its slot is between two owners: the migration waits for it.
  const running = counts(runMigration, { prefix })
  for (const move of moves) await move.finish()
  // A walk can miss a key that goes to a server which it has seen already: the next run finds it.
  const { moved = 0, ...others } = await running
  const { moved: later = 0 } = await counts(runMigration, { prefix })
  expect([others, moved + later]).toEqual([{}, ids.length + 2])

  // MIGRATE, which moves a slot, hands on how long a key has left: the instant moves by the time that this takes.
  const mayDrift = async (id: string) => {
    const names = [`${prefix}page:${id}`, `${prefix}cache:page:${id}`]
    return (await Promise.all(names.map((name) => cluster.slotOf(name)))).some((slot) => slots.includes(slot))
  }
  const expectEnds = async (pattern: string) => {
    for (const id of ids) {
      const driftedMs = (await endOf(`${prefix}${pattern}${id}`)) - endsAt
      expect(driftedMs).toBeGreaterThanOrEqual(0)
      expect(driftedMs).toBeLessThanOrEqual((await mayDrift(id)) ? 10_000 : 0)
    }
  }
  for (const id of ids) expect(await send('GET', `${prefix}cache:page:${id}`)).toBe(`value ${id}`)
  await expectEnds('cache:page:')
  expect(await send('PTTL', `${prefix}cache:page:forever`)).toBe(-1)
  expect(await counts(planMigration, { prefix })).toEqual({ migrated: ids.length + 2 })
  expect(await counts(rollBackMigration, { prefix })).toEqual({ moved: ids.length + 2 })
  expect(await counts(planMigration, { prefix })).toEqual({ waiting: ids.length + 2 })
  await expectEnds('page:')
})

test('where both names exist both values are left, unless the newer is to be kept', async () => {
  const prefix = `${unique()}:`
  for (const name of ['page:1', 'cache:page:1']) await send('SET', prefix + name, 'same', 'PX', HOUR)
  await send('SET', `${prefix}page:2`, 'older', 'PX', HOUR)
  await send('SET', `${prefix}cache:page:2`, 'newer', 'PX', HOUR)
  await send('RPUSH', `${prefix}old:{a}`, 'older')
  await send('RPUSH', `${prefix}new:{a}`, 'newer')
  expect(await counts(runMigration, { prefix })).toEqual({ conflict: 3 })
  expect(await send('GET', `${prefix}page:2`)).toBe('older')
  expect(await counts(runMigration, { prefix, keep: 'new' })).toEqual({ dropped: 3 })
  expect(await send('GET', `${prefix}cache:page:2`)).toBe('newer')
  expect(await counts(planMigration, { prefix })).toEqual({ migrated: 3 })
})

test('keys of every master are repaired and erased', async () => {
  const prefix = `${unique()}:`
  for (const id of ids)
    await send('SET', `${prefix}${Number(id) % 2 === 0 ? 'page' : 'cache:page'}:${id}`, 'x')
  const { violations } = await cleanupKeys(schema, connection, { prefix, repair: true, maxLoad: 1 })
  expect(violations.reduce((sum, { fixed }) => sum + fixed, 0)).toBe(ids.length)
  expect(await send('PTTL', `${prefix}page:2`)).toBeGreaterThan(HOUR / 2)
  const gone: number[] = []
  gone.push((await erase(schema, connection, { prefix, subject: { id: '3' }, maxLoad: 1 })).keys)
  gone.push((await erase(schema, connection, { prefix, entries: ['page'], maxLoad: 1 })).keys)
  expect(gone.reduce((sum, keys) => sum + keys, 0)).toBe(ids.length)
  expect(await counts(planMigration, { prefix })).toEqual({})
})
