import { expect, test } from 'vitest'
import { reasonOf, retried, retryAfterIn } from './retry.ts'

/** Calls that fail until the last of these, and how long was waited between them. */
async function tried(failures: readonly (number | undefined)[], options = {}) {
  const slept: number[] = []
  let calls = 0
  const attempt = async () => {
    calls += 1
    if (calls > failures.length) return 'done'
    throw new Error('failed', { cause: failures[calls - 1] })
  }
  const given = { random: () => 1, sleep: async (ms: number) => void slept.push(ms), ...options }
  const askedMs = (error: unknown) => (error as Error).cause as number | undefined
  const outcome = await retried(attempt, given, { signal: undefined, askedMs }).catch(
    (error: Error) => error.message,
  )
  return { outcome, calls, slept }
}

test('each back-off is up to twice the one before, to a ceiling, on top of what was asked', async () => {
  const { outcome, slept } = await tried([0, 0, 1_000, 0], { maxBackoffMs: 1_500 })
  expect(outcome).toBe('done')
  expect(slept).toEqual([500, 1_000, 2_500, 1_500])
})

test('a failure that no other try mends is not tried again', async () => {
  expect(await tried([undefined])).toEqual({ outcome: 'failed', calls: 1, slept: [] })
})

test('it ends after the last attempt, and where it was asked to wait for longer than it does', async () => {
  expect(await tried([0, 0, 0], { attempts: 2 })).toMatchObject({ outcome: 'failed', calls: 2 })
  expect(await tried([60_001])).toEqual({ outcome: 'failed', calls: 1, slept: [] })
  expect(await tried([60_000])).toMatchObject({ outcome: 'done' })
})

test('a wait ends when it is told to', async () => {
  const stop = new AbortController()
  const failing = async () => {
    stop.abort()
    throw new Error('failed')
  }
  await expect(retried(failing, {}, { signal: stop.signal, askedMs: () => 0 })).rejects.toThrow('aborted')
})

test.each([
  [null, undefined],
  ['  ', undefined],
  ['soon', undefined],
  ['2', 2_000],
  ['-1', 0],
  ['Tue, 17 Sep 2024 14:00:05 GMT', 5_000],
  ['Tue, 17 Sep 2024 13:00:00 GMT', 0],
])('Retry-After: %s asks for %s ms', (header, ms) => {
  expect(retryAfterIn(header, Date.UTC(2024, 8, 17, 14))).toBe(ms)
})

test('a status has a reason', () => {
  const reasons = [401, 403, 404, 408, 410, 418, 429, 500, 503].map(reasonOf)
  const [credentials, missing, late] = ['credentials', 'missing', 'timed-out']
  expect(reasons.slice(0, 5)).toEqual([credentials, credentials, missing, late, missing])
  expect(reasons.slice(5)).toEqual(['refused', 'limited', 'unavailable', 'unavailable'])
})
