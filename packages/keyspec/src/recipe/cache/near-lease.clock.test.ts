import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { text } from '../../codec/text.ts'
import type { Connection, Reply } from '../../connection/connection.ts'
import { open } from '../../keyspace.ts'
import { cache } from './cache.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const late = async (ms: number, reply: Reply): Promise<Reply> => {
  await new Promise((resolve) => setTimeout(resolve, ms))
  return reply
}

/** A cache with copies, whose answers and messages come as late as the test says, and what was asked of Redis. */
async function near(latency: { reply: number; ping: number }) {
  const asked: string[] = []
  const connection: Connection = {
    client: 'recording',
    cluster: false,
    masters: async () => [connection],
    async send([command]) {
      asked.push(String(command))
      if (command === 'INFO') return 'run_id:a\r\n'
      return late(latency.reply, command === 'PTTL' ? 5000 : 'value')
    },
  }
  const invalidations = {
    listen: (listener: { connected(): void }) => listener.connected(),
    track: async () => 'a',
    ping: () => late(latency.ping, 'PONG'),
  }
  const schema = { page: cache('page', text, { ttl: '1h', near: { most: 10 } }) }
  const page = open(schema, connection, { invalidations }).page()
  await vi.advanceTimersByTimeAsync(0)
  asked.length = 0
  const get = async () => {
    const before = asked.length
    const got = page.get()
    await vi.advanceTimersByTimeAsync(latency.reply)
    expect(await got).toBe('value')
    return asked.length === before ? 'near' : 'Redis'
  }
  return { get }
}

test('a copy ends with its key, counted from the question: the answer may have been long under way', async () => {
  const latency = { reply: 2000, ping: 0 }
  const { get } = await near(latency)
  expect(await get()).toBe('Redis') // asked at 0, answered at 2 s, and the key had 5 s left
  latency.reply = 0
  expect(await get()).toBe('near')
  await vi.advanceTimersByTimeAsync(2900)
  expect(await get()).toBe('near')
  await vi.advanceTimersByTimeAsync(200)
  expect(await get()).toBe('Redis')
})

test('copies are trusted for 3 s from a question that was answered, not from its answer', async () => {
  const { get } = await near({ reply: 0, ping: 2000 })
  expect(await get()).toBe('Redis')
  await vi.advanceTimersByTimeAsync(3900) // asked at 1 s, answered at 3 s
  expect(await get()).toBe('near')
  await vi.advanceTimersByTimeAsync(200)
  expect(await get()).toBe('Redis')
})
