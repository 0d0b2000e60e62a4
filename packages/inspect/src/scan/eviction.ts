import { type Connection, ServerError } from 'keyspec'
import { NO_KEY } from 'keyspec/extend'

/** Which keys the server evicts once its memory is full: `none` too where it knows no bound. */
export interface Eviction {
  readonly keys: 'all' | 'volatile' | 'none'
  /** `maxmemory-policy`, as the server spells it. */
  readonly policy: string
}

/** What is evicted on any of the masters, the worst of them; `undefined` where the user may not ask. */
export async function evictionOf(connection: Connection): Promise<Eviction | undefined> {
  try {
    const masters = await connection.masters()
    const found = await Promise.all(masters.map(evictionOn))
    return ['all', 'volatile', 'none'].map((keys) => found.find((each) => each.keys === keys)).find(Boolean)
  } catch (error) {
    if (error instanceof ServerError) return undefined
    throw error
  }
}

async function evictionOn(master: Connection): Promise<Eviction> {
  const info = String(await master.send(['INFO', 'memory'], NO_KEY))
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'noeviction'
  const isBounded = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0) > 0
  if (!isBounded || policy === 'noeviction') return { keys: 'none', policy }
  return { keys: policy.startsWith('allkeys') ? 'all' : 'volatile', policy }
}
