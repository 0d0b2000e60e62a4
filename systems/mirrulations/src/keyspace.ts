import { type Connection, type Duration, type Keyspace, open } from 'keyspec'
import { fromNodeRedis } from 'keyspec/node-redis'
import { redisClient } from '@keyspec-systems/program'
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
  const client = redisClient(url, { patienceMs, log: (words) => console.error(`Redis: ${words}`) })
  await client.connect()
  const schema = mirrulationsSchema(lease === undefined ? {} : { lease })
  const connection = fromNodeRedis(client)
  return { keys: open(schema, connection), connection, schema, close: () => client.destroy() }
}
