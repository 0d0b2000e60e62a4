import { withBuffers } from './argument.ts'
import { madeOver } from '../client-of.ts'
import { type Command, type Connection, firstKeyOf, NO_KEY, type Shape } from '../connection.ts'
import { boundOf, Deadline, DEFAULT_MS, type TimeoutOptions } from './deadline.ts'
import { type Flight, fly, type Route } from './flight.ts'
import { requireClient } from './given-client.ts'
import { glideReply } from './glide-reply.ts'
import { inTransaction } from './queued.ts'
import { refused } from '../server-error.ts'
import { Window } from './window.ts'

export type { TimeoutOptions } from './deadline.ts'

/** The parts of a client of Valkey GLIDE 2 (`GlideClient`) that Keyspec uses. */
export interface GlideClient {
  customCommand(args: (string | Buffer)[], options?: { decoder?: number }): Promise<unknown>
}

/** The parts of a cluster client of Valkey GLIDE 2 (`GlideClusterClient`) that Keyspec uses. */
export interface GlideClusterClient {
  customCommand(
    args: (string | Buffer)[],
    options?: { decoder?: number; route?: GlideRoute },
  ): Promise<unknown>
}

/** Where GLIDE sends a command. */
export type GlideRoute =
  | { type: 'primarySlotKey'; key: string }
  | { type: 'primarySlotId'; id: number }
  | { type: 'routeByAddress'; host: string; port: number }

/**
 * Returns a connection over a client of Valkey GLIDE 2, which stays yours. The client's `requestTimeout` (250 ms by default)
 * applies too, and one above 5 s replaces the default of `timeout`. What is not answered by then, or before the connection is
 * lost, rejects with an `UnknownOutcomeError`; what was not sent, with a `NotSentError`. There is no subscriber for GLIDE: it
 * names its channels when it is created.
 * @throws SchemaError if the client is a cluster's, or no client of GLIDE
 */
export function fromGlide(client: GlideClient, options: TimeoutOptions = {}): Connection {
  requireClient(client, {
    is: 'a client of Valkey GLIDE 2',
    has: ['customCommand'],
    unless: { fcallWithRoute: 'a cluster’s: give it to fromGlideCluster()' },
  })
  const window = new Window(IN_ORDER)
  const deadline = deadlineOf(client, options)
  const route: Route = {
    ...readsOf(false),
    send: (flight) => inTurn(window, flight, () => client.customCommand(withBuffers(flight.command), BYTES)),
  }
  const connection: Connection = {
    client: 'glide',
    dear: true,
    cluster: false,
    send: (command, shape) => fly(route, deadline, command, shape),
    masters: async () => [connection],
  }
  return madeOver(client, connection)
}

/** Returns a connection over a cluster client of Valkey GLIDE 2, which stays yours, as `fromGlide`; reads go to masters too. */
export function fromGlideCluster(client: GlideClusterClient, options: TimeoutOptions = {}): Connection {
  requireClient(client, {
    is: 'a cluster client of Valkey GLIDE 2',
    has: ['customCommand', 'fcallWithRoute'],
  })
  const window = new Window(IN_ORDER)
  const deadline = deadlineOf(client, options)
  const routeBy = (address: (command: Command, shape: Shape) => GlideRoute): Route => ({
    ...readsOf(true),
    send: (flight) =>
      inTurn(window, flight, () =>
        client.customCommand(withBuffers(flight.command), {
          ...BYTES,
          route: address(flight.command, flight.shape),
        }),
      ),
  })
  let turn = 0
  const bySlot = routeBy((command, shape) => {
    const key = firstKeyOf(command, shape)
    if (key !== undefined) return { type: 'primarySlotKey', key }
    turn = (turn + 5461) % 16384 // a third of all slots: most likely another master
    return { type: 'primarySlotId', id: turn }
  })
  return {
    client: 'glide',
    dear: true,
    cluster: true,
    send: (command, shape) => fly(bySlot, deadline, command, shape),
    async masters() {
      const reply = await fly(bySlot, deadline, ['CLUSTER', 'SLOTS'], NO_KEY)
      const slots = reply as [number, number, [string, number]][]
      const addresses = new Map(slots.map(([, , [host, port]]) => [`${host}:${port}`, { host, port }]))
      return Array.from(addresses.values(), ({ host, port }) => {
        const toNode = routeBy(() => ({ type: 'routeByAddress', host, port }))
        const connection: Connection = {
          client: 'glide',
          dear: true,
          cluster: true,
          send: (command, shape) => fly(toNode, deadline, command, shape),
          masters: async () => [connection],
        }
        return connection
      })
    },
  }
}

// As text GLIDE refuses replies that are not UTF-8 after the command was done: an LPOP would lose the element.
const BYTES = { decoder: 0 }

// GLIDE's core passes requests on through a channel of 50. Those that find it full are overtaken by later ones that do
// not, so more than this at a time may arrive in another order. It also refuses more than 1,000.
const IN_ORDER = 50

/**
 * GLIDE itself keeps its limit for each command that it is given. Many wait for their turn before, so a limit of 250 ms is
 * none for them, but one that is longer than the default counts.
 */
function deadlineOf(client: object, options: TimeoutOptions): Deadline {
  const { requestTimeout = 0 } = client as { readonly requestTimeout?: number }
  return new Deadline(boundOf(options, requestTimeout > DEFAULT_MS ? requestTimeout : undefined))
}

/** Starts a command when its turn comes; one that was given up before is not sent. */
function inTurn(window: Window, flight: Flight, start: () => Promise<unknown>): Promise<unknown> {
  flight.maybeSent = false
  return window.run(() => {
    if (flight.settled) return GIVEN_UP
    flight.maybeSent = true
    return start()
  })
}

const GIVEN_UP = Promise.resolve(null)

const readsOf = (cluster: boolean): Pick<Route, 'reply' | 'refusal' | 'isUnsent'> => ({
  reply: (reply, command, shape) => glideReply(reply, command, shape.bytes === true),
  refusal(error, command, shape) {
    if (error instanceof Error && QUEUED.test(error.message)) return inTransaction(command, shape)
    const reply = error instanceof Error ? serverWords(error.message) : undefined
    return reply === undefined ? error : refused(reply, command, shape, { cause: error, follows: cluster })
  },
  isUnsent: (error) => error instanceof Error && error.message.startsWith('Unable to execute requests; the'),
})

/** GLIDE converts some replies by itself, and refuses the status of a transaction in words of its own. */
const QUEUED = /^Response .*\(response was (?:simple-string\("QUEUED"\)|"SimpleString")\)$/s

const CODES: Readonly<Record<string, string>> = {
  ResponseError: 'ERR',
  BusyLoadingError: 'LOADING',
  PermissionDenied: 'NOPERM',
}

/**
 * GLIDE names errors in words of its own, `NoScriptError: No matching …`, or cuts them, `WRONGTYPE: Operation …`, and where
 * Redis 6.2 gives the place in a script, `@user_script:: 6: …`.
 */
function serverWords(message: string): string | undefined {
  const [, kind, words] = /^An error was signalled by the server: - (\w+): (.*)$/s.exec(message) ?? []
  if (kind !== undefined) return `${CODES[kind] ?? kind.replace(/Error$/, '').toUpperCase()} ${words!}`
  const [, code, rest] = /^([A-Z][A-Z0-9_]+|@user_script:): (.*)$/s.exec(message) ?? []
  return code === undefined ? undefined : `${code} ${rest!}`
}
