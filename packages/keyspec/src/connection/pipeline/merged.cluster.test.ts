import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  clusterConnections,
  type Opened,
  sentinelConnections,
} from '../../../../../test-support/connections.ts'
import {
  type Cluster,
  type Sentinels,
  startCluster,
  startSentinels,
} from '../../../../../test-support/index.ts'
import { text } from '../../codec/text.ts'
import { string } from '../../kind/string.ts'
import { open as openKeyspace } from '../../keyspace.ts'
import { int } from '../../script/argument.ts'
import { integerReply } from '../../connection/reply.ts'
import { script } from '../../script/script.ts'
import { eventually, type TemporaryRedis, unique } from '../../testing/index.ts'
import { type Connection, ONE_KEY } from '../connection.ts'
import { GET } from './reads.ts'
import type { ServerError } from '../server-error.ts'
import { slotOf } from '../slot.ts'
import { tick } from './tick.ts'

const COUNT = {
  keys: ['key'],
  args: { by: int },
  commands: [],
  lua: `return redis.call('INCRBY', key, by)`,
  reply: integerReply,
} as const
const count = script('test/count', COUNT)
const countMerged = script('test/count-merged', { ...COUNT, merge: true })

describe('cluster', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startCluster({ replicas: 1 })
  })
  afterAll(() => cluster.stop())

  describe.each(clusterConnections)('%s', (_name, open) => {
    let opened: Opened
    let plain: Connection
    let ticked: Connection
    beforeAll(async () => {
      await cluster.settled()
      opened = await open(cluster)
      plain = opened.connection
      ticked = tick(plain)
    })
    afterAll(() => opened.close())

    test('gets and scripts of one tick go to the slots of their keys, and come back in place', async () => {
      const names = namesAcross()
      const counts = names.map((key) => countMerged.run(ticked, { key }, { by: 1 }))
      const again = names.map((key) => countMerged.run(ticked, { key }, { by: 2 }))
      expect(await Promise.all(counts)).toEqual(names.map(() => 1))
      expect(await Promise.all(again)).toEqual(names.map(() => 3))
      const got = await Promise.all([...names, unique()].map((name) => ticked.send(['GET', name], GET)))
      expect(got).toEqual([...names.map(() => '3'), null])
    })

    test('a script’s first call on each node keeps its place before what the same tick asks of the key', async () => {
      const names = namesAcross()
      const fresh = script(`test/fresh-${unique()}`, {
        ...COUNT,
        commands: [],
        lua: `-- ${unique()}\n${COUNT.lua}`,
      })
      const answers = await Promise.all(
        names.flatMap((key) => [fresh.run(plain, { key }, { by: 1 }), plain.send(['INCR', key], ONE_KEY)]),
      )
      expect(answers).toEqual(names.flatMap(() => [1, 2]))
    })

    test('a node that lost its scripts is given them again', async () => {
      const names = namesAcross()
      await Promise.all(names.map((key) => count.run(plain, { key }, { by: 1 })))
      for (const node of await cluster.masters()) await node.command('SCRIPT', 'FLUSH')
      const answers = await Promise.all(names.map((key) => count.run(plain, { key }, { by: 1 })))
      expect(answers).toEqual(names.map(() => 2))
    })

    test('scripts and reads go on after a replica took over, which never saw the script', async () => {
      const names = namesAcross()
      await Promise.all(names.map((key) => countMerged.run(ticked, { key }, { by: 1 })))
      const owner = await cluster.failover(slotOf(names[0]!))
      await eventually(
        async () => {
          const answers = await Promise.all(names.map((name) => ticked.send(['GET', name], GET)))
          expect(answers).toEqual(names.map(() => '1'))
        },
        { within: '30s' },
      )
      const answers = await Promise.all(names.map((key) => countMerged.run(ticked, { key }, { by: 1 })))
      expect(answers).toEqual(names.map(() => 2))
      expect(await owner.command('GET', names[0]!)).toBe('2')
      await cluster.settled()
    })

    test('gets of a slot that is half moved find each key where it is', async () => {
      const tag = unique()
      const names = Array.from({ length: 6 }, (_, at) => `{${tag}}:${at}`)
      await Promise.all(names.map((name) => plain.send(['SET', name, name], ONE_KEY)))
      const owner = await cluster.ownerOf(slotOf(tag))
      const other = (await cluster.masters()).find((node) => node !== owner)!
      const move = await cluster.beginMove(slotOf(tag), other)
      try {
        await move.moveKeys(names.slice(0, 3))
        const got = names.map(async (name) => {
          try {
            return await ticked.send(['GET', name], GET)
          } catch (error) {
            // GLIDE at times gives up on an ASK when others ask at the same time, and says so; alone the call is well.
            expect([plain.client, (error as ServerError).code]).toEqual(['glide', 'E_NOT_READY'])
            return eventually(() => plain.send(['GET', name], ONE_KEY))
          }
        })
        expect(await Promise.all(got)).toEqual(names)
      } finally {
        await move.finish()
      }
      const moved = await Promise.all(names.map((name) => ticked.send(['GET', name], GET)))
      expect(moved).toEqual(names)
      expect(await other.command('EXISTS', names[5]!)).toBe(1)
    })

    test('a scan finds the keys of every master, once each', async () => {
      const prefix = `${unique()}:`
      const keys = openKeyspace({ n: string('n:<id>', text, { ttl: '1m' }) }, plain, { prefix })
      const ids = Array.from({ length: 60 }, (_, at) => String(at))
      await Promise.all(ids.map((id) => keys.n({ id }).set(id)))
      const found: string[] = []
      for await (const { params } of keys.n.scan({ count: 10 })) found.push(params.id)
      expect(found.toSorted()).toEqual(ids.toSorted())
    })

    test('a key that was renamed is read at its old name in another slot, and stays there', async () => {
      const prefix = `${unique()}:`
      const keys = openKeyspace(
        { doc: string('new:<id>', text, { ttl: '1h', renamedFrom: { pattern: 'old:<id>', phase: 2 } }) },
        plain,
        {
          prefix,
        },
      )
      const ids = Array.from({ length: 12 }, (_, at) => String(at))
      const oldName = (id: string) => `${prefix}old:${id}`
      for (const id of ids) {
        const node = await nodeOf(cluster, oldName(id))
        await node.command('SET', oldName(id), `value ${id}`, 'PX', 500_000)
      }
      expect(ids.some((id) => slotOf(oldName(id)) !== slotOf(keys.doc({ id }).name))).toBe(true)
      const read = await Promise.all([...ids, ...ids].map((id) => keys.doc({ id }).get()))
      expect(read).toEqual([...ids, ...ids].map((id) => `value ${id}`))
      for (const id of ids) {
        const ttl = (await keys.doc({ id }).ttlMs()) as number
        expect(ttl).toBeGreaterThan(400_000)
        expect(ttl).toBeLessThanOrEqual(500_000)
        const stays = slotOf(oldName(id)) !== slotOf(keys.doc({ id }).name)
        expect(await (await nodeOf(cluster, oldName(id))).command('EXISTS', oldName(id))).toBe(stays ? 1 : 0)
      }
    })
  })

  async function nodeOf(of: Cluster, key: string): Promise<TemporaryRedis> {
    return of.ownerOf(slotOf(key))
  }
})

