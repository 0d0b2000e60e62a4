import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { GlideClusterClient, Logger } from '@valkey/valkey-glide'
import * as ioredis6 from 'ioredis'
import * as ioredis5 from 'ioredis-5'
import * as redis6 from 'redis'
import * as redis5 from 'redis-5'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  type Cluster,
  type Proxy,
  type Sentinels,
  startCluster,
  startProxy,
  startSentinels,
} from '../../../../../test-support/index.ts'
import { eventually, type TemporaryRedis, unique } from '../../testing/index.ts'
import { type Connection, NO_KEY, ONE_KEY } from '../connection.ts'
import type { TimeoutOptions } from './deadline.ts'
import { fromGlideCluster } from './glide.ts'
import { fromIoredis, fromIoredisCluster } from './ioredis.ts'
import { fromNodeRedisCluster, fromNodeRedisSentinel } from './node-redis.ts'
import { isUnavailable } from '../server-error.ts'

Logger.setLoggerConfig('off')

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('cluster', () => {
  let cluster: Cluster
  // In the order of the nodes: each server tells its clients the port of its proxy.
  let proxies: Proxy[]
  beforeAll(async () => {
    cluster = await startCluster()
    proxies = await Promise.all(cluster.nodes.map((node) => startProxy(node)))
  })
  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop()))
    await cluster.stop()
  })

  const address = (at: number) => ({ host: '127.0.0.1', port: proxies[at]!.port! })
  const mapped = () =>
    Object.fromEntries(cluster.nodes.map(({ port }, at) => [`127.0.0.1:${port}`, address(at)]))

  type Open = (options?: TimeoutOptions) => Promise<Connection>
  const overIoredis =
    (module: object, settings: object = {}): Open =>
    async (options) => {
      const { Cluster } = module as typeof ioredis6
      const client = new Cluster([address(0)], { natMap: mapped(), ...settings })
      client.on('error', () => {})
      onTestFinished(() => client.disconnect())
      return fromIoredisCluster(client, options)
    }
  const overNodeRedis =
    (module: object): Open =>
    async (options) => {
      const { createCluster } = module as typeof redis6
      const rootNodes = [{ url: `redis://127.0.0.1:${proxies[0]!.port}` }]
      const client = createCluster({ rootNodes, nodeAddressMap: mapped() })
      client.on('error', () => {})
      await client.connect()
      onTestFinished(() => client.destroy())
      return fromNodeRedisCluster(client, options)
    }

  describe.each<[string, Open]>([
    ['ioredis 6', overIoredis(ioredis6)],
    ['ioredis 5', overIoredis(ioredis5)],
    ['ioredis 6, pipelining by itself', overIoredis(ioredis6, { enableAutoPipelining: true })],
    ['node-redis 6', overNodeRedis(redis6)],
    ['node-redis 5', overNodeRedis(redis5)],
  ])('%s', (_name, open) => {
    test('a command whose reply was lost is applied once, and its error says that nobody knows', async () => {
      const connection = await open()
      const key = unique()
      await eventually(() => connection.send(['SET', key, '0'], ONE_KEY), { within: '20s' })
      const owner = await cluster.ownerOf(await cluster.slotOf(key))
      const proxy = proxies[cluster.nodes.indexOf(owner)]!
      proxy.stall('replies')
      const lost = Array.from({ length: 20 }, () => failure(connection.send(['INCR', key], ONE_KEY)))
      await eventually(async () => expect(await owner.command('GET', key)).toBe('20'))
      proxy.cut()
      await proxy.restore()
      for (const error of await Promise.all(lost))
        expect(error).toMatchObject({ code: 'E_UNKNOWN_OUTCOME', key })
      const back = await eventually(() => connection.send(['INCR', key], ONE_KEY), { within: '20s' })
      expect(back).toBe(21)
      expect(await owner.command('GET', key)).toBe('21')
    })

    test('each reply stays with its command if the connection breaks in the tick in which a command was asked for', async () => {
      const sockets: Socket[] = []
      const note = (message: unknown) => void sockets.push((message as { socket: Socket }).socket)
      subscribe('net.client.socket', note)
      onTestFinished(() => void unsubscribe('net.client.socket', note))
      const connection = await open()
      const key = unique()
      await eventually(() => connection.send(['SET', key, '0'], ONE_KEY), { within: '20s' })
      const owner = await cluster.ownerOf(await cluster.slotOf(key))
      const { port } = proxies[cluster.nodes.indexOf(owner)]!
      const early = [1, 2, 3].map(() => failure(connection.send(['INCR', key], ONE_KEY)))
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve() // a cluster client looks for the server first
      for (const socket of sockets) if (socket.remotePort === port) socket.destroy(new Error('reset'))
      for (const error of await Promise.all(early))
        expect(error === undefined || isUnavailable(error)).toBe(true)
      for (let at = 0; at < 5; at += 1) {
        const script = ['EVAL', 'return ARGV[1]', '1', key, `${at}`]
        const shape = { firstKey: 3, keyCount: 1 }
        const reply = await eventually(() => connection.send(script, shape), { within: '20s' })
        expect(reply).toBe(`${at}`)
      }
    })

    test('a command follows a slot that moves, and a redirection that meets the bound is not sent again', async () => {
      const connection = await open()
      const key = unique()
      await eventually(() => connection.send(['SET', key, '0'], ONE_KEY), { within: '20s' })
      const slot = await cluster.slotOf(key)
      const from = await cluster.ownerOf(slot)
      const to = cluster.nodes.find((node) => node !== from)!
      const move = await cluster.beginMove(slot, to)
      await move.moveKeys()
      expect(await connection.send(['INCR', key], ONE_KEY)).toBe(1) // ASK
      await move.finish()
      expect(await connection.send(['INCR', key], ONE_KEY)).toBe(2) // MOVED
      expect(await to.command('GET', key)).toBe('2')
    })

    test('a server that is stopped meets the bound, and the others go on', async () => {
      const connection = await open({ timeout: '400ms' })
      const key = unique()
      await eventually(() => connection.send(['SET', key, '0'], ONE_KEY), { within: '20s' })
      const owner = await cluster.ownerOf(await cluster.slotOf(key))
      owner.pause()
      const start = performance.now()
      const error = await failure(connection.send(['INCR', key], ONE_KEY)).finally(() => owner.resume())
      expect(performance.now() - start).toBeLessThan(3_000)
      expect(error).toMatchObject({ code: 'E_UNKNOWN_OUTCOME', key })
      await eventually(() => connection.send(['PING'], NO_KEY), { within: '20s' })
      for (const master of await connection.masters())
        expect(await eventually(() => master.send(['PING'], NO_KEY), { within: '20s' })).toBe('PONG')
    })
  })

  test('glide: a command whose reply was lost is applied once, and its error says that nobody knows', async () => {
    const key = unique()
    const owner = await cluster.ownerOf(await cluster.slotOf(key))
    const proxy = proxies[cluster.nodes.indexOf(owner)]!
    // GLIDE maps no addresses: the servers themselves name the ports of their proxies.
    const announce = (portOf: (at: number) => [port: number, bus: number]) =>
      Promise.all(
        cluster.nodes.map(async (node, at) => {
          const [port, bus] = portOf(at)
          await node.command('CONFIG', 'SET', 'cluster-announce-bus-port', `${bus}`)
          await node.command('CONFIG', 'SET', 'cluster-announce-port', `${port}`)
        }),
      )
    const named = async (ports: readonly (number | undefined)[]) => {
      for (const node of cluster.nodes) {
        const ranges = (await node.command('CLUSTER', 'SLOTS')) as [number, number, [string, number]][]
        expect(ranges.every(([, , [, port]]) => ports.includes(port))).toBe(true)
      }
    }
    await announce((at) => [proxies[at]!.port!, cluster.nodes[at]!.port! + 10_000])
    onTestFinished(async () => {
      await announce(() => [0, 0])
      await eventually(() => named(cluster.nodes.map((node) => node.port)), { within: '20s' })
    })
    await eventually(() => named(proxies.map(({ port }) => port)), { within: '20s' })
    const addresses = [address(0)]
    const client = await GlideClusterClient.createClient({ addresses, requestTimeout: 5_000 })
    onTestFinished(() => client.close())
    const connection = fromGlideCluster(client)
    await connection.send(['SET', key, '0'], ONE_KEY)
    proxy.stall('replies')
    const lost = Array.from({ length: 20 }, () => failure(connection.send(['INCR', key], ONE_KEY)))
    await eventually(async () => expect(await owner.command('GET', key)).toBe('20'))
    proxy.cut()
    await proxy.restore()
    for (const error of await Promise.all(lost))
      expect(error).toMatchObject({ code: 'E_UNKNOWN_OUTCOME', key })
    const back = await eventually(() => connection.send(['INCR', key], ONE_KEY), { within: '20s' })
    expect(back).toBe(21)
  })
})

