import { createClient } from 'redis'
import { afterAll } from 'vitest'
import type { Connection } from '../packages/keyspec/src/connection/connection.ts'
import { fromNodeRedis } from '../packages/keyspec/src/connection/client/node-redis.ts'
import { startRedis, type TemporaryRedis } from '../packages/keyspec/src/testing/index.ts'

/** A private Redis for one test file (or another connection to `redis`), over node-redis; both end with the file. */
export async function connected(
  given?: TemporaryRedis,
): Promise<{ redis: TemporaryRedis; connection: Connection }> {
  const redis = given ?? (await startRedis())
  const client = createClient({ socket: { path: redis.socket, tls: false } })
  client.on('error', () => {})
  await client.connect()
  afterAll(async () => {
    client.destroy()
    await redis.stop()
  })
  return { redis, connection: fromNodeRedis(client) }
}

/** All that a generator yields (`Array.fromAsync`, which Node 20 lacks). */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}