describe('sentinel', () => {
  let sentinels: Sentinels
  beforeAll(async () => {
    sentinels = await startSentinels()
  })
  afterAll(() => sentinels.stop())

  test.each(sentinelConnections)('over %s scripts go on after a failover', async (_name, open) => {
    await sentinels.recover()
    const { connection, close } = await open(sentinels)
    const ticked = tick(connection)
    const key = unique()
    await countMerged.run(ticked, { key }, { by: 1 })
    // Else the count could be lost with its master, which is how Redis replicates and no fault of ours.
    const master = await sentinels.master()
    const replica = sentinels.servers.find((server) => server !== master)!
    await eventually(async () => expect(await replica.command('GET', key)).toBe('1'), { within: '30s' })
    const next = await sentinels.failover()
    const counted = await eventually(() => countMerged.run(ticked, { key }, { by: 1 }), { within: '30s' })
    expect(counted).toBeGreaterThanOrEqual(2)
    const more = await Promise.all([1, 1, 1].map((by) => countMerged.run(ticked, { key }, { by })))
    expect(await next.command('GET', key)).toBe(String(more[2]))
    await close()
  })
})

/** Names in slots of every master. */
function namesAcross(): string[] {
  const prefix = unique()
  return Array.from({ length: 24 }, (_, at) => `${prefix}:${at}`)
}
