import type { NetConnectOpts } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { eventually, startRedis, unique } from '../packages/keyspec/src/testing/index.ts'
import { rawConnection } from '../packages/keyspec/src/testing/resp.ts'
import { startProxy, type Proxy } from './proxy.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

describe.each(['none', 'any'] as const)('a proxy in front of a server with port: %s', (port) => {
  test('forwards both ways, bytes untouched', async () => {
    const { client, redis } = await start(port)
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
    const key = unique()
    await client().command('SET', key, bytes)
    expect(await redis.commandBuffer('GET', key)).toEqual(bytes)
    expect(await client().commandBuffer('GET', key)).toEqual(bytes)
  })

  test('cuts all connections and accepts new ones', async () => {
    const { client, proxy } = await start(port)
    const [one, two] = [client(), client()]
    await Promise.all([one.command('PING'), two.command('PING')])
    expect(proxy.connections).toBe(2)
    const waiting = [one.command('BLPOP', unique(), 0), two.command('BLPOP', unique(), 0)]
    proxy.cut()
    const results = await Promise.allSettled(waiting)
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(proxy.connections).toBe(0)
    expect(await one.command('PING')).toBe('PONG')
    expect(proxy.accepted).toBe(3)
  })

  test('refuses new connections while open ones go on, until it is restored on the same address', async () => {
    const { client, proxy } = await start(port)
    const [open, late] = [client(), client()]
    await open.command('PING')
    proxy.refuse()
    await expect(late.command('PING')).rejects.toThrow(/ECONNREFUSED|ENOENT/)
    expect(await open.command('PING')).toBe('PONG')
    await proxy.restore()
    expect(await late.command('PING')).toBe('PONG')
  })

  test('is slow in both directions until it is restored', async () => {
    const { client, proxy } = await start(port)
    const one = client()
    await one.command('PING')
    proxy.slow(50)
    const asked = performance.now()
    expect(await one.command('PING')).toBe('PONG')
    expect(performance.now() - asked).toBeGreaterThanOrEqual(98)
    await proxy.restore()
    expect(await one.command('PING')).toBe('PONG')
  })

  test('leaves a connection half open: the client hears nothing until it is cut', async () => {
    const { client, redis, proxy } = await start(port)
    const one = client()
    const id = Number(await one.command('CLIENT', 'ID'))
    proxy.halfOpen()
    await eventually(async () =>
      expect(String(await redis.command('CLIENT', 'LIST'))).not.toContain(`id=${id} `),
    )
    const waiting = one.command('PING')
    waiting.catch(() => {}) // looked at below
    expect(proxy.connections).toBe(1)
    proxy.cut()
    await expect(waiting).rejects.toThrow(/closed|ECONNRESET/)
    expect(await one.command('PING')).toBe('PONG')
  })

  test('loses the reply of a write that happened', async () => {
    const { client, redis, proxy } = await start(port)
    const key = unique()
    const writer = client()
    await writer.command('PING')
    proxy.stall('replies')
    const write = writer.command('INCR', key)
    write.catch(() => {}) // looked at below
    await eventually(async () => expect(await redis.command('GET', key)).toBe('1'))
    proxy.cut()
    await expect(write).rejects.toThrow(/closed|ECONNRESET/)
    await proxy.restore()
    expect(await writer.command('GET', key)).toBe('1')
  })

  test('holds requests back until it is restored, and then forwards them', async () => {
    const { client, redis, proxy } = await start(port)
    const key = unique()
    const writer = client()
    await writer.command('PING')
    proxy.stall('requests')
    const write = writer.command('INCR', key)
    const newcomer = client().command('INCR', key) // on a connection made while it stalls
    await eventually(() => expect(proxy.accepted).toBe(2))
    expect(await redis.command('GET', key)).toBeNull()
    await proxy.restore()
    expect(new Set([await write, await newcomer])).toEqual(new Set([1, 2]))
  })

  test('ends the connection of a client when the server ends it, and the other way round', async () => {
    const { client, redis, proxy } = await start(port)
    const one = client()
    await one.command('PING')
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await eventually(() => expect(proxy.connections).toBe(0))
    await eventually(() => one.command('PING')) // once it has noticed
    expect(proxy.connections).toBe(1)
    one.close()
    await eventually(() => expect(proxy.connections).toBe(0))
  })

  test('ends connections when the server is gone', async () => {
    const { client, redis } = await start(port)
    await redis.kill()
    await expect(client().command('PING')).rejects.toThrow(/closed|ECONNRESET/)
    await redis.restart()
    expect(await client().command('PING')).toBe('PONG')
  })
})

async function start(port: 'none' | 'any') {
  const redis = await startRedis({ port })
  cleanUps.push(() => redis.stop())
  const proxy = await startProxy(redis)
  cleanUps.push(() => proxy.stop())
  function client() {
    const raw = rawConnection(addressOf(proxy))
    cleanUps.push(() => raw.close())
    return raw
  }
  return { redis, proxy, client }
}

function addressOf({ port, socket }: Proxy): NetConnectOpts {
  return port === undefined ? { path: String(socket) } : { port, host: '127.0.0.1' }
}
