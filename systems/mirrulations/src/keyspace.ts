import { type Connection, type Duration, type Keyspace, open } from 'keyspec'
import { fromNodeRedis } from 'keyspec/node-redis'
import { createClient } from 'redis'
import { mirrulationsSchema } from './schema.ts'

/** The keyspace of the system. */
export type Mirrulations = Keyspace<ReturnType<typeof mirrulationsSchema>>

/** An open keyspace and the connection under it. */
export interface Opened {
  readonly keys: Mirrulations
  readonly connection: Connection
  readonly schema: ReturnType<typeof mirrulationsSchema>
  close(): void
}

/**
 * Connects to Redis (`redis://…` or `unix:///path`) and opens the keyspace. A connection that is lost is made again, for
 * ever; what is asked meanwhile fails at once, so that a caller can say so rather than hang.
 */
export async function openMirrulations(
  url: string,
  options: { readonly lease?: Duration; readonly patienceMs?: number } = {},
): Promise<Opened> {
  const { lease, patienceMs = 5_000 } = options
  const address = url.startsWith('unix:') ? { path: new URL(url).pathname } : undefined
  const reconnectStrategy = (retries: number) =>
    Math.min(1000, 20 * 2 ** Math.min(retries, 6)) * (0.5 + Math.random() / 2)
  const client = createClient({
    ...(address === undefined ? { url } : {}),
    socket: { ...address, reconnectStrategy, connectTimeout: 5_000 } as {
      reconnectStrategy: typeof reconnectStrategy
    },
    disableOfflineQueue: true,
    commandOptions: { timeout: patienceMs },
  })
  let lastWords = ''
  client.on('error', (error: Error) => {
    // The client says it again at every attempt.
    if (error.message !== lastWords) console.error(`Redis: ${error.message}`)
    lastWords = error.message
  })
  client.on('ready', () => (lastWords = ''))
  await client.connect()
  const schema = mirrulationsSchema(lease === undefined ? {} : { lease })
  const connection = fromNodeRedis(client)
  return { keys: open(schema, connection), connection, schema, close: () => client.destroy() }
}
