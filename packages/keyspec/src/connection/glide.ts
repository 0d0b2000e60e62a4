import { withBuffers } from './argument.ts'
import { type Command, type Connection, firstKeyOf, NO_KEY, type Reply, type Shape } from './connection.ts'
import { glideReply } from './glide-reply.ts'
import { refused } from './server-error.ts'
import { Window } from './window.ts'

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
 * A connection over a client of Valkey GLIDE 2, which stays yours. Its time limits are the client's own
 * (`requestTimeout`). There is no subscriber for GLIDE: it names its channels when it is created.
 */
export function fromGlide(client: GlideClient): Connection {
  const window = new Window(IN_ORDER)
  const connection: Connection = {
    client: 'glide',
    dear: true,
    cluster: false,
    send: (command, shape) =>
      answered(
        window.run(() => client.customCommand(withBuffers(command), BYTES)),
        command,
        shape,
      ),
    masters: async () => [connection],
  }
  return connection
}

/** A connection over a cluster client of Valkey GLIDE 2, which stays yours; reads go to masters too. */
export function fromGlideCluster(client: GlideClusterClient): Connection {
  const window = new Window(IN_ORDER)
  let turn = 0
  const routed = (command: Command, shape: Shape, route: GlideRoute) =>
    answered(
      window.run(() => client.customCommand(withBuffers(command), { ...BYTES, route })),
      command,
      shape,
    )
  const send = (command: Command, shape: Shape) => {
    const key = firstKeyOf(command, shape)
    if (key !== undefined) return routed(command, shape, { type: 'primarySlotKey', key })
    turn = (turn + 5461) % 16384 // a third of all slots: most likely another master
    return routed(command, shape, { type: 'primarySlotId', id: turn })
  }
  return {
    client: 'glide',
    dear: true,
    cluster: true,
    send,
    async masters() {
      const slots = (await send(['CLUSTER', 'SLOTS'], NO_KEY)) as [number, number, [string, number]][]
      const addresses = new Map(slots.map(([, , [host, port]]) => [`${host}:${port}`, { host, port }]))
      return Array.from(addresses.values(), ({ host, port }) => {
        const route: GlideRoute = { type: 'routeByAddress', host, port }
        const connection: Connection = {
          client: 'glide',
          dear: true,
          cluster: true,
          send: (command, shape) => routed(command, shape, route),
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

async function answered(replying: Promise<unknown>, command: Command, shape: Shape): Promise<Reply> {
  try {
    return glideReply(await replying, command, shape.bytes === true)
  } catch (error) {
    const reply = error instanceof Error ? serverWords(error.message) : undefined
    throw reply === undefined ? error : refused(reply, command, shape, error)
  }
}

const CODES: Readonly<Record<string, string>> = {
  ResponseError: 'ERR',
  BusyLoadingError: 'LOADING',
  PermissionDenied: 'NOPERM',
}

/** GLIDE names errors in words of its own, `NoScriptError: No matching …`, or cuts them, `WRONGTYPE: Operation …`. */
function serverWords(message: string): string | undefined {
  const [, kind, words] = /^An error was signalled by the server: - (\w+): (.*)$/s.exec(message) ?? []
  if (kind !== undefined) return `${CODES[kind] ?? kind.replace(/Error$/, '').toUpperCase()} ${words!}`
  const [, code, rest] = /^([A-Z][A-Z0-9_]+): (.*)$/s.exec(message) ?? []
  return code === undefined ? undefined : `${code} ${rest!}`
}
