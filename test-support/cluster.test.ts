import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCluster, type Cluster } from './cluster.ts'
import { isRedis6 } from './server-version.ts'

describe('three masters', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startCluster()
  })
  afterAll(() => cluster.stop())

  test('own all slots between them, and are well', async () => {
    expect(await cluster.masters()).toEqual(cluster.nodes)
    expect(new Set(cluster.urls).size).toBe(3)
    for (const node of cluster.nodes) {
      const info = await node.command('CLUSTER', 'INFO')
      expect(info).toContain('cluster_state:ok')
      expect(info).toContain('cluster_slots_assigned:16384')
      expect(info).toContain('cluster_known_nodes:3')
    }
    const owners = await Promise.all(
      [0, 5460, 5461, 10_922, 10_923, 16_383].map((slot) => cluster.ownerOf(slot)),
    )
    const [a, b, c] = cluster.nodes
    expect(owners.map(({ port }) => port)).toEqual([a, a, b, b, c, c].map((node) => node?.port))
  })

  test('redirect to the owner of a key', async () => {
    const slot = await cluster.slotOf('user:{7}')
    expect(slot).toBe(await cluster.slotOf('7'))
    const owner = await cluster.ownerOf(slot)
    expect(await owner.command('SET', 'user:{7}', 'a')).toBe('OK')
    const stranger = cluster.nodes.find((node) => node !== owner)
    await expect(stranger?.command('GET', 'user:{7}')).rejects.toThrow(
      `MOVED ${slot} 127.0.0.1:${owner.port}`,
    )
  })

  test('answer ASK for a key that has moved ahead of its slot, and TRYAGAIN for keys on both sides', async () => {
    const slot = await cluster.slotOf('{move}')
    const from = await cluster.ownerOf(slot)
    const to = cluster.nodes.find((node) => node !== from)!
    await from.command('MSET', '{move}:1', 'one', '{move}:2', 'two')

    const move = await cluster.beginMove(slot, to)
    expect([move.from, move.to]).toEqual([from, to])
    await move.moveKeys(['{move}:1'])
    expect(await from.command('GET', '{move}:2')).toBe('two')
    await expect(from.command('GET', '{move}:1')).rejects.toThrow(`ASK ${slot} 127.0.0.1:${to.port}`)
    // Redis 6.2 sends such a command on, and the other node answers so.
    await expect(from.command('MGET', '{move}:1', '{move}:2')).rejects.toThrow(isRedis6 ? 'ASK' : 'TRYAGAIN')
    await expect(to.command('GET', '{move}:1')).rejects.toThrow(`MOVED ${slot}`)
    expect(await Promise.all([to.command('ASKING'), to.command('GET', '{move}:1')])).toEqual(['OK', 'one'])

    await move.finish()
    expect(await to.command('MGET', '{move}:1', '{move}:2')).toEqual(['one', 'two'])
    await expect(from.command('GET', '{move}:1')).rejects.toThrow(`MOVED ${slot} 127.0.0.1:${to.port}`)
    expect(await cluster.ownerOf(slot)).toBe(to)
  })

  test('move a slot whole, there and back', async () => {
    const slot = await cluster.slotOf('{whole}')
    const from = await cluster.ownerOf(slot)
    const to = cluster.nodes.find((node) => node !== from)!
    const keys = Array.from({ length: 2500 }, (_, i) => `{whole}:${i}`)
    await from.command('MSET', ...keys.flatMap((key) => [key, 'x']))
    await cluster.moveSlot(slot, to)
    expect(await to.command('EXISTS', ...keys)).toBe(2500)
    await cluster.moveSlot(slot, from)
    expect(await from.command('EXISTS', ...keys)).toBe(2500)
    expect(await from.command('CLUSTER', 'COUNTKEYSINSLOT', slot)).toBe(2500)
  })

  test('have no replica to fail over to, and say so', async () => {
    await expect(cluster.failover(0)).rejects.toThrow('startCluster({ replicas: 1 })')
    await expect(cluster.crash(0)).rejects.toThrow('startCluster({ replicas: 1 })')
  })
})

describe('three masters with a replica each', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startCluster({ replicas: 1 })
  })
  afterAll(() => cluster.stop())

  test('are six servers, of which three own the slots', async () => {
    expect(cluster.nodes).toHaveLength(6)
    expect(await cluster.masters()).toEqual(cluster.nodes.slice(0, 3))
    const roles = await Promise.all(cluster.nodes.map((node) => node.command('ROLE')))
    expect(roles.map((role) => Array.isArray(role) && role[0])).toEqual(
      Array.from({ length: 6 }, (_, index) => (index < 3 ? 'master' : 'slave')),
    )
  })

  test('hand over to a replica without loss, and back', async () => {
    const slot = await cluster.slotOf('kept')
    const old = await cluster.ownerOf(slot)
    await old.command('SET', 'kept', 'yes')
    const heir = await cluster.failover(slot)
    expect(heir).not.toBe(old)
    expect(await heir.command('GET', 'kept')).toBe('yes')
    await expect(old.command('SET', 'kept', 'no')).rejects.toThrow(`MOVED ${slot} 127.0.0.1:${heir.port}`)
    expect(await cluster.failover(slot)).toBe(old)
  })

  test('survive the crash of a master, which comes back as a replica', async () => {
    const slot = await cluster.slotOf('survivor')
    const old = await cluster.ownerOf(slot)
    await old.command('SET', 'survivor', 'yes')
    await old.command('WAIT', 1, 5000)
    const heir = await cluster.crash(slot)
    expect(heir).not.toBe(old)
    expect(old.pid).toBeUndefined()
    expect(await heir.command('GET', 'survivor')).toBe('yes')
    expect(await heir.command('SET', 'survivor', 'still')).toBe('OK')

    await old.restart()
    await cluster.settled()
    expect(await cluster.failover(slot)).toBe(old)
    expect(await old.command('GET', 'survivor')).toBe('still')
  })
})
