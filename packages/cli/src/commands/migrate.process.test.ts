import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fixture } from '../../../../test-support/command-line.ts'
import { eventually, startRedis, type TemporaryRedis } from 'keyspec/testing'

let redis: TemporaryRedis
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

const KEYS = 5_000
const bin = join(import.meta.dirname, '../../bin/keyspec.js')

function migrate(...words: string[]) {
  return spawn(process.execPath, [bin, 'migrate', ...words, '--json'], {
    cwd: fixture,
    env: { PATH: process.env['PATH'], REDIS_URL: redis.url },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

async function ended(child: ReturnType<typeof migrate>) {
  const [out, [code]] = await Promise.all([
    text(child.stdout),
    once(child, 'close') as Promise<[number | null]>,
  ])
  const lines = out.split('\n').filter((line) => line !== '')
  return { code, total: JSON.parse(lines.at(-1)!).counts }
}

/** How many of all keys stand under a name. */
async function standing(name: string): Promise<number> {
  let count = 0
  for (let from = 0; from < KEYS; from += 1000) {
    const names = Array.from({ length: 1000 }, (_, i) => `shop:${name}:${from + i}`)
    count += Number(await redis.command('EXISTS', ...names))
  }
  return count
}

test('killed in the middle and run again, every key is there once, with its value and the instant it ends', async () => {
  const fill =
    "for i = tonumber(ARGV[1]), tonumber(ARGV[1]) + 999 do redis.call('SET', 'shop:sess:' .. i, " +
    `'{"user":"' .. i .. '","cart":[]}', 'PXAT', tonumber(ARGV[2]) + i) end`
  const ends = Date.now() + 3_600_000
  for (let from = 0; from < KEYS; from += 1000) await redis.command('EVAL', fill, 0, from, ends)

  const first = migrate('run', '--yes', '--max-load', '0.3')
  const probes = Array.from({ length: KEYS / 100 }, (_, i) => `shop:session:${i * 100}`)
  await eventually(async () => expect(Number(await redis.command('EXISTS', ...probes))).toBeGreaterThan(20), {
    within: '60s',
  })
  first.kill('SIGKILL')
  await once(first, 'close')
  const moved = await standing('session')
  expect(moved).toBeGreaterThan(0)
  expect(moved).toBeLessThan(KEYS)
  expect(moved + (await standing('sess'))).toBe(KEYS)

  expect(await ended(migrate('run', '--yes', '--max-load', '1'))).toEqual({
    code: 0,
    total: { moved: KEYS - moved },
  })
  expect(await redis.command('DBSIZE')).toBe(KEYS)
  const check =
    "local wrong = 0 for i = tonumber(ARGV[1]), tonumber(ARGV[1]) + 999 do local key = 'shop:session:' .. i " +
    `if redis.call('GET', key) ~= '{"user":"' .. i .. '","cart":[]}' ` +
    "or math.abs(redis.call('PTTL', key) + redis.call('TIME')[1] * 1000 - tonumber(ARGV[2]) - i) > 2000 " +
    'then wrong = wrong + 1 end end return wrong'
  for (let from = 0; from < KEYS; from += 1000)
    expect(await redis.command('EVAL', check, 0, from, ends)).toBe(0)
  expect(await ended(migrate('verify', '--expect', String(KEYS), '--max-load', '1'))).toEqual({
    code: 0,
    total: { migrated: KEYS, decoded: 100 },
  })
})
