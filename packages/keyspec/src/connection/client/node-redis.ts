import { SchemaError } from '../../errors.ts'
import { withBuffers } from './argument.ts'
import { madeOver } from '../client-of.ts'
import { type Connection, firstKeyOf, type Subscriber } from '../connection.ts'
import { boundOf, Deadline, type TimeoutOptions } from './deadline.ts'
import { type Flight, fly, type Route } from './flight.ts'
import { requireClient } from './given-client.ts'
import { keepClusterInOrder, keepInOrder } from './node-redis-order.ts'
import { QueueTicket } from './node-redis-ticket.ts'
import { replyOf } from './reply-form.ts'
import { refusal } from '../server-error.ts'

export type { TimeoutOptions } from './deadline.ts'
export {
  invalidationsFromNodeRedis,
  type NodeRedisInvalidator,
} from '../tracking/invalidations-node-redis.ts'

/** The parts of a client of node-redis 5 or 6 (`createClient`) that Keyspec uses. */
export interface NodeRedisClient {
  readonly isReady?: boolean
  sendCommand(args: readonly (string | Buffer)[], options?: object): Promise<unknown>
  withCommandOptions?(options: object): Pick<NodeRedisClient, 'sendCommand'>
}

/** The parts of a sentinel of node-redis 5 or 6 (`createSentinel`) that Keyspec uses. */
export interface NodeRedisSentinel {
  _execute(
    isReadonly: boolean | undefined,
    attempt: (client: Pick<NodeRedisClient, 'sendCommand'>) => Promise<unknown>,
  ): Promise<unknown>
}

/** The parts of a cluster of node-redis 5 or 6 (`createCluster`) that Keyspec uses. */
export interface NodeRedisCluster {
  readonly masters: readonly object[]
  readonly replicas?: readonly object[]
  nodeClient(node: any): Promise<NodeRedisClient>
  sendCommand(
    firstKey: string | Buffer | undefined,
    isReadonly: boolean | undefined,
    args: (string | Buffer)[],
    options?: object,
  ): Promise<unknown>
}

/** The parts of a client of node-redis 5 or 6 that a subscriber uses. */
export interface NodeRedisSubscriber {
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>
  unsubscribe(channel: string, listener: (message: string) => void): Promise<unknown>
}

/**
 * Returns a connection over a client of node-redis 5 or 6, which stays yours: connect it before, and close it after.
 *
 * The client's `commandOptions.timeout` (5000 ms by default in node-redis 6) is kept by one timer for all commands, where
 * node-redis would make one for each. What is not answered by then, or before the connection is lost, rejects with an
 * `UnknownOutcomeError`; what was not sent, with a `NotSentError`.
 * @throws SchemaError if the client has a keyPrefix, or is a pool, a cluster's or a sentinel's
 */
export function fromNodeRedis(client: NodeRedisClient, options: TimeoutOptions = {}): Connection {
  requireClient(client, {
    is: 'a client of node-redis 5 or 6',
    has: ['sendCommand'],
    unless: {
      nodeClient: 'a cluster’s: give it to fromNodeRedisCluster()',
      _execute: 'a sentinel’s: give it to fromNodeRedisSentinel()',
      execute:
        'a pool, whose connections let commands on one key overtake each other: give a client by itself',
      callBuffer: 'of ioredis: give it to fromIoredis()',
    },
  })
  return nodeConnection(client, false, deadlineOf(client, options))
}

/**
 * Returns a connection over a client of node-redis 5 or 6 of a Sentinel set, always to the master. Create it with
 * `reserveClient: true`: otherwise node-redis leases a connection for each command of a tick, one after another.
 *
 * node-redis repeats what was not answered when the master changes. Commands of Keyspec are not repeated: they reject with
 * an `UnknownOutcomeError`.
 * @throws SchemaError if the client has a keyPrefix
 */
export function fromNodeRedisSentinel(sentinel: NodeRedisSentinel, options: TimeoutOptions = {}): Connection {
  requireClient(sentinel, {
    is: 'a sentinel of node-redis 5 or 6',
    has: ['_execute'],
    unless: { nodeClient: 'a cluster’s: give it to fromNodeRedisCluster()' },
  })
  const deadline = deadlineOf(sentinel, options)
  const route: Route = {
    ...READS,
    async send(flight) {
      // Until the first attempt begins nothing was written.
      flight.maybeSent = false
      // `sendCommand` of a sentinel is this with an attempt that it repeats.
      const reply = await sentinel._execute(false, (client) => attemptOnce(client, flight))
      if (reply instanceof Lost) throw reply.error
      return reply
    },
  }
  const connection: Connection = {
    client: 'node-redis',
    cluster: false,
    send: (command, shape) => fly(route, deadline, command, shape),
    masters: async () => [connection],
  }
  return madeOver(sentinel, connection)
}

/**
 * Returns a connection over a cluster client of node-redis 5 or 6, which stays yours; reads go to masters too. Commands follow
 * redirections, and are not repeated otherwise.
 * @throws SchemaError if the client has a keyPrefix
 */
