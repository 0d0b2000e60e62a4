import { SchemaError } from '../errors.ts'
import { type Command, NO_KEY } from './connection.ts'
import { type Invalidations, runIdIn } from './invalidations.ts'
import { refusal } from './server-error.ts'

/** The parts of an ioredis 6 client (`new Redis`, Sentinel or not) that tell of changed keys. */
export interface IoredisInvalidator {
  readonly status: string
  readonly options: { readonly protocol?: 2 | 3 | undefined; readonly keyPrefix?: string | undefined }
  call(command: string, args: string[]): Promise<unknown>
  ping(): Promise<unknown>
  subscribe(channel: string): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  on(event: string, listener: (...args: any[]) => void): unknown
}

/** The channel on which RESP2 hears of changed keys: an array of them, or null. */
const CHANNEL = '__redis__:invalidate'

/**
 * Invalidations over an ioredis 6 client given for that purpose: `redis.duplicate({ protocol: 2 })`, used for nothing else. It
 * speaks RESP2, since ioredis lets nobody hear what RESP3 pushes. While its connection is lost near copies are not used, so
 * its errors need no listener.
 */
export function invalidationsFromIoredis(redis: IoredisInvalidator): Invalidations {
  if (redis.options.protocol !== 2)
    throw new SchemaError(
      'this ioredis client speaks RESP3, in which it keeps to itself what Redis tells it of changed keys: ' +
        'create it with { protocol: 2 }',
    )
  if (redis.options.keyPrefix !== undefined && redis.options.keyPrefix !== '')
    throw new SchemaError(
      `this ioredis client has the keyPrefix "${redis.options.keyPrefix}": create it without, and give the prefix to open()`,
    )
  const answered = async (command: Command, reply: Promise<unknown>) => {
    try {
      return await reply
    } catch (error) {
      throw refusal(error, command, NO_KEY)
    }
  }
  const send = (command: string, ...args: string[]) => answered([command, ...args], redis.call(command, args))
  return {
    listen({ connected, lost, changed }) {
      redis.on('messageBuffer', (channel: Buffer, keys: readonly Buffer[] | null) => {
        if (String(channel) !== CHANNEL) return
        if (keys === null) changed(undefined)
        else for (const key of keys) changed(String(key))
      })
      redis.on('ready', connected)
      redis.on('close', lost)
      redis.on('error', () => {})
      if (redis.status === 'ready') connected()
    },
    async track(prefixes) {
      // After a reconnect ioredis subscribes again by itself, and whoever is subscribed may not ask for anything else.
      await answered(['UNSUBSCRIBE', CHANNEL], redis.unsubscribe(CHANNEL))
      const [info, id] = await Promise.all([
        send('INFO', 'server'),
        send('CLIENT', 'ID'),
        send('CLIENT', 'TRACKING', 'OFF'),
      ])
      const options = ['REDIRECT', String(id), 'BCAST', ...prefixes.flatMap((prefix) => ['PREFIX', prefix])]
      await send('CLIENT', 'TRACKING', 'ON', ...options)
      await answered(['SUBSCRIBE', CHANNEL], redis.subscribe(CHANNEL))
      return runIdIn(info)
    },
    ping: () => answered(['PING'], redis.ping()),
  }
}
