import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { audit, replicaSnapshot, snapshotSource, stats } from '@keyspec/inspect'
import { fromNodeRedis } from 'keyspec/node-redis'
import { createClient } from 'redis'
import type { Address } from '../job.ts'
import type { Member } from '../member.ts'
import { fill, schema } from './archive-keys.ts'

/** Who looks at all keys, and where. */
export interface AuditOptions {
  readonly contender:
    | 'audit'
    | 'briefStats'
    | 'stats'
    | 'snapshotAudit'
    | 'snapshotStats'
    | 'ioredis'
    | 'redis-cli'
  readonly server: Address
  readonly keys: number
}

/** What it came to; the process's own costs are absent where another program did the work. */
export interface Looked {
  readonly tookMs: number
  readonly clientMicros?: number
  readonly peakMB?: number
}

/** The word is `fill` or `look`. */
export const member: Member<AuditOptions, Looked> = async ({ contender, server, keys }) => {
  const client = createClient({ socket: { path: server.socket, tls: false } })
  await client.connect()
  return async (word) => {
    if (word === 'fill') {
      await fill(client, keys)
      return { tookMs: 0 }
    }
    const [cpu, from] = [process.cpuUsage(), performance.now()]
    const found = await LOOKS[contender](server, client)
    const tookMs = performance.now() - from
    if (found !== keys) throw new Error(`${contender} saw ${found} keys of ${keys}`)
    if (contender === 'redis-cli') return { tookMs }
    const { user, system } = process.cpuUsage(cpu)
    return { tookMs, clientMicros: user + system, peakMB: process.resourceUsage().maxRSS / 1024 }
  }
}

type Client = Parameters<typeof fromNodeRedis>[0]
type Look = (server: Address, client: Client) => Promise<number>

const LOOKS: Readonly<Record<AuditOptions['contender'], Look>> = {
  audit: (_, client) => audited(fromNodeRedis(client)),
  async briefStats(_, client) {
    const { looked } = await stats(schema, fromNodeRedis(client), { maxLoad: 1, exact: true, brief: true })
    return looked
  },
  async stats(_, client) {
    const { looked } = await stats(schema, fromNodeRedis(client), { maxLoad: 1, exact: true })
    return looked
  },
  snapshotAudit: (server) => audited(snapshotOf(server)),
  async snapshotStats(server) {
    const { looked } = await stats(schema, snapshotOf(server), { maxLoad: 1, exact: true })
    return looked
  },
  async ioredis({ socket }) {
    const { Redis } = await import('ioredis')
    const redis = new Redis(socket)
    let seen = 0
    for await (const names of redis.scanStream({ count: 1000 }) as AsyncIterable<string[]>) {
      const asked = redis.pipeline()
      for (const name of names) asked.type(name).pttl(name).memory('USAGE', name)
      const answers = (await asked.exec())!
      seen += answers.length / 3
    }
    redis.disconnect()
    return seen
  },
  async 'redis-cli'({ socket }, client) {
    const child = spawn('redis-cli', ['-s', socket, '--memkeys'], { stdio: ['ignore', 'ignore', 'inherit'] })
    const [code] = (await once(child, 'exit')) as [number]
    if (code !== 0) throw new Error(`redis-cli ended with ${code}`)
    return Number(await client.sendCommand(['DBSIZE']))
  },
}

function snapshotOf({ socket }: Address) {
  return snapshotSource([{ open: () => replicaSnapshot({ path: socket }), goesOn: true }])
}

async function audited(from: Parameters<typeof audit>[1]): Promise<number> {
  return (await audit(schema, from, { maxLoad: 1 })).keys
}
