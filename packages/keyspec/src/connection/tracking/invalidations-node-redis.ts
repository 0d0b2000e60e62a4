import { SchemaError } from '../../errors.ts'
import { type Command, NO_KEY } from '../connection.ts'
import { type Invalidations, runIdIn } from './invalidations.ts'
import { refusal } from '../server-error.ts'

/** The parts of a client of node-redis 5 or 6 (`createClient`) that tell of changed keys. */
export interface NodeRedisInvalidator {
  readonly isReady: boolean
  readonly options?: { readonly emitInvalidate?: boolean | undefined } | undefined
  sendCommand(args: readonly string[]): Promise<unknown>
  on(event: string, listener: (...args: any[]) => void): unknown
}

/**
 * Invalidations over a client of node-redis 5 or 6 given for that purpose: `client.duplicate({ emitInvalidate: true })`, in RESP3
 * (`RESP: 3` in node-redis 5), connected, and used for nothing else. While its connection is lost near copies are not used, so its errors need no listener.
 */
export function invalidationsFromNodeRedis(client: NodeRedisInvalidator): Invalidations {
  if (client.options?.emitInvalidate !== true)
    throw new SchemaError(
      'this node-redis client keeps to itself what Redis tells it of changed keys: ' +
        'create it with { emitInvalidate: true }, in RESP3',
    )
  const send = async (...command: Command & readonly string[]) => {
    try {
      return await client.sendCommand(command)
    } catch (error) {
      throw refusal(error, command, NO_KEY)
    }
  }
  return {
    listen({ connected, lost, changed }) {
      client.on('invalidate', (key: Buffer | string | null) =>
        changed(key === null ? undefined : String(key)),
      )
      client.on('ready', connected)
      for (const event of ['reconnecting', 'terminated', 'end']) client.on(event, lost)
      // What could not be read of its replies may have been an invalidation: without a new connection, a new beginning.
      client.on('error', () => (client.isReady ? connected() : lost()))
      if (client.isReady) connected()
    },
    async track(prefixes) {
      // `emitInvalidate` has begun to track what this very connection reads, and the mode cannot be changed meanwhile.
      const commands = [
        send('INFO', 'server'),
        send('CLIENT', 'TRACKING', 'OFF'),
        send('CLIENT', 'TRACKING', 'ON', 'BCAST', ...prefixes.flatMap((prefix) => ['PREFIX', prefix])),
      ]
      const [info] = await Promise.all(commands)
      return runIdIn(info)
    },
    ping: () => send('PING'),
  }
}
