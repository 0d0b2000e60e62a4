import type { Connection } from 'keyspec'
import type { Config, SentinelOptions } from './config/config.ts'
import { exit, Failure, misused, reason } from './failure.ts'

/** A server as it is addressed. */
export interface Target {
  readonly url: string
  readonly cluster?: boolean | undefined
  readonly sentinel?: string | SentinelOptions | undefined
}

/** A server that answered. */
export interface Server {
  readonly connection: Connection
  close(): Promise<void>
}

/** Which server the flags, the environment and the configuration name, in this order. */
export function targetOf(
  flags: { readonly url?: string; readonly cluster?: boolean; readonly sentinel?: string },
  env: Readonly<Record<string, string | undefined>>,
  config: Config,
): Target {
  const url = flags.url ?? env['REDIS_URL'] ?? config.url
  if (url === undefined)
    throw misused('no server is named: give --url, set REDIS_URL, or say url in keyspec.config.ts')
  return {
    url,
    cluster: flags.cluster ?? config.cluster,
    sentinel: flags.sentinel ?? config.sentinel,
  }
}

/** Connects, or fails with exit code 3 and a line that names the server without its password. */
export async function openServer(target: Target): Promise<Server> {
  return reached(target, openTarget)
}

/** The same for a few commands: without a client where the server is one, and not reconnected when it is lost. */
export async function openServerBriefly(target: Target): Promise<Server> {
  const isOne = target.cluster !== true && target.sentinel === undefined
  return reached(target, isOne ? openOne : openTarget)
}

async function reached(target: Target, open: (target: Target) => Promise<Server>): Promise<Server> {
  const place = placeOf(target.url)
  try {
    return await open(target)
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure(`${place} cannot be reached: ${causeOf(error)}`, exit.connection, error)
  }
}

/** A URL as it may be shown: without user and password. */
function placeOf(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url)
    return `${protocol}//${host}${pathname === '/' ? '' : pathname}`
  } catch {
    throw misused('the server’s URL is not one: redis://host:port/db, rediss://… or unix:///path')
  }
}

const CONNECT_WITHIN_MS = 5_000
// A server that restarts is back within this; longer, and somebody should look.
const RECONNECT_WITHIN_MS = 10_000
const REPLY_WITHIN_MS = 60_000

async function openOne({ url }: Target): Promise<Server> {
  const { protocol, hostname, port, username, password, pathname, searchParams } = new URL(url)
  requireProtocol(protocol)
  const { briefConnection } = await import('./brief-connection.ts')
  const { connection, close } = await briefConnection(
    {
      protocol,
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || 6379),
      path: pathname,
      username: username === '' ? undefined : decodeURIComponent(username),
      password: password === '' ? undefined : decodeURIComponent(password),
      database: Number(protocol === 'unix:' ? (searchParams.get('db') ?? 0) : pathname.slice(1)),
    },
    { connectWithinMs: CONNECT_WITHIN_MS, replyWithinMs: REPLY_WITHIN_MS },
  )
  return { connection, close: async () => close() }
}

function requireProtocol(protocol: string): asserts protocol is 'redis:' | 'rediss:' | 'unix:' {
  if (protocol !== 'redis:' && protocol !== 'rediss:' && protocol !== 'unix:')
    throw misused(`${protocol}// is no server’s URL: redis://, rediss:// or unix://`)
}

async function openTarget({ url, cluster = false, sentinel }: Target): Promise<Server> {
  const [
    { createClient, createCluster, createSentinel },
    { fromNodeRedis, fromNodeRedisCluster, fromNodeRedisSentinel },
  ] = await Promise.all([import('redis'), import('keyspec/node-redis')])
  const { protocol, hostname, port, username, password, pathname, searchParams } = new URL(url)
  const credentials = {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
  }
  const commandOptions = { timeout: REPLY_WITHIN_MS }
  if (protocol === 'unix:') {
    const database = Number(searchParams.get('db') ?? 0)
    const client = createClient({
      socket: { path: pathname, tls: false, ...patience() },
      database,
      ...credentials,
      commandOptions,
    })
    return connected(client, fromNodeRedis(client))
  }
  requireProtocol(protocol)
  if (sentinel !== undefined) {
    const { name, password: own } =
      typeof sentinel === 'string' ? { name: sentinel, password: undefined } : sentinel
    const client = createSentinel({
      name,
      sentinelRootNodes: [{ host: hostname, port: Number(port || 26379) }],
      nodeClientOptions: credentials,
      commandOptions,
      ...(own === undefined ? {} : { sentinelClientOptions: { password: own } }),
      reserveClient: true,
    })
    return connected(client, fromNodeRedisSentinel(client))
  }
  if (cluster) {
    const client = createCluster({
      rootNodes: [{ url: `${protocol}//${hostname}:${port || 6379}` }],
      defaults: { ...credentials, socket: { connectTimeout: CONNECT_WITHIN_MS } },
      commandOptions,
    })
    return connected(client, fromNodeRedisCluster(client))
  }
  const client = createClient({ url, socket: patience(), commandOptions })
  return connected(client, fromNodeRedis(client))
}

interface Client {
  on(event: 'error', heard: (error: unknown) => void): unknown
  connect(): Promise<unknown>
  destroy(): void
}

async function connected(client: Client, connection: Connection): Promise<Server> {
  // The client reports here what it also rejects its commands with.
  client.on('error', () => {})
  try {
    await client.connect()
    await connection.send(['PING'], { firstKey: 0, keyCount: 0 })
  } catch (error) {
    client.destroy()
    throw error
  }
  return {
    connection,
    close: async () => client.destroy(),
  }
}

/** Tries again for a while once it has been connected, and at once says no before. */
function patience() {
  let connectedOnce = false
  let downSince: number | undefined
  return {
    connectTimeout: CONNECT_WITHIN_MS,
    reconnectStrategy(retries: number, cause: Error) {
      if (retries === 0) downSince = Date.now()
      if (!connectedOnce && retries > 2) return cause
      connectedOnce = true
      return Date.now() - (downSince ?? 0) > RECONNECT_WITHIN_MS ? cause : Math.min(50 * 2 ** retries, 1_000)
    },
  }
}

/** The words of an error, or of those it gathers: an AggregateError of two refused addresses has none of its own. */
function causeOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reason).join(', ')
  return reason(error)
}