describe('sentinel', () => {
  let sentinels: Sentinels
  let proxy: Proxy
  let master: TemporaryRedis
  beforeAll(async () => {
    sentinels = await startSentinels()
    master = await sentinels.master()
    // A Sentinel that was paused would hold the master to be down, and the next one is not behind the proxy.
    for (const sentinel of sentinels.sentinels)
      await sentinel.command('SENTINEL', 'SET', sentinels.name, 'down-after-milliseconds', 600_000)
    proxy = await startProxy(master)
  })
  afterAll(async () => {
    await proxy.stop()
    await sentinels.stop()
  })

  const roots = () => sentinels.sentinels.map(({ port }) => ({ host: '127.0.0.1', port: port! }))
  const mapped = () => ({ [`127.0.0.1:${master.port}`]: { host: '127.0.0.1', port: proxy.port! } })

  const overIoredis = (module: object) => async () => {
    const { Redis } = module as typeof ioredis6
    const client = new Redis({ name: sentinels.name, sentinels: roots(), natMap: mapped() })
    client.on('error', () => {})
    onTestFinished(() => client.disconnect())
    return fromIoredis(client)
  }
  const overNodeRedis = (module: object) => async (options?: TimeoutOptions) => {
    const { createSentinel } = module as typeof redis6
    const client = createSentinel({
      name: sentinels.name,
      sentinelRootNodes: roots(),
      reserveClient: true,
      nodeAddressMap: mapped(),
    })
    client.on('error', () => {})
    await client.connect()
    onTestFinished(() => client.destroy())
    return fromNodeRedisSentinel(client, options)
  }

  test.each<[string, () => Promise<Connection>]>([
    ['ioredis 6', overIoredis(ioredis6)],
    ['ioredis 5', overIoredis(ioredis5)],
    ['node-redis 6', overNodeRedis(redis6)],
    ['node-redis 5', overNodeRedis(redis5)],
  ])(
    '%s: a command whose reply was lost is applied once, and its error says that nobody knows',
    async (_name, open) => {
      const connection = await open()
      const key = unique()
      await eventually(() => connection.send(['SET', key, '0'], ONE_KEY), { within: '20s' })
      expect(proxy.connections).toBeGreaterThan(0)
      proxy.stall('replies')
      const lost = Array.from({ length: 20 }, () => failure(connection.send(['INCR', key], ONE_KEY)))
      await eventually(async () => expect(await master.command('GET', key)).toBe('20'))
      proxy.cut()
      await proxy.restore()
      for (const error of await Promise.all(lost))
        expect(error).toMatchObject({ code: 'E_UNKNOWN_OUTCOME', key })
      const back = await eventually(() => connection.send(['INCR', key], ONE_KEY), { within: '20s' })
      expect(back).toBe(21)
    },
  )

  test.each([
    ['node-redis 6', redis6],
    ['node-redis 5', redis5],
  ])(
    '%s: a command that waits while the client looks for the master is not sent, and settles at the bound',
    async (_name, module) => {
      const connection = await overNodeRedis(module)({ timeout: '500ms' })
      const key = unique()
      await eventually(() => connection.send(['SET', key, '0'], ONE_KEY), { within: '20s' })
      for (const sentinel of sentinels.sentinels) sentinel.pause()
      try {
        // Else a client that connects again at once need not look.
        proxy.refuse()
        proxy.cut()
        await eventually(async () => {
          const error = await failure(connection.send(['INCR', key], ONE_KEY))
          expect(error).toMatchObject({ code: 'E_NOT_SENT', key, cause: { name: 'TimeoutError' } })
        })
      } finally {
        for (const sentinel of sentinels.sentinels) sentinel.resume()
        await proxy.restore()
      }
      expect(await eventually(() => connection.send(['GET', key], ONE_KEY), { within: '20s' })).toBe('0')
    },
  )
})
