import { guarded, open } from 'keyspec'
import { fromNodeRedis } from 'keyspec/node-redis'
import type { GuardedConnection } from 'keyspec'
import { clientReady, redisClient } from '@keyspec-systems/program'
import { type ConnectionAttempts, type Watched, watched } from './health.ts'
import { type Courtlistener, courtlistenerSchema } from './schema.ts'
import { defaults, type Settings } from './settings.ts'

/** An open keyspace, the connection under it, and how that fares. */
export interface Opened extends Watched {
  readonly keys: Courtlistener
  readonly connection: GuardedConnection
  readonly schema: ReturnType<typeof courtlistenerSchema>
  /** Comes back when Redis answers. */
  ready(signal?: AbortSignal): Promise<void>
  close(): void
}

/** Where Redis is, and what stands before every key. */
export interface OpenOptions {
  /** `redis://…` or `unix:///path`. */
  readonly url: string
  readonly prefix?: string
  readonly settings?: Settings
  readonly log?: (line: string) => void
}

/**
 * Opens the keyspace at once, whether Redis can be reached or not. A connection that is lost is made again, for ever; what
 * is asked meanwhile fails at once, or is decided by the policy for that case.
 */
export function openCourtlistener({ url, prefix = '', settings = defaults, log }: OpenOptions): Opened {
  const client = redisClient(url, { patienceMs: 5_000, log: (words) => log?.(`Redis: ${words}`) })
  const attempts: ConnectionAttempts = { made: 1, succeeded: 0 }
  client.on('reconnecting', () => (attempts.made += 1))
  client.on('ready', () => {
    attempts.succeeded += 1
  })
  client.connect().catch(() => {})
  const schema = courtlistenerSchema(settings)
  const connection = guarded(fromNodeRedis(client), {
    onStateChange: ({ to }) => {
      if (to !== 'half-open') log?.(to === 'open' ? 'Redis is held to be down' : 'Redis is back')
    },
  })
  return {
    keys: open(schema, connection, { prefix }),
    connection,
    schema,
    ...watched(connection, attempts),
    ready: (signal) => clientReady(client, signal),
    close: () => client.destroy(),
  }
}
