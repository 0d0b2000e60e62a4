import { json, string } from 'keyspec'
import { audit } from '@keyspec/inspect'
import { fromNodeRedis } from 'keyspec/node-redis'
import { createClient } from 'redis'
import * as v from 'valibot'
import type { Address } from '../job.ts'
import type { Member } from '../member.ts'

const schema = {
  session: string('session:<id>', json(v.object({ user: v.string() })), { ttl: '1h' }),
}

/** What one audit took. */
export interface AuditCost {
  readonly keys: number
  readonly tookMs: number
  readonly cpuMs: number
  /** The most memory that the process ever had. */
  readonly peakMB: number
}

/** A process that holds all keys of a server against the schema, as fast as it can. */
export const member: Member<{ readonly server: Address }, AuditCost> = async ({ server }) => {
  const client = createClient({ socket: { path: server.socket, tls: false } })
  await client.connect()
  const connection = fromNodeRedis(client)
  return async () => {
    const [cpu, from] = [process.cpuUsage(), performance.now()]
    const { keys } = await audit(schema, connection, { maxLoad: 1 })
    const { user, system } = process.cpuUsage(cpu)
    return {
      keys,
      tookMs: performance.now() - from,
      cpuMs: (user + system) / 1000,
      peakMB: process.resourceUsage().maxRSS / 1024,
    }
  }
}
