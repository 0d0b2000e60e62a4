import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { eventually } from './eventually.ts'
import { startRedis, type RedisOptions, type TemporaryRedis } from './redis.ts'
import { rawConnection } from './resp.ts'

const started: TemporaryRedis[] = []
async function start(options?: RedisOptions): Promise<TemporaryRedis> {
  const redis = await startRedis(options)
  started.push(redis)
  return redis
}
afterEach(async () => {
  vi.unstubAllEnvs()
  await Promise.all(started.splice(0).map((redis) => redis.stop()))
})

test('is ready to answer on its unix socket, and on no port', async () => {
  const redis = await start()
  expect(await redis.command('SET', 'a', 'b')).toBe('OK')
  expect(await redis.command('GET', 'a')).toBe('b')
  expect(await redis.command('CONFIG', 'GET', 'port')).toEqual(['port', '0'])
  expect(redis.port).toBeUndefined()
  expect(redis.url).toBe(`unix://${redis.socket}`)
  expect(await redis.command('INFO', 'server')).toContain(`process_id:${redis.pid}\r\n`)
})

test('keeps its path short enough for a socket on every system', async () => {
  const redis = await start()
  expect(Buffer.byteLength(redis.socket)).toBeLessThan(104)
})

test('persists nothing', async () => {
  const redis = await start()
  expect(await redis.command('CONFIG', 'GET', 'save')).toEqual(['save', ''])
  expect(await redis.command('CONFIG', 'GET', 'appendonly')).toEqual(['appendonly', 'no'])
})

test('listens on a free loopback port when asked, and two servers do not meet', async () => {
  const [one, two] = await Promise.all([start({ port: 'any' }), start({ port: 'any' })])
  expect(one.url).toBe(`redis://127.0.0.1:${one.port}`)
  expect(one.port).not.toBe(two.port)
  const overTcp = rawConnection({ port: Number(new URL(one.url).port), host: '127.0.0.1' })
  await overTcp.command('SET', 'mine', '1')
  overTcp.close()
  expect(await one.command('GET', 'mine')).toBe('1')
  expect(await two.command('GET', 'mine')).toBeNull()
})

test('takes lines of configuration and words for the command line', async () => {
  const redis = await start({
    config: { maxmemory: '4mb', 'maxmemory-policy': 'noeviction' },
    arguments: ['--hz', '50'],
  })
  expect(await redis.command('CONFIG', 'GET', 'maxmemory')).toEqual(['maxmemory', `${4 * 1024 * 1024}`])
  expect(await redis.command('CONFIG', 'GET', 'hz')).toEqual(['hz', '50'])
})

test('stop ends the process and removes the directory, and may be called twice', async () => {
  const redis = await start()
  const { pid, directory } = redis
  await Promise.all([redis.stop(), redis.stop()])
  expect(alive(pid)).toBe(false)
  expect(existsSync(directory)).toBe(false)
  expect(redis.pid).toBeUndefined()
  expect(redis.log()).toMatch(/ready to accept connections/i)
  await expect(redis.restart()).rejects.toThrow('start another')
})

test('ends with its scope', async () => {
  let seen: { pid: number | undefined; directory: string }
  {
    await using redis = await startRedis()
    seen = { pid: redis.pid, directory: redis.directory }
    expect(alive(seen.pid)).toBe(true)
  }
  expect(alive(seen.pid)).toBe(false)
  expect(existsSync(seen.directory)).toBe(false)
})

test('stops a server that is paused', async () => {
  const redis = await start()
  const { pid } = redis
  redis.pause()
  await redis.stop()
  expect(alive(pid)).toBe(false)
})

test('ends a child that is saving together with the server', async () => {
  const redis = await start({ config: { 'rdb-key-save-delay': '10000000' } })
  await redis.command('SET', 'a', '1')
  await redis.command('BGSAVE')
  const child = await eventually(async () => {
    const match = /Background saving started by pid (\d+)/.exec(redis.log())
    expect(match).not.toBeNull()
    return Number(match?.[1])
  })
  expect(alive(child)).toBe(true)
  await redis.stop()
  await eventually(() => expect(alive(child)).toBe(false))
  expect(existsSync(redis.directory)).toBe(false)
})

