import { type Connection, type Keyspace, open } from 'keyspec'
import { fromIoredis } from 'keyspec/ioredis'
import { Redis } from 'ioredis'
import { documentsSchema } from './schema.ts'

/** The keyspace of the system. */
export type Documents = Keyspace<ReturnType<typeof documentsSchema>>

/** An open keyspace and what stands under it. */
export interface Opened {
  readonly keys: Documents
  readonly connection: Connection
  readonly schema: ReturnType<typeof documentsSchema>
  /** A new client of the same server, for BullMQ, which wants one that waits for Redis as long as it takes. */
  client(): Redis
  close(): void
}

/** Connects to Redis (`redis://…` or `unix:///path`) and opens the keyspace. A connection that is lost is made again, for ever. */
export async function openDocuments(
  url: string,
  options: Parameters<typeof documentsSchema>[0] = {},
): Promise<Opened> {
  const clients: Redis[] = []
  const client = () => {
    const address = url.startsWith('unix:') ? new URL(url).pathname : url
    const redis = new Redis(address, {
      maxRetriesPerRequest: null,
      retryStrategy: (times) => Math.min(1000, 20 * 2 ** Math.min(times, 6)) * (0.5 + Math.random() / 2),
      lazyConnect: true,
    })
    let lastWords = ''
    redis.on('error', (error: Error) => {
      // The client says it again at every attempt.
      if (error.message !== lastWords) console.error(`Redis: ${error.message}`)
      lastWords = error.message
    })
    redis.on('ready', () => (lastWords = ''))
    clients.push(redis)
    return redis
  }
  const own = client()
  await own.connect()
  const schema = documentsSchema(options)
  const connection = fromIoredis(own)
  return {
    keys: open(schema, connection),
    connection,
    schema,
    client,
    close: () => {
      for (const each of clients) each.disconnect()
    },
  }
}
