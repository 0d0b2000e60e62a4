import type { TemporaryRedis } from '../packages/keyspec/src/testing/index.ts'

/** Starts servers at the same time; when one fails, stops the others before the error goes on. */
export async function startAll(starts: readonly Promise<TemporaryRedis>[]): Promise<TemporaryRedis[]> {
  const results = await Promise.allSettled(starts)
  const servers = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed === undefined) return servers
  await stopAll(servers)
  throw failed.reason
}

/** Stops servers at the same time. */
export async function stopAll(servers: readonly TemporaryRedis[]): Promise<void> {
  await Promise.all(servers.map((server) => server.stop()))
}
