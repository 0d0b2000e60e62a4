import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, connect, type NetConnectOpts, type Socket } from 'node:net'

/** What a proxy withholds: what clients ask (`requests`) or what the server answers (`replies`). */
export type Direction = 'requests' | 'replies'

/** A proxy in front of a server, which breaks the connection in the ways that networks do. */
export interface Proxy extends AsyncDisposable {
  /** What a client connects to in place of the server. */
  readonly url: string
  /** The port on 127.0.0.1, when the server has one. */
  readonly port: number | undefined
  /** The socket, when the server has one and no port. */
  readonly socket: string | undefined
  /** How many connections are open. */
  readonly connections: number
  /** How many have ever been opened: shows whether a client has connected again. */
  readonly accepted: number
  /** Ends all connections at once; new ones are accepted. */
  cut(): void
  /** Accepts no new connections; open ones go on. */
  refuse(): void
  /**
   * Forwards no more in one direction, on open and on new connections. `stall('replies')`, a write, then `cut()`: the
   * write has happened and its reply is lost.
   */
  stall(direction: Direction): void
  /** Accepts and forwards again, what was withheld first. */
  restore(): Promise<void>
  /** Ends all connections and stops listening. */
  stop(): Promise<void>
}

/** Starts a proxy in front of a server; it listens as the server does, on a loopback port or a unix socket. */
export async function startProxy(target: { readonly url: string }): Promise<Proxy> {
  const { protocol, pathname, port: targetPort } = new URL(target.url)
  const overSocket = protocol === 'unix:'
  const upstreamAddress: NetConnectOpts = overSocket
    ? { path: pathname }
    : { host: '127.0.0.1', port: Number(targetPort) }
  // Beside the server's own socket, in the directory that goes when the server does.
  const socket = overSocket ? `${pathname}.${randomBytes(3).toString('hex')}` : undefined
  const pairs = new Set<Pair>()
  const stalled = new Set<Direction>()
  let accepted = 0
  let port: number | undefined

  const server = createServer((client) => {
    const pair: Pair = { client, upstream: connect(upstreamAddress) }
    accepted += 1
    pairs.add(pair)
    for (const end of [pair.client, pair.upstream]) {
      end.on('error', () => {}) // always followed by close
      end.on('close', () => drop(pair))
    }
    if (!stalled.has('requests')) flow(pair, 'requests')
    if (!stalled.has('replies')) flow(pair, 'replies')
  })

  function drop(pair: Pair): void {
    pairs.delete(pair)
    pair.client.destroy()
    pair.upstream.destroy()
  }

  async function listen(): Promise<void> {
    if (server.listening) return
    server.listen(socket === undefined ? { host: '127.0.0.1', port: port ?? 0 } : { path: socket })
    await once(server, 'listening')
    const address = server.address()
    if (typeof address === 'object' && address !== null) port = address.port
  }

  function refuse(): void {
    if (server.listening) server.close() // its callback would wait for the connections that stay open
  }

  function cut(): void {
    for (const pair of pairs) drop(pair)
  }

  async function stop(): Promise<void> {
    refuse()
    cut()
  }

  await listen()
  server.unref()

  return {
    url: overSocket ? `unix://${socket}` : `redis://127.0.0.1:${port}`,
    port,
    socket,
    get connections() {
      return pairs.size
    },
    get accepted() {
      return accepted
    },
    cut,
    refuse,
    stall(direction) {
      stalled.add(direction)
      for (const pair of pairs) hold(pair, direction)
    },
    async restore() {
      for (const direction of stalled) for (const pair of pairs) flow(pair, direction)
      stalled.clear()
      await listen()
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

interface Pair {
  readonly client: Socket
  readonly upstream: Socket
}

function flow({ client, upstream }: Pair, direction: Direction): void {
  if (direction === 'requests') client.pipe(upstream)
  else upstream.pipe(client)
}

function hold({ client, upstream }: Pair, direction: Direction): void {
  if (direction === 'requests') client.unpipe(upstream)
  else upstream.unpipe(client)
}
