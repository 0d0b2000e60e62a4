import { startRedis } from 'keyspec/testing'
import { type Proxy, startProxy } from '../../../test-support/proxy.ts'
import { compileClock } from '../../../test-support/server-clock.ts'
import type { Place, Topology } from './topology.ts'

/**
 * Starts one server behind a proxy for each actor. It appends each write to its file before it answers, so that a SIGKILL
 * loses nothing that was acknowledged.
 */
export async function startStandalone({ folder, say }: Place): Promise<Topology> {
  const clock = compileClock(folder)
  if ('skipped' in clock) say(`skipped: ${clock.skipped}`)
  const redis = await startRedis({
    port: 'any',
    config: { appendonly: 'yes', appendfsync: 'no', 'busy-reply-threshold': '100' },
    ...('skipped' in clock ? {} : { binary: clock.server }),
  })
  const proxies: Proxy[] = []
  return {
    name: 'standalone',
    clients: ['node-redis', 'ioredis', 'glide'],
    address: { kind: 'server', port: redis.port! },
    async connect() {
      const proxy = await startProxy({ url: redis.url })
      proxies.push(proxy)
      return { address: { kind: 'server', port: proxy.port! }, proxy }
    },
    servers: [redis],
    primary: async () => redis,
    ask: (...words) => redis.command(...words),
    async crash() {
      await redis.restart()
      return undefined
    },
    ...('skipped' in clock ? {} : { stepClock: clock.step }),
    async stop() {
      await Promise.all(proxies.map((proxy) => proxy.stop()))
      await redis.stop()
    },
  }
}