export function fromNodeRedisCluster(cluster: NodeRedisCluster, options: TimeoutOptions = {}): Connection {
  requireClient(cluster, { is: 'a cluster client of node-redis 5 or 6', has: ['nodeClient', 'sendCommand'] })
  const deadline = deadlineOf(cluster, options)
  keepClusterInOrder(cluster)
  const routeTo = (node: object): Route => ({
    ...CLUSTER_READS,
    send: async (flight) => {
      const client = await cluster.nodeClient(node)
      return client.sendCommand(withBuffers(flight.command), optionsOf(flight))
    },
  })
  let turn = 0
  const route: Route = {
    ...CLUSTER_READS,
    send(flight) {
      const { command, shape } = flight
      const args = withBuffers(command)
      const { masters } = cluster
      // As bytes where it came as bytes: another text would be of another slot.
      const key = firstKeyOf(command, shape) === undefined ? undefined : args[shape.firstKey]
      if (key !== undefined || masters.length === 0)
        return cluster.sendCommand(key, false, args, optionsOf(flight))
      // The cluster client would fan some of these out (PING, INFO) and sum up the replies.
      return routeTo(masters[turn++ % masters.length]!).send(flight)
    },
  }
  return {
    client: 'node-redis',
    cluster: true,
    send: (command, shape) => fly(route, deadline, command, shape),
    masters: async () =>
      cluster.masters.map((node) => {
        const route = routeTo(node)
        const connection: Connection = {
          client: 'node-redis',
          cluster: true,
          send: (command, shape) => fly(route, deadline, command, shape),
          masters: async () => [connection],
        }
        return connection
      }),
  }
}

/** A subscriber over a client of node-redis 5 or 6 given for that purpose: connected, and used for nothing else. */
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
// The deadline keeps the time; a timer of node-redis for each command would cost more than the command.
const TEXT = { timeout: undefined, typeMapping: TYPES }
const BYTES = { timeout: undefined, typeMapping: ALL_BYTES }

const optionsOf = ({ shape }: Flight) => (shape.bytes === true ? BYTES : TEXT)

const READS: Pick<Route, 'reply' | 'refusal' | 'isUnsent'> = {
  reply: (reply, command, shape) => replyOf('node-redis', reply, command, shape),
  refusal: (error, command, shape) => refusal(error, command, shape),
  isUnsent: (error) => error instanceof Error && UNSENT.test(error.message),
}

const CLUSTER_READS: typeof READS = {
  ...READS,
  refusal: (error, command, shape) => refusal(error, command, shape, { follows: true }),
}

/** The end of a command that may have been done: a value, since a sentinel of node-redis follows an error with another attempt. */
class Lost {
  readonly error: Error

  constructor(error: Error) {
    this.error = error
  }
}

/** Sends a command to the master. It may be attempted again if it was not written, or if the server refused it. */
async function attemptOnce(client: Pick<NodeRedisClient, 'sendCommand'>, flight: Flight): Promise<unknown> {
  const { command, shape } = flight
  keepInOrder(client)
  const abortSignal = new QueueTicket(flight)
  try {
    return await client.sendCommand(withBuffers(command), { ...optionsOf(flight), abortSignal })
  } catch (error) {
    const wasRefused = refusal(error, command, shape) !== error
    if (flight.settled || (flight.maybeSent && !wasRefused)) return new Lost(error as Error)
    throw error
  }
}

/** The words with which node-redis declines a command before it queues it. */
const UNSENT = /^The (client is (closed|offline)|queue is full)$/

function nodeConnection(client: NodeRedisClient, cluster: boolean, deadline: Deadline): Connection {
  keepInOrder(client)
  const text = clientWith(client, TEXT)
  const bytes = clientWith(client, BYTES)
  const route: Route = {
    ...READS,
    send(flight) {
      const args = withBuffers(flight.command)
      const options = optionsOf(flight)
      // While there is no connection it waits in a queue, which it has to leave when it is given up.
      if (client.isReady === false)
        return client.sendCommand(args, { ...options, abortSignal: new QueueTicket(flight) })
      const told = options === TEXT ? text : bytes
      return told === undefined ? client.sendCommand(args, options) : told.sendCommand(args)
    },
  }
  const connection: Connection = {
    client: 'node-redis',
    cluster,
    send: (command, shape) => fly(route, deadline, command, shape),
    masters: async () => [connection],
  }
  return madeOver(selfOf(client), connection)
}

/** The client itself: `withTypeMapping` and its like return another object over the same socket. */
function selfOf(client: NodeRedisClient): object {
  return (client as { readonly _self?: object })._self ?? client
}

/**
 * The client with these options, if its raw commands heed them. Options that come with a call are merged with the client's
 * each time, into an object that is slow to read. node-redis 5 keeps the very object, and its raw commands never look at it.
 */
function clientWith(
  client: NodeRedisClient,
  options: object,
): Pick<NodeRedisClient, 'sendCommand'> | undefined {
  const told = client.withCommandOptions?.(options)
  return told === undefined || (told as Settings)._commandOptions === options ? undefined : told
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

function deadlineOf(client: object, options: TimeoutOptions): Deadline {
  const { _keyPrefix: prefix, _commandOptions, commandOptions } = client as Settings
  // Raw commands do not heed it: a client with one would find other keys than we do.
  if (prefix !== undefined && prefix.length > 0)
    throw new SchemaError(
      `this node-redis client has the keyPrefix "${String(prefix)}": create it without, and give the prefix to open()`,
    )
  return new Deadline(boundOf(options, (commandOptions ?? _commandOptions)?.timeout))
}
