import { guarded, open } from 'keyspec'
import { fromNodeRedis } from 'keyspec/node-redis'
import type { GuardedConnection } from 'keyspec'
import { createClient } from 'redis'
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
  const address = url.startsWith('unix:') ? { path: new URL(url).pathname } : undefined
  const reconnectStrategy = (retries: number) =>
    Math.min(1000, 20 * 2 ** Math.min(retries, 6)) * (0.5 + Math.random() / 2)
  const client = createClient({
    ...(address === undefined ? { url } : {}),
    socket: { ...address, reconnectStrategy, connectTimeout: 5_000 } as {
      reconnectStrategy: typeof reconnectStrategy
    },
    disableOfflineQueue: true,
    commandOptions: { timeout: 5_000 },
  })
  const attempts: ConnectionAttempts = { made: 1, succeeded: 0 }
  let lastWords = ''
  client.on('error', (error: Error) => {
    // The client says it again at every attempt.
    if (error.message !== lastWords) log?.(`Redis: ${error.message}`)
    lastWords = error.message
  })
  client.on('reconnecting', () => (attempts.made += 1))
  client.on('ready', () => {
    attempts.succeeded += 1
    lastWords = ''
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
    async ready(signal) {
      while (!client.isReady) {
        signal?.throwIfAborted()
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    close: () => client.destroy(),
  }
}
