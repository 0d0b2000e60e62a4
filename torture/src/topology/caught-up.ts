import { eventually, type TemporaryRedis } from 'keyspec/testing'
import { now } from '../clock.ts'

/**
 * Returns a time in ms of the monotonic clock: the replica holds all that the primary had acknowledged by then; undefined
 * if the replica lags, or its link is down. A failover loses nothing that was acknowledged before.
 */
export async function caughtUpAt(
  primary: TemporaryRedis,
  replica: TemporaryRedis,
): Promise<number | undefined> {
  const at = now()
  const sent = await replication(primary)
  const held = await replication(replica)
  const linked = sent.get('role') === 'master' && held.get('master_link_status') === 'up'
  // An offset means something within one history alone: that of a primary which fell goes on under another id.
  if (!linked || held.get('master_replid') !== sent.get('master_replid')) return undefined
  return Number(held.get('slave_repl_offset')) >= Number(sent.get('master_repl_offset')) ? at : undefined
}

/** Waits until a replica holds what its primary has acknowledged; resolves to the time by which it had. */
export function caughtUp(primary: TemporaryRedis, replica: TemporaryRedis): Promise<number> {
  return eventually(
    async () => {
      const at = await caughtUpAt(primary, replica)
      if (at === undefined) throw new Error(`The replica at port ${replica.port} has not caught up.`)
      return at
    },
    { within: '60s' },
  )
}

async function replication(server: TemporaryRedis): Promise<Map<string, string>> {
  const info = String(await server.command('INFO', 'replication'))
  return new Map(
    info.split('\r\n').flatMap((line) => {
      const at = line.indexOf(':')
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const]
    }),
  )
}
