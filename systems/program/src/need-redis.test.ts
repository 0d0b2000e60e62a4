import { createServer } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { startRedis } from 'keyspec/testing'
import { expect, onTestFinished, test } from 'vitest'
import { needRedis, redisName } from './need-redis.ts'

test('a Redis is named without its password', () => {
  expect(redisName('redis://me:secret@example.org:6380/2')).toBe('example.org:6380')
  expect(redisName('unix:///run/redis.sock')).toBe('/run/redis.sock')
})

test.each(['', 'localhost:6379', 'https://:secret@example.org'])(
  '"%s" is no address of a Redis',
  async (url) => {
    const wrong = await needRedis(url).catch((error: Error) => error.message)
    expect(wrong).toMatch(/^REDIS_URL is no address of a Redis/)
    expect(wrong).not.toContain('secret')
  },
)

test('one that answers is enough, and one that wants another password refuses', async () => {
  const redis = await startRedis({ port: 'any' })
  onTestFinished(() => redis.stop())
  await expect(needRedis(redis.url)).resolves.toBeUndefined()
  await redis.command('CONFIG', 'SET', 'requirepass', 'right')
  await expect(needRedis(redis.url, { password: 'right' })).resolves.toBeUndefined()
  await expect(needRedis(redis.url, { password: 'secret-but-wrong' })).rejects.toThrow(
    /^The Redis at 127\.0\.0\.1:\d+ refuses: WRONGPASS(?!.*secret-but-wrong)/,
  )
})

test('one that accepts a connection and says nothing is waited for no longer than told', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  await expect(needRedis(`redis://127.0.0.1:${port}`, { patienceMs: 50 })).rejects.toThrow(
    `The Redis at 127.0.0.1:${port} cannot be reached: no answer within 50 ms`,
  )
})

test('a process that was busy while it waited still says what is wrong with Redis', async () => {
  const refused = needRedis('redis://127.0.0.1:1', { patienceMs: 300 }).catch((error: Error) => error.message)
  setTimeout(() => {
    const until = performance.now() + 500
    while (performance.now() < until);
  }, 50)
  expect(await refused).toMatch(/^The Redis at 127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/)
})

test('waiting ends when told', async () => {
  const stop = AbortSignal.abort()
  await expect(needRedis('redis://127.0.0.1:1', { signal: stop })).rejects.toThrow('aborted')
})
