import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Connection } from '../../connection/connection.ts'
import { LeaseLostError, UnknownOutcomeError } from '../../errors.ts'
import { open } from '../../keyspace.ts'
import { lock } from './lock.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Work of a minute under a lock that goes on without Redis; what each call of a script is answered, in turn. */
async function worked(answers: readonly (readonly number[] | number | 'lost')[]) {
  let calls = 0
  const connection: Connection = {
    client: 'scripted',
    cluster: false,
    masters: async () => [connection],
    async send() {
      const answer = answers[Math.min(calls, answers.length - 1)]!
      calls += 1
      if (answer === 'lost') throw new UnknownOutcomeError('the connection was lost')
      return answer
    },
  }
  const schema = { lock: lock('lock', { ttl: '30s', unreachable: 'proceed' }) }
  const began = performance.now()
  let abortedAt: number | undefined
  const using = open(schema, connection)
    .lock()
    .using(async (signal) => {
      signal.addEventListener('abort', () => (abortedAt = performance.now() - began))
      await new Promise((resolve) => setTimeout(resolve, 60_000))
      return 'done'
    })
  const ended = using.catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(61_000)
  return { ended: await ended, abortedAt }
}

test('the signal is aborted as soon as Redis says that another has the lock, though the work goes on without Redis', async () => {
  const { ended, abortedAt } = await worked([[1, 0], 0])
  expect(abortedAt).toBe(10_000)
  expect(ended).toBeInstanceOf(LeaseLostError)
})

test('where Redis was away between, the work has gone on without a lock, and is done', async () => {
  const { ended, abortedAt } = await worked([[1, 0], 'lost', 'lost', 0])
  expect(abortedAt).toBeUndefined()
  expect(ended).toEqual({ acquired: true, value: 'done' })
})
