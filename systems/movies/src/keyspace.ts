import { guarded, type GuardedConnection, open } from 'keyspec'
import { fromNodeRedis, subscriberFromNodeRedis } from 'keyspec/node-redis'
import { clientReady, redisClient } from '@keyspec-systems/program'

import type { Log } from './log.ts'
import { type Movies, moviesSchema } from './schema.ts'

/** An open keyspace and the connection under it. */
export interface Opened {
  readonly keys: Movies
  readonly schema: ReturnType<typeof moviesSchema>
  readonly connection: GuardedConnection
  /** Comes back when Redis answers. */
  ready(signal?: AbortSignal): Promise<void>
  close(): void
}

/** Where Redis is, and what stands before every key. */
export interface OpenOptions {
  /** `redis://…` or `unix:///path`. */
  readonly url: string
  /** `prod`, `staging`, …: stands before every key, with a colon. */
  readonly environment: string
  /** The length of a vector; 1,536 unless told. */
  readonly dimensions?: number
  readonly log: Log
  /** How long a command may go unanswered; 1,000 unless told. A cache that is slower than that is none. */
  readonly patienceMs?: number
}

/**
 * Opens the keyspace at once, whether Redis can be reached or not. A connection that is lost is made again, for ever;
 * meanwhile every read fails at once and the caches load, so that no request waits for Redis.
 */
export function openMovies({ url, environment, dimensions, log, patienceMs = 1_000 }: OpenOptions): Opened {
  const client = redisClient(url, { patienceMs, log: (message) => log.warn('redis', { message }) })
  // Woken by a message, waiters need not ask again and again; without it they do.
  const listener = redisClient(url, { patienceMs })
  for (const each of [client, listener]) each.connect().catch(() => {})

  const connection = guarded(fromNodeRedis(client), {
    onStateChange: ({ to }) => {
      if (to === 'open') log.warn('redis', { message: 'held to be down: requests go on without it' })
      if (to === 'closed') log.info('redis', { message: 'back' })
    },
  })
  const schema = moviesSchema({
    ...(dimensions === undefined ? {} : { dimensions }),
    onTrendingMissing: (key, cause) =>
      log.warn('trending', { key, message: cause === undefined ? 'missing' : 'Redis cannot be reached' }),
  })
  return {
    keys: open(schema, connection, {
      prefix: `${environment}:`,
      subscriber: subscriberFromNodeRedis(listener),
    }),
    schema,
    connection,
    ready: (signal) => clientReady(client, signal),
    close() {
      client.destroy()
      listener.destroy()
    },
  }
}
