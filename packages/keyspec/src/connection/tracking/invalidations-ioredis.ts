import { SchemaError } from '../../errors.ts'
import { type Command, NO_KEY } from '../connection.ts'
import { type Invalidations, runIdIn } from './invalidations.ts'
import { refusal, ServerError } from '../server-error.ts'

/** The parts of a client of ioredis 5 or 6 (`new Redis`, Sentinel or not) that tell of changed keys. */
export interface IoredisInvalidator {
  readonly status: string
  readonly options: { readonly protocol?: 2 | 3 | undefined; readonly keyPrefix?: string | undefined }
  call(command: string, args: string[]): Promise<unknown>
  ping(): Promise<unknown>
  subscribe(channel: string): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  on(event: string, listener: (...args: any[]) => void): unknown
}

/** Valkey 8 and later refuse to end a subscription that there is not, which is what was wanted. */
function unlessNotSubscribed(error: unknown): void {
  if (!(error instanceof ServerError && error.reply.startsWith('NOSUB '))) throw error
}

/** The channel on which RESP2 hears of changed keys: an array of them, or null. */
const CHANNEL = '__redis__:invalidate'

/**
 * Invalidations over a client of ioredis 5 or 6 given for that purpose: `redis.duplicate({ protocol: 2 })` (`redis.duplicate()`
 * in ioredis 5, which speaks nothing else), used for nothing else. It speaks RESP2, since ioredis lets nobody hear what RESP3 pushes. While its connection is lost near copies are not used, so
 * its errors need no listener.
 */
export function invalidationsFromIoredis(redis: IoredisInvalidator): Invalidations {
  const { protocol = 2 } = redis.options
  if (protocol !== 2)
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
      await answered(['UNSUBSCRIBE', CHANNEL], redis.unsubscribe(CHANNEL)).catch(unlessNotSubscribed)
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
