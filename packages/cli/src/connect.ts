import { type Connection, ServerError } from 'keyspec'
import { type Address, addressOf, placeOf } from './address.ts'
import type { Config, SentinelOptions } from './config/config.ts'
import { Failure, misused, reason, UnreachableError } from './failure.ts'

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
  const url = urlOf(flags, env) ?? config.url
  if (url === undefined)
    throw misused('no server is named: give --url, set REDIS_URL, or say url in keyspec.config.ts')
  return {
    url,
    cluster: flags.cluster ?? config.cluster,
    sentinel: flags.sentinel ?? config.sentinel,
  }
}

/** The server of the flags, else of the environment. An empty REDIS_URL names none. */
export function urlOf(
  flags: { readonly url?: string | undefined },
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  return flags.url ?? (env['REDIS_URL'] || undefined)
}

/**
 * Refuses a connection to one node of a cluster: what looks at keys would leave out those of all other nodes, without a word.
 * A user that may not ask is let through.
 */
export async function requireWhole(connection: Connection, flag: string): Promise<void> {
  if (connection.cluster) return
  try {
    const info = await connection.send(['INFO', 'cluster'], { firstKey: 0, keyCount: 0 })
    if (!/^cluster_enabled:1\b/m.test(String(info))) return
  } catch (error) {
    if (error instanceof ServerError) return
    throw error
  }
  throw misused(
    `the server is a node of a cluster, and the keys of all other nodes would be left out: give ${flag}`,
  )
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

async function reached(
  target: Target,
  open: (address: Address, target: Target) => Promise<Server>,
): Promise<Server> {
  const { url, cluster = false, sentinel } = target
  const address = addressOf(url, sentinel === undefined ? undefined : SENTINEL_PORT)
  if (address.protocol === 'unix:' && (cluster || sentinel !== undefined))
    throw misused('a cluster and a Sentinel are named by redis:// or rediss://, not by a unix socket')
  if (address.database !== 0 && cluster) throw misused('a cluster has database 0 alone')
  try {
    return await open(address, target)
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new UnreachableError(`${placeOf(url)} cannot be reached: ${causeOf(error)}`, error)
  }
}

const SENTINEL_PORT = 26379
const CONNECT_WITHIN_MS = 5_000
// For all that comes before the first answer: a few attempts, TLS, the password, a PING.
const ANSWER_WITHIN_MS = 10_000
// A server that restarts is back within this; longer, and somebody should look.
const RECONNECT_WITHIN_MS = 10_000
const REPLY_WITHIN_MS = 60_000

async function openOne(address: Address): Promise<Server> {
  const { briefConnection } = await import('./brief-connection.ts')
  const { connection, close } = await briefConnection(address, {
    connectWithinMs: CONNECT_WITHIN_MS,
    replyWithinMs: REPLY_WITHIN_MS,
  })
  return { connection, close: async () => close() }
}

async function openTarget(address: Address, { cluster = false, sentinel }: Target): Promise<Server> {
  const [
    { createClient, createCluster, createSentinel },
    { fromNodeRedis, fromNodeRedisCluster, fromNodeRedisSentinel },
  ] = await Promise.all([import('redis'), import('keyspec/node-redis')])
  const { protocol, hostname: host, port, path, username, password, database } = address
  const credentials = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  }
  const commandOptions = { timeout: REPLY_WITHIN_MS }
  // What a Sentinel or a node of a cluster names is asked as it is itself.
  const socket = protocol === 'rediss:' ? ({ tls: true } as const) : {}
  if (sentinel !== undefined) {
    const { name, password: own } =
      typeof sentinel === 'string' ? { name: sentinel, password: undefined } : sentinel
    const client = createSentinel({
      name,
      sentinelRootNodes: [{ host, port }],
      nodeClientOptions: { ...credentials, database, socket },
      commandOptions,
      sentinelClientOptions: { ...(own === undefined ? {} : { password: own }), socket },
      reserveClient: true,
    })
    return connected(client, fromNodeRedisSentinel(client))
  }
  if (cluster) {
    const client = createCluster({
      rootNodes: [{ socket: { host, port, ...socket } }],
      defaults: { ...credentials, socket: { connectTimeout: CONNECT_WITHIN_MS, ...socket } },
      commandOptions,
    })
    return connected(client, fromNodeRedisCluster(client))
  }
  const place = protocol === 'unix:' ? ({ path, tls: false } as const) : { host, port, ...socket }
  const { up, ...reconnecting } = patience()
  const client = createClient({
    socket: { ...place, ...reconnecting },
    ...credentials,
    database,
    commandOptions,
  })
  client.on('ready', up)
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
    await answered(async () => {
      await client.connect()
      await connection.send(['PING'], { firstKey: 0, keyCount: 0 })
    })
  } catch (error) {
    client.destroy()
    throw error
  }
  return {
    connection,
    close: async () => client.destroy(),
  }
}

/** Waits for the first answer. A server may accept a connection and never say a word. */
async function answered(work: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const fail = () => reject(new Error(`no answer within ${ANSWER_WITHIN_MS / 1000} s`))
    // oxlint-disable-next-line no-restricted-globals -- some seconds; the library’s timers are not exported
    timer = setTimeout(fail, ANSWER_WITHIN_MS)
  })
  try {
    await Promise.race([work(), late])
  } finally {
    clearTimeout(timer)
  }
}

/** Reconnects for a while if the connection was up; before that, gives up after three quick tries. */
function patience() {
  const begunAt = performance.now()
  let wasUp = false
  let downSince = begunAt
  return {
    up: () => void (wasUp = true),
    connectTimeout: CONNECT_WITHIN_MS,
    reconnectStrategy(retries: number, cause: Error) {
      if (retries === 0) downSince = wasUp ? performance.now() : begunAt
      const isOver = performance.now() - downSince > (wasUp ? RECONNECT_WITHIN_MS : CONNECT_WITHIN_MS / 2)
      return isOver || (!wasUp && retries > 2) ? cause : Math.min(50 * 2 ** retries, 1_000)
    },
  }
}

/** The words of an error, or of those it gathers: an AggregateError of two refused addresses has none of its own. */
function causeOf(error: unknown): string {
  // The first PING had no answer: the client says why.
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown }
  if (code === 'E_UNKNOWN_OUTCOME' || code === 'E_NOT_SENT') return causeOf(cause)
  if (error instanceof AggregateError) return error.errors.map(reason).join(', ')
  const words = reason(error)
  if (/\bNOAUTH\b/.test(words)) return `it asks for a password: ${PASSWORD}`
  return /\bWRONGPASS\b/.test(words) ? `it refused the user or the password: ${PASSWORD}` : words
}

const PASSWORD = 'give both in the URL, redis://user:password@host:port (or redis://:password@host:port)'
