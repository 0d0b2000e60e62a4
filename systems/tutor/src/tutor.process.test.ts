import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { eventually, startRedis } from 'keyspec/testing'
import { expect, onTestFinished, test } from 'vitest'

// The built programs, each a process.
const built = (file: string) => fileURLToPath(new URL(`../program/${file}`, import.meta.url))

test('the job runs to its end, limits its students and prints the keyspace', async () => {
  const words = [built('main.js'), '--once', '--seconds', '1', '--students', '3']
  const { stdout } = await promisify(execFile)(process.execPath, words)
  // How often they ask beyond their limit is for the machine to say; no student asks less than eight times.
  const [, rejected] = /^file_upload +15 +(\d+) +0 /m.exec(stdout) ?? []
  expect(Number(rejected), stdout).toBeGreaterThanOrEqual(9)
  expect(stdout).toMatch(/^tutor_query +\d+ +\d+ +0 /m)
  expect(stdout).toMatch(/^session +session:<userId> +string .* 3 /m)
  expect(stdout).toContain(', 0 failed.')
})

test('services in processes of their own hold one limit and count every turn together', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const urls = await Promise.all([1, 2, 3].map(() => startService(redis.url)))
  const post = async (at: number, path: string, body: string) =>
    (
      await fetch(urls[at % 3]! + path, {
        method: 'POST',
        body,
        headers: { 'Content-Type': body.startsWith('{') ? 'application/json' : 'text/plain' },
      })
    ).status
  expect(await post(0, '/sessions', '{"user_id":"u"}')).toBe(201)
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      post(at, '/sessions/u/questions', `{"question":"Why number ${at}?"}`),
    ),
  )
  expect(answers.filter((status) => status === 200)).toHaveLength(20)
  expect(answers.filter((status) => status === 429)).toHaveLength(10)
  expect(await redis.command('ZCARD', 'rate:u:tutor_query')).toBe(20)
  expect(JSON.parse((await redis.command('GET', 'session:u')) as string)).toMatchObject({ turn_count: 20 })
})

async function startService(redisUrl: string): Promise<string> {
  const child = spawn(process.execPath, [built('server/server-main.js')], {
    env: { ...process.env, REDIS_URL: redisUrl, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  })
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)![0]
  await eventually(async () => expect(await healthy(url)).toBe(true), { within: '15s' })
  return url
}

/** Its Redis connection is made while it starts. */
async function healthy(url: string): Promise<boolean> {
  const { rate_limit: limit } = (await (await fetch(`${url}/health`)).json()) as { rate_limit: string }
  return limit === 'enabled'
}
