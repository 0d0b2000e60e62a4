import { reason, SchemaError } from '../../errors.ts'
import { madeOver } from '../client-of.ts'
import { type Connection, firstKeyOf, NO_KEY, type Subscriber } from '../connection.ts'
import { boundOf, Deadline, type TimeoutOptions } from './deadline.ts'
import { fly, type Route } from './flight.ts'
import { requireClient } from './given-client.ts'
import { type IoredisSender, onceOver } from './ioredis-command.ts'
import { replyOf } from './reply-form.ts'
import { refusal } from '../server-error.ts'

export type { TimeoutOptions } from './deadline.ts'

export { invalidationsFromIoredis, type IoredisInvalidator } from '../tracking/invalidations-ioredis.ts'

/** What Keyspec reads of an ioredis client's settings. */
interface Settings {
  readonly keyPrefix?: string | undefined
  readonly stringNumbers?: boolean | undefined
  readonly replyMapping?: string | undefined
  readonly commandTimeout?: number | undefined
}

/** The parts of a client of ioredis 5 or 6 (`new Redis`, Sentinel or not) that Keyspec uses. */
export interface IoredisClient extends IoredisSender {
  readonly options?: Settings
}

/** The parts of a cluster client of ioredis 5 or 6 (`new Cluster`) that Keyspec uses. */
export interface IoredisCluster extends IoredisSender {
  readonly options?: Settings & { readonly redisOptions?: Settings | undefined }
  nodes(role: 'master'): IoredisClient[]
}

/** The parts of a client of ioredis 5 or 6 that a subscriber uses. */
export interface IoredisSubscriber {
  subscribe(channel: string): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  on(event: 'message', listener: (channel: string, message: string) => void): unknown
  off(event: 'message', listener: (channel: string, message: string) => void): unknown
}

/**
 * Returns a connection over a client of ioredis 5 or 6, Sentinel or not, which stays yours.
 *
 * Each command is sent at most once, whatever the client's settings: what was not answered before the connection was lost
 * rejects with an `UnknownOutcomeError`, and what was not sent with a `NotSentError`. Your own commands over the client are
 * not affected. Commands of Keyspec do not take part in `enableAutoPipelining`.
 * @throws SchemaError if the client changes keys or replies, is a cluster's, or is no client of ioredis
 */
export function fromIoredis(redis: IoredisClient, options: TimeoutOptions = {}): Connection {
  requireClient(redis, {
    is: CLIENT,
    has: SENDS,
    unless: { ...PIPELINE, nodes: 'a cluster’s: give it to fromIoredisCluster()' },
  })
  check(redis.options)
  return nodeConnection(redis, false, new Deadline(boundOf(options, redis.options?.commandTimeout)))
}

/**
 * Returns a connection over a cluster client of ioredis 5 or 6, which stays yours; each command is sent at most once, as with
 * `fromIoredis`, and follows redirections.
 * @throws SchemaError if the client changes keys or replies, or is no client of ioredis
 */
export function fromIoredisCluster(cluster: IoredisCluster, options: TimeoutOptions = {}): Connection {
  requireClient(cluster, { is: CLUSTER, has: ['nodes', ...SENDS], unless: PIPELINE })
  const { options: settings } = cluster
  check(settings)
  check(settings?.redisOptions)
  const own = settings?.redisOptions?.commandTimeout ?? settings?.commandTimeout
  const deadline = new Deadline(boundOf(options, own))
  const whole = routeOver(cluster, true)
  const routes = new WeakMap<IoredisClient, Route>()
  const routeTo = (node: IoredisClient) => {
    let route = routes.get(node)
    if (route === undefined) routes.set(node, (route = routeOver(node, true)))
    return route
  }
  let turn = 0
  return {
    client: 'ioredis',
    dear: true,
    cluster: true,
    send(command, shape) {
      if (firstKeyOf(command, shape) !== undefined) return fly(whole, deadline, command, shape)
      const masters = cluster.nodes('master')
      const node = masters[turn++ % masters.length]
      return fly(node === undefined ? whole : routeTo(node), deadline, command, shape)
    },
    async masters() {
      // Before it is connected it knows of none: any command waits until it is.
      if (cluster.nodes('master').length === 0) await fly(whole, deadline, ['PING'], NO_KEY)
      return cluster.nodes('master').map((node) => nodeConnection(node, true, deadline))
    },
  }
}

/** A subscriber over a client of ioredis 5 or 6 given for that purpose: once it listens it can do nothing else. */
export function subscriberFromIoredis(redis: IoredisSubscriber): Subscriber {
  const listening = new Map<string, Set<(message: string) => void>>()
  // One for all: Node warns of more than ten listeners, and ioredis would call each for every message.
  const hear = (channel: string, message: string) => {
    for (const heard of listening.get(channel) ?? []) heard(message)
  }
  return {
    async subscribe(channel, heard) {
      const listener = (message: string) => heard(message)
      if (listening.size === 0) redis.on('message', hear)
      const others = listening.get(channel) ?? new Set()
      listening.set(channel, others.add(listener))
      const stop = async () => {
        others.delete(listener)
        if (others.size > 0) return
        listening.delete(channel)
        if (listening.size === 0) redis.off('message', hear)
        await redis.unsubscribe(channel)
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

const CLIENT = 'a client of ioredis 5 or 6'
const CLUSTER = 'a cluster client of ioredis 5 or 6'
const SENDS = ['sendCommand', 'call', 'callBuffer']
const PIPELINE = { addBatch: 'a pipeline, which sends nothing until it is executed: give the client itself' }

function nodeConnection(redis: IoredisClient, cluster: boolean, deadline: Deadline): Connection {
  const route = routeOver(redis, cluster)
  const connection: Connection = {
    client: 'ioredis',
    dear: true,
    cluster,
    send: (command, shape) => fly(route, deadline, command, shape),
    masters: async () => [connection],
  }
  return madeOver(redis, connection)
}

function routeOver(redis: IoredisSender, cluster: boolean): Route {
  return {
    send: onceOver(redis),
    reply: (reply, command, shape) => replyOf('ioredis', reply, command, shape),
    refusal: (error, command, shape) =>
      refusal(withoutArguments(error), command, shape, { words: lastWords(error), follows: cluster }),
  }
}

/** ioredis keeps the command with its error, so a program that logs the error would log its values. */
function withoutArguments(error: unknown): unknown {
  const said = error as { command?: { readonly name?: unknown; readonly args?: unknown } } | undefined
  if (said?.command?.args !== undefined) said.command = { name: said.command.name }
  return error
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
