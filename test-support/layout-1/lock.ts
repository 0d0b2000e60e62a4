import type { Connection } from '../../packages/keyspec/src/connection/connection.ts'
import { evaluate, luaOf } from './script.ts'

const acquire = luaOf('lock/acquire.lua')
const release = luaOf('lock/release.lua')

/** What a program of the version before took a lock with: the fence, or `undefined` if another holds the lock. */
export async function acquireAsBefore(
  connection: Connection,
  { key, fence, token, now }: { key: string; fence: string; token: string; now: number },
): Promise<number | undefined> {
  const args = { token, ttlMs: '60000', fenceTtlMs: '604800000', now }
  const reply = await evaluate(connection, acquire, { key, fences: [fence] }, args)
  const [taken, told] = reply as [number, number]
  return taken === 1 ? told : undefined
}

/** What it gave the lock back with. */
export async function releaseAsBefore(connection: Connection, key: string, token: string): Promise<void> {
  await evaluate(connection, release, { key }, { token, wake: false })
}
