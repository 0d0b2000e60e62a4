import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startRedis } from 'keyspec/testing'
import { expect, onTestFinished, test } from 'vitest'
import { keyspec } from '../../../test-support/command-line.ts'

test('the five systems run at once on one Redis, and every key they leave is as it is declared', async () => {
  const redis = await startRedis({
    port: 'any',
    config: { maxmemory: '450mb', 'maxmemory-policy': 'volatile-lru' },
  })
  onTestFinished(() => redis.stop())
  const main = fileURLToPath(new URL('../program/main.js', import.meta.url))
  const env = { ...process.env, REDIS_URL: redis.url }
  const { stdout } = await promisify(execFile)(process.execPath, [main, '--once'], {
    maxBuffer: 64 << 20,
    env,
  })
  const [, table = ''] = stdout.split('The whole keyspace')
  const entries = table.split('\n').map((line) => line.split(' ')[0])
  for (const system of ['courtlistener', 'documents', 'tutor', 'mirrulations', 'movies']) {
    expect(
      entries.some((entry) => entry?.startsWith(`${system}.`)),
      system,
    ).toBe(true)
  }
  expect(entries).not.toContain('(unknown)')

  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const audit = await keyspec(['audit', '--max-load', '1'], { cwd, env: { REDIS_URL: redis.url } })
  expect(audit.out).not.toMatch(/error|warning/)
  expect(audit.code).toBe(0)
}, 300_000)