describe('faults', () => {
  test('a paused server answers nothing, and everything once it is resumed', async () => {
    const redis = await start()
    redis.pause()
    const answered: string[] = []
    const newcomer = rawConnection({ path: redis.socket }) // the kernel accepts the connection for the server
    const pings = [
      redis.command('PING').then(() => answered.push('old connection')),
      newcomer.command('PING').then(() => answered.push('new connection')),
    ]
    await eventually(() => expect(state(redis.pid)).toBe('T'))
    expect(answered).toEqual([])
    redis.resume()
    await Promise.all(pings)
    expect(answered.toSorted()).toEqual(['new connection', 'old connection'])
    newcomer.close()
  })

  test('a killed server loses what it held, and comes back on the same socket and port', async () => {
    const redis = await start({ port: 'any' })
    const { pid, url, socket } = redis
    await redis.command('SET', 'a', '1')
    await redis.kill()
    expect(alive(pid)).toBe(false)
    expect(redis.pid).toBeUndefined()
    await expect(redis.command('PING')).rejects.toThrow('ECONNREFUSED')
    expect(() => redis.pause()).toThrow('restart() it first')
    await redis.restart()
    expect(redis.pid).not.toBe(pid)
    expect([redis.url, redis.socket]).toEqual([url, socket])
    expect(await redis.command('GET', 'a')).toBeNull()
  })

  test('a restarted server finds what it was told to persist', async () => {
    const redis = await start({ config: { appendonly: 'yes', appendfsync: 'always' } })
    await redis.command('SET', 'a', '1')
    await redis.restart()
    expect(await redis.command('GET', 'a')).toBe('1')
  })

  test('a server that ends by itself can be restarted', async () => {
    const redis = await start()
    await redis.command('SHUTDOWN', 'NOSAVE').catch(() => {})
    await eventually(() => expect(redis.pid).toBeUndefined())
    await redis.restart()
    expect(await redis.command('PING')).toBe('PONG')
  })
})

describe('a server that does not start', () => {
  test('is an error with the end of its log, and leaves no directory', async () => {
    const root = mkdtempSync(join(tmpdir(), 'root-'))
    vi.stubEnv('TMPDIR', root)
    try {
      await expect(startRedis({ config: { maxmemory: 'plenty' } })).rejects.toThrow(
        /redis-server ended with exit code 1 when it was started\..*maxmemory plenty/s,
      )
      expect(readdirSync(root)).toEqual([])
    } finally {
      rmSync(root, { recursive: true })
    }
  })

  test('is an error that names the program when there is no such program', async () => {
    await expect(startRedis({ binary: '/no/such/redis' })).rejects.toThrow(
      /\/no\/such\/redis ended with exit code 127/,
    )
  })

  test('says in one line what to install when there is neither redis-server nor valkey-server', async () => {
    vi.stubEnv('PATH', '/nonexistent')
    await expect(startRedis()).rejects.toThrow(/^[^\n]*apt install redis-server, brew install redis[^\n]*$/)
  })

  test('falls back to valkey-server', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'path-'))
    writeFileSync(join(directory, 'valkey-server'), '#!/bin/sh\necho I am valkey >&2\nexit 3\n', {
      mode: 0o755,
    })
    mkdirSync(join(directory, 'empty'))
    vi.stubEnv('PATH', `${join(directory, 'empty')}:${directory}`)
    try {
      await expect(startRedis()).rejects.toThrow(/valkey-server ended with exit code 3.*I am valkey/s)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})

/** The letter that ps gives a process: T is stopped, Z ended; nothing when there is none. */
function state(pid: number | undefined): string | undefined {
  return spawnSync('ps', ['-o', 'stat=', '-p', `${pid}`], { encoding: 'utf8' }).stdout[0]
}

function alive(pid: number | undefined): boolean {
  return ![undefined, 'Z'].includes(state(pid))
}
