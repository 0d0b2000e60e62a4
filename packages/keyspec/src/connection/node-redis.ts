import { SchemaError } from '../errors.ts'
import { withBuffers } from './argument.ts'
import {
  type Command,
  type Connection,
  firstKeyOf,
  type Reply,
  type Shape,
  type Subscriber,
} from './connection.ts'
import { Deadline } from './deadline.ts'
import { asResp2 } from './resp2.ts'
import { refusal } from './server-error.ts'

export { invalidationsFromNodeRedis, type NodeRedisInvalidator } from './invalidations-node-redis.ts'

/** The parts of a node-redis 6 client (`createClient`) that Keyspec uses. */
export interface NodeRedisClient {
  readonly isReady?: boolean
  sendCommand(args: readonly (string | Buffer)[], options?: object): Promise<unknown>
  withCommandOptions?(options: object): Pick<NodeRedisClient, 'sendCommand'>
}

/** The parts of a node-redis 6 sentinel (`createSentinel`) that Keyspec uses. */
export interface NodeRedisSentinel {
  sendCommand(isReadonly: boolean | undefined, args: (string | Buffer)[], options?: object): Promise<unknown>
}

/** The parts of a node-redis 6 cluster (`createCluster`) that Keyspec uses. */
export interface NodeRedisCluster {
  readonly masters: readonly object[]
  nodeClient(node: any): Promise<NodeRedisClient>
  sendCommand(
    firstKey: string | Buffer | undefined,
    isReadonly: boolean | undefined,
    args: (string | Buffer)[],
    options?: object,
  ): Promise<unknown>
}

/** The parts of a node-redis 6 client that a subscriber uses. */
export interface NodeRedisSubscriber {
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>
  unsubscribe(channel: string, listener: (message: string) => void): Promise<unknown>
}

/**
 * A connection over a client of node-redis 6, which stays yours: connect it before, and close it after.
 *
 * The client's `commandOptions.timeout` (5000 ms unless you said otherwise) is kept by one timer for all commands, where
 * node-redis would make one for each: a command that is not answered by then rejects with a `TimeoutError`.
 */
export function fromNodeRedis(client: NodeRedisClient): Connection {
  const deadline = deadlineOf(client)
  return nodeConnection(client, false, deadline)
}

/**
 * A connection over a node-redis 6 client of a Sentinel set, always to the master. Create it with `reserveClient: true`:
 * otherwise node-redis leases a connection for each command of a tick, one after another.
 */
export function fromNodeRedisSentinel(sentinel: NodeRedisSentinel): Connection {
  const deadline = deadlineOf(sentinel)
  const connection: Connection = {
    client: 'node-redis',
    cluster: false,
    send: (command, shape) =>
      answered(deadline, command, shape, (args, options) => sentinel.sendCommand(false, args, options)),
    masters: async () => [connection],
  }
  return connection
}

/** A connection over a node-redis 6 cluster client, which stays yours; reads go to masters too. */
export function fromNodeRedisCluster(cluster: NodeRedisCluster): Connection {
  const deadline = deadlineOf(cluster)
  let turn = 0
  return {
    client: 'node-redis',
    cluster: true,
    send(command, shape) {
      // As bytes where it came as bytes: another text would be of another slot.
      const key = firstKeyOf(command, shape) === undefined ? undefined : withBuffers(command)[shape.firstKey]
      return answered(deadline, command, shape, async (args, options) => {
        const { masters } = cluster
        if (key !== undefined || masters.length === 0) return cluster.sendCommand(key, false, args, options)
        // The cluster client would fan some of these out (PING, INFO) and sum up the replies.
        const node = await cluster.nodeClient(masters[turn++ % masters.length])
        return node.sendCommand(args, options)
      })
    },
    masters: () =>
      Promise.all(
        cluster.masters.map(async (node) => nodeConnection(await cluster.nodeClient(node), true, deadline)),
      ),
  }
}

/** A subscriber over a node-redis 6 client given for that purpose: connected, and used for nothing else. */
export function subscriberFromNodeRedis(client: NodeRedisSubscriber): Subscriber {
  return {
    async subscribe(channel, heard) {
      // node-redis knows a listener by identity, so that the same one twice would be one.
      const listener = (message: string) => heard(message)
      await client.subscribe(channel, listener)
      return async () => {
        await client.unsubscribe(channel, listener)
      }
    },
  }
}

const TYPES = { 44: String, 40: String, 37: Array, 126: Array } // double, big number, map, set
const ALL_BYTES = { ...TYPES, 36: Buffer, 43: Buffer, 61: Buffer } // bulk, simple and verbatim strings
const TEXT = { timeout: undefined, typeMapping: TYPES }
const BYTES = { timeout: undefined, typeMapping: ALL_BYTES }
// While there is no connection, the client's own timer also takes the command out of its queue.
const QUEUED_TEXT = { typeMapping: TYPES }
const QUEUED_BYTES = { typeMapping: ALL_BYTES }

function nodeConnection(client: NodeRedisClient, cluster: boolean, deadline: Deadline | undefined) {
  // Options that come with a call are merged with the client's each time, into an object that is slow to read.
  const text = client.withCommandOptions?.(TEXT)
  const bytes = client.withCommandOptions?.(BYTES)
  const send = (args: (string | Buffer)[], options: object) => {
    const isText = options === TEXT
    if (client.isReady === false) return client.sendCommand(args, isText ? QUEUED_TEXT : QUEUED_BYTES)
    const told = isText ? text : bytes
    return told === undefined ? client.sendCommand(args, options) : told.sendCommand(args)
  }
  const connection: Connection = {
    client: 'node-redis',
    cluster,
    send: (command, shape) => answered(deadline, command, shape, send),
    masters: async () => [connection],
  }
  return connection
}

function answered(
  deadline: Deadline | undefined,
  command: Command,
  shape: Shape,
  send: (args: (string | Buffer)[], options: object) => Promise<unknown>,
): Promise<Reply> {
  const bytes = shape.bytes === true
  return new Promise((resolve, reject) => {
    const waiting =
      deadline === undefined || shape.blocks === true
        ? undefined
        : deadline.enter(command[0] as string, reject)
    send(withBuffers(command), bytes ? BYTES : TEXT).then(
      (reply) => {
        if (waiting !== undefined) deadline!.leave(waiting)
        resolve(asResp2(reply, command, bytes))
      },
      (error: unknown) => {
        if (waiting !== undefined) deadline!.leave(waiting)
        reject(refusal(error, command, shape))
      },
    )
  })
}

/** What Keyspec reads of a client's settings: declared private, and `commandOptions` of a sentinel is not. */
interface Settings {
  readonly _keyPrefix?: string | Uint8Array
  readonly _commandOptions?: CommandOptions
  readonly commandOptions?: CommandOptions
}

interface CommandOptions {
  readonly timeout?: number | undefined
}

function deadlineOf(client: object): Deadline | undefined {
  const { _keyPrefix: prefix, _commandOptions, commandOptions } = client as Settings
  // Raw commands do not heed it: a client with one would find other keys than we do.
  if (prefix !== undefined && prefix.length > 0)
    throw new SchemaError(
      `this node-redis client has the keyPrefix "${String(prefix)}": create it without, and give the prefix to open()`,
    )
  const { timeout = 0 } = commandOptions ?? _commandOptions ?? { timeout: 5000 }
  return timeout > 0 ? new Deadline(timeout) : undefined
}
