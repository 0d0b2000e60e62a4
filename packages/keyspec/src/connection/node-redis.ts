import type { Command, Connection, Reply, Shape } from './connection.ts'
import { refused } from './server-error.ts'

/** The parts of a node-redis 6 client that Keyspec uses. */
export interface NodeRedisClient {
  sendCommand(args: readonly (string | Buffer)[], options?: object): Promise<unknown>
}

const TEXT = { timeout: undefined }
const BYTES = { timeout: undefined, typeMapping: { 36: Buffer, 43: Buffer } }

/** A connection over a client of node-redis 6, which stays yours: connect it before, and close it after. */
export function fromNodeRedis(client: NodeRedisClient): Connection {
  const connection: Connection = {
    client: 'node-redis',
    cluster: false,
    async send(command: Command, shape: Shape): Promise<Reply> {
      try {
        return (await client.sendCommand(command as string[], shape.bytes === true ? BYTES : TEXT)) as Reply
      } catch (error) {
        if (error instanceof Error && /^[A-Z]+ /.test(error.message))
          throw refused(error.message, command, shape, error)
        throw error
      }
    },
    masters: async () => [connection],
  }
  return connection
}
