import { GlideClient, Logger } from '@valkey/valkey-glide'
import * as ioredis6 from 'ioredis'
import * as ioredis5 from 'ioredis-5'
import * as redis6 from 'redis'
import * as redis5 from 'redis-5'
import { fromGlide } from '../packages/keyspec/src/connection/client/glide.ts'
import { fromIoredis } from '../packages/keyspec/src/connection/client/ioredis.ts'
import { fromNodeRedis } from '../packages/keyspec/src/connection/client/node-redis.ts'
import type { TimeoutOptions } from '../packages/keyspec/src/connection/client/deadline.ts'
import type { Opened } from './connections.ts'

Logger.setLoggerConfig('off')

/** A client's name, and how it is opened with the options of its adapter. */
export type DefaultClient = readonly [
  name: string,
  /** `requestTimeout` in place of the 250 ms of GLIDE, which a busy machine exceeds. */
  open: (
    server: { readonly port: number | undefined },
    options?: TimeoutOptions & { readonly requestTimeout?: number },
  ) => Promise<Opened>,
]

/** Each supported client as its own documentation creates it: the address, and nothing else. */
export const defaultClients: readonly DefaultClient[] = [
  ['ioredis 6', ({ port }, options) => overIoredis(ioredis6, port, options)],
  ['ioredis 5', ({ port }, options) => overIoredis(ioredis5, port, options)],
  ['node-redis 6', ({ port }, options) => overNodeRedis(redis6, port, options)],
  ['node-redis 5', ({ port }, options) => overNodeRedis(redis5, port, options)],
  ['glide', ({ port }, options) => overGlide(port, options)],
]

async function overIoredis(
  module: object,
  port: number | undefined,
  options?: TimeoutOptions,
): Promise<Opened> {
  const { Redis } = module as typeof ioredis6
  const client = new Redis(port!)
  client.on('error', () => {})
  return { connection: fromIoredis(client, options), close: () => client.disconnect() }
}

async function overNodeRedis(
  module: object,
  port: number | undefined,
  options?: TimeoutOptions,
): Promise<Opened> {
  const { createClient } = module as typeof redis6
  const client = createClient({ url: `redis://127.0.0.1:${port}` })
  client.on('error', () => {})
  await client.connect()
  return { connection: fromNodeRedis(client, options), close: () => client.destroy() }
}

async function overGlide(
  port: number | undefined,
  options?: TimeoutOptions & { readonly requestTimeout?: number },
): Promise<Opened> {
  const { requestTimeout, ...ours } = options ?? {}
  const addresses = [{ host: '127.0.0.1', port: port! }]
  const own = requestTimeout === undefined ? {} : { requestTimeout }
  const client = await GlideClient.createClient({ addresses, ...own })
  return { connection: fromGlide(client, ours), close: () => client.close() }
}
