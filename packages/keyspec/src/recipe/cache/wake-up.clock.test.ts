import { createClient } from 'redis'
import { expect, onTestFinished, test, vi } from 'vitest'
import { text } from '../../codec/text.ts'
import { fromNodeRedis, subscriberFromNodeRedis } from '../../connection/client/node-redis.ts'
import { open } from '../../keyspace.ts'
import { unique } from '../../testing/eventually.ts'
import { startRedis } from '../../testing/redis.ts'
import { cache } from './cache.ts'

/** Two processes, as far as Redis can tell, of which the second waits for the load of the first. */
async function waiting() {
  const server = await startRedis()
  const clients = await Promise.all(
    [0, 1, 2].map(() => createClient({ socket: { path: server.socket, tls: false } }).connect()),
  )
  onTestFinished(async () => {
    for (const client of clients) client.destroy()
    await server.stop()
  })
  // No pause ever ends by itself, so that nothing but a message can end one.
  const realTimeout = setTimeout
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const subscriber = subscriberFromNodeRedis(clients[2]!)
  const prefix = `${unique()}:`
  const [first, second] = clients.slice(0, 2).map((client) => {
    const schema = { answer: cache('answer', text, { ttl: '1h' }) }
    return open(schema, fromNodeRedis(client), { prefix, subscriber }).answer()
  })
  let end!: (how: () => string | undefined) => void
  const ended = new Promise<() => string | undefined>((resolve) => (end = resolve))
  const stop = new AbortController()
  const loading = first!.getOrLoad(async () => (await ended)(), { signal: stop.signal }).catch(() => {})
  const until = async (isSo: () => Promise<boolean>) => {
    while (!(await isSo())) await new Promise((resolve) => realTimeout(resolve, 5))
  }
  const lock = `${prefix}lock:answer`
  await until(async () => (await server.command('EXISTS', lock)) === 1)
  const load = vi.fn<() => string>(() => 'loaded by the second')
  const asked = second!.getOrLoad(load).catch((error: unknown) => error)
  await until(async () => ((await server.command('PUBSUB', 'NUMSUB', lock)) as unknown[])[1] === 1)
  return { end, stop, loading, asked, load }
}

test('a message wakes who waits for a load when its value is written', async () => {
  const { end, asked, load } = await waiting()
  end(() => 'loaded')
  expect(await asked).toBe('loaded')
  expect(load).not.toHaveBeenCalled()
})

test('when the load fails', async () => {
  const { end, asked, load } = await waiting()
  end(() => {
    throw new Error('no source')
  })
  expect(await asked).toMatchObject({ code: 'E_LOAD_FAILED' })
  expect(load).not.toHaveBeenCalled()
})

test('when the load gives nothing', async () => {
  const { end, asked, load } = await waiting()
  end(() => undefined)
  expect(await asked).toBeUndefined()
  expect(load).not.toHaveBeenCalled()
})

test('and when the load is given up, so that the next one can load', async () => {
  const { stop, asked, load } = await waiting()
  stop.abort()
  expect(await asked).toBe('loaded by the second')
  expect(load).toHaveBeenCalledOnce()
})
