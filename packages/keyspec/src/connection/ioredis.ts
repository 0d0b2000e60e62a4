import { reason, SchemaError } from '../errors.ts'
import { withBuffers } from './argument.ts'
import {
  type Command,
  type Connection,
  firstKeyOf,
  type Reply,
  type Shape,
  type Subscriber,
} from './connection.ts'
import { asResp2 } from './resp2.ts'
import { refusal } from './server-error.ts'

export { invalidationsFromIoredis, type IoredisInvalidator } from './invalidations-ioredis.ts'

/** What Keyspec reads of an ioredis client's settings. */
interface Settings {
  readonly keyPrefix?: string | undefined
  readonly stringNumbers?: boolean | undefined
  readonly replyMapping?: string | undefined
}

/** The parts of an ioredis 6 client (`new Redis`, Sentinel or not) that Keyspec uses. */
export interface IoredisClient {
  readonly options?: Settings
  call(command: string, args: (string | Buffer)[]): Promise<unknown>
  callBuffer(command: string, args: (string | Buffer)[]): Promise<unknown>
}

/** The parts of an ioredis 6 cluster client (`new Cluster`) that Keyspec uses. */
export interface IoredisCluster {
  readonly options?: Settings & { readonly redisOptions?: Settings | undefined }
  call(command: string, args: (string | Buffer)[]): Promise<unknown>
  callBuffer(command: string, args: (string | Buffer)[]): Promise<unknown>
  nodes(role: 'master'): IoredisClient[]
}

/** The parts of an ioredis 6 client that a subscriber uses. */
export interface IoredisSubscriber {
  subscribe(channel: string): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  on(event: 'message', listener: (channel: string, message: string) => void): unknown
  off(event: 'message', listener: (channel: string, message: string) => void): unknown
}

/**
 * A connection over a client of ioredis 6, Sentinel or not, which stays yours. Its time limits are the client's own
 * (`commandTimeout`), and so is what happens when the connection is lost: by default ioredis sends again what was not answered.
 */
export function fromIoredis(redis: IoredisClient): Connection {
  check(redis.options)
  return nodeConnection(redis, false)
}

/** A connection over a cluster client of ioredis 6, which stays yours. */
export function fromIoredisCluster(cluster: IoredisCluster): Connection {
  check(cluster.options)
  check(cluster.options?.redisOptions)
  let turn = 0
  return {
    client: 'ioredis',
    dear: true,
    cluster: true,
    send(command, shape) {
      if (firstKeyOf(command, shape) !== undefined) return call(cluster, command, shape)
      const masters = cluster.nodes('master')
      return call(masters[turn++ % masters.length] ?? cluster, command, shape)
    },
    async masters() {
      // Before it is connected it knows of none: any command waits until it is.
      if (cluster.nodes('master').length === 0) await cluster.call('PING', [])
      return cluster.nodes('master').map((node) => nodeConnection(node, true))
    },
  }
}

/** A subscriber over an ioredis 6 client given for that purpose: once it listens it can do nothing else. */
export function subscriberFromIoredis(redis: IoredisSubscriber): Subscriber {
  const listening = new Map<string, number>()
  return {
    async subscribe(channel, heard) {
      const listener = (from: string, message: string) => {
        if (from === channel) heard(message)
      }
      redis.on('message', listener)
      listening.set(channel, (listening.get(channel) ?? 0) + 1)
      const stop = async () => {
        redis.off('message', listener)
        const others = listening.get(channel)! - 1
        listening.set(channel, others)
        if (others === 0) await redis.unsubscribe(channel)
      }
      try {
        await redis.subscribe(channel)
      } catch (error) {
        await stop().catch(() => {})
        throw error
      }
      let stopped: Promise<void> | undefined
      return () => (stopped ??= stop())
    },
  }
}

function nodeConnection(redis: IoredisClient, cluster: boolean): Connection {
  const connection: Connection = {
    client: 'ioredis',
    dear: true,
    cluster,
    send: (command, shape) => call(redis, command, shape),
    masters: async () => [connection],
  }
  return connection
}

async function call(
  redis: Pick<IoredisClient, 'call' | 'callBuffer'>,
  command: Command,
  shape: Shape,
): Promise<Reply> {
  // As one array: spread, a long command would overflow the stack.
  const [name, ...args] = withBuffers(command) as [string, ...(string | Buffer)[]]
  const bytes = shape.bytes === true
  try {
    const reply = await (bytes ? redis.callBuffer(name, args) : redis.call(name, args))
    return asResp2(reply, command, bytes)
  } catch (error) {
    throw refusal(error, command, shape, lastWords(error))
  }
}

/** A cluster client that gave up repeating a command has the server's words at the end of its own. */
function lastWords(error: unknown): string | undefined {
  return /Last error: ReplyError: (.*)$/s.exec(reason(error))?.[1]
}

function check({ keyPrefix, stringNumbers, replyMapping }: Settings = {}): void {
  if (keyPrefix !== undefined && keyPrefix !== '')
    throw new SchemaError(
      `this ioredis client has the keyPrefix "${keyPrefix}": create it without, and give the prefix to open()`,
    )
  if (stringNumbers === true)
    throw new SchemaError(
      'this ioredis client has stringNumbers: create it without, since counts are numbers',
    )
  if (replyMapping === 'resp3')
    throw new SchemaError(
      "this ioredis client has replyMapping 'resp3', which loses fields that are not UTF-8: create it without",
    )
}
