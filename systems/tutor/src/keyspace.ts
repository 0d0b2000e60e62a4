import { guarded, type GuardedConnection, type Keyspace, open } from 'keyspec'
import { fromNodeRedis } from 'keyspec/node-redis'
import { redisClient } from '@keyspec-systems/program'

import { tutorSchema } from './schema.ts'
import type { Settings } from './settings.ts'

/** The keyspace of the system. */
export type Tutor = Keyspace<ReturnType<typeof tutorSchema>>

/** An open keyspace and the connection under it. */
export interface Opened {
  readonly keys: Tutor
  readonly schema: ReturnType<typeof tutorSchema>
  readonly connection: GuardedConnection
  /** Once it is connected; it stays open for as long as it is not. */
  readonly connected: Promise<void>
  close(): void
}

/** What Redis is opened with. */
export type RedisSettings = Pick<Settings, 'redisUrl'> & Partial<Settings>

/**
 * Opens the keyspace over Redis (`redis://…` or `unix:///path`), whether it is there already or not: a connection that is
 * missing or lost is made again, for ever, and what is asked meanwhile fails at once. What is not answered within
 * `patienceMs` (2,000 unless told) counts as lost.
 */
export function openTutor(
  settings: RedisSettings,
  { patienceMs = 2_000, log = console.error }: { patienceMs?: number; log?: (line: string) => void } = {},
): Opened {
  const { redisUrl, redisPassword, cacheTtlSeconds, rateLimitEnabled } = settings
  const client = redisClient(redisUrl, {
    password: redisPassword,
    patienceMs,
    log: (words) => log(`Redis: ${words}`),
  })
  const connected = client.connect().then(() => undefined)
  // It ends so where it is closed before it ever was connected.
  connected.catch(() => {})

  const schema = tutorSchema({
    ...(cacheTtlSeconds === undefined ? {} : { cacheTtlSeconds }),
    ...(rateLimitEnabled === undefined ? {} : { rateLimitEnabled }),
  })
  const connection = guarded(fromNodeRedis(client), {
    onStateChange: ({ from, to }) => {
      if (to === 'open' && from === 'closed')
        log('Redis is held to be down: sessions are refused, caches load')
      if (to === 'closed') log('Redis is back')
    },
  })
  return {
    keys: open(schema, connection),
    schema,
    connection,
    connected,
    close: () => client.destroy(),
  }
}
