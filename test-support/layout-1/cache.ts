import { type Connection, ONE_KEY } from '../../packages/keyspec/src/connection/connection.ts'
import { sleep } from '../../packages/keyspec/src/timer.ts'
import { evaluate, luaOf } from './script.ts'

const store = luaOf('cache/store.lua')
const release = luaOf('cache/release.lua')

/** What a program of layout 1 did for a missing entry of a cache of texts: `SET NX` on the lock, load, store or give back. */
export async function getOrLoadAtLayout1(
  connection: Connection,
  entry: string,
  load: () => Promise<string | undefined>,
): Promise<string | undefined> {
  const lock = entry.replace(/^([^:]*:)/, '$1lock:')
  const owner = crypto.randomUUID()
  const giveBack = () => evaluate(connection, release, { lock }, { owner, wake: false })
  for (;;) {
    const isOurs = (await connection.send(['SET', lock, owner, 'NX', 'PX', '10000'], ONE_KEY)) !== null
    const stored = await connection.send(['GET', entry], ONE_KEY)
    if (stored !== null) {
      if (isOurs) await giveBack()
      return String(stored)
    }
    if (isOurs) break
    await sleep(5)
  }
  const value = await load().catch(async (error: unknown) => {
    await giveBack()
    throw error
  })
  if (value === undefined) await giveBack()
  else {
    const args = { owner, wake: false, present: false, seen: '', value, ttlMs: '60000' }
    await evaluate(connection, store, { entry, lock: [lock] }, args)
  }
  return value
}
