import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { text } from '../../codec/text.ts'
import type { Connection } from '../../connection/connection.ts'
import { open } from '../../keyspace.ts'
import { cache } from './cache.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A server on which another program holds the lock of every entry for ever, and loads none. */
function held() {
  const limited: string[] = []
  const connection: Connection = {
    client: 'recording',
    cluster: false,
    masters: async () => [connection],
    async send(command) {
      const [name, key] = command
      if (name === 'SET') return null
      if (name === 'GET') return String(key).startsWith('lock:') ? Buffer.from('another') : null
      limited.push(String(command[3]))
      return 1
    },
  }
  return { connection, limited }
}

test('who waits for loads of others gives up after two of them and a lock, and says how long that was', async () => {
  const { connection, limited } = held()
  const schema = { page: cache('page:<id>', text, { ttl: '1h', loadTimeout: '10s', lockTtl: '3s' }) }
  const page = open(schema, connection).page({ id: 1 })
  const load = vi.fn<() => string>(() => 'loaded here')
  const ended: unknown[] = []
  page.getOrLoad(load).catch((error: unknown) => ended.push(error))
  await vi.advanceTimersByTimeAsync(2900)
  expect(limited).toEqual([])
  await vi.advanceTimersByTimeAsync(200)
  expect(limited).toEqual(['lock:page:1']) // a lock without an end would be held for ever
  await vi.advanceTimersByTimeAsync(19_850)
  expect(ended).toEqual([])
  await vi.advanceTimersByTimeAsync(200)
  expect(ended).toMatchObject([
    {
      code: 'E_LOAD_TIMEOUT',
      key: 'page:1',
      message: 'page:1: loads in other processes gave nothing within 23000 ms',
    },
  ])
  expect(limited).toHaveLength(1)
  expect(load).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
})
