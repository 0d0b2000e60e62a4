import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startRedis } from '../packages/keyspec/src/testing/index.ts'
import { compileClock } from './server-clock.ts'

test('the time of day of a running server steps either way, and its monotonic clock goes on (needs Linux and cc)', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'keyspec-clock-'))
  context.onTestFinished(() => rmSync(folder, { recursive: true }))
  const clock = compileClock(folder)
  if ('skipped' in clock) return context.skip(clock.skipped)
  const redis = await startRedis({ binary: clock.server })
  context.onTestFinished(() => redis.stop())
  const besideMs = async () => {
    const [seconds, microseconds] = (await redis.command('TIME')) as string[]
    return Number(seconds) * 1000 + Number(microseconds) / 1000 - Date.now()
  }

  expect(Math.abs(await besideMs())).toBeLessThan(1000)
  await redis.command('SET', 'a', '1', 'PX', 5000)
  clock.step(-60_000)
  expect(Math.abs((await besideMs()) + 60_000)).toBeLessThan(1000)
  expect(await redis.command('PTTL', 'a')).toBeGreaterThan(60_000)
  clock.step(60_000)
  expect(Math.abs((await besideMs()) - 60_000)).toBeLessThan(1000)
  expect(await redis.command('GET', 'a')).toBe(null)
})
