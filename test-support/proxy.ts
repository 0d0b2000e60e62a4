import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, connect, type NetConnectOpts, type Socket } from 'node:net'
import { Transform } from 'node:stream'

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
  /** The bytes that are withheld in one direction on open connections: they show how far a command or its reply has come. */
  withheld(direction: Direction): Buffer
  /** Forwards everything this much later, in both directions, until `restore`. */
  slow(ms: number): void
  /** Ends the server's side of all connections; the clients are not told, and hear nothing until `cut`. */
  halfOpen(): void
  /** Accepts and forwards again, what was withheld first. Connections that are half open stay so. */
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
  const delay = { ms: 0 }
  let accepted = 0
  let port: number | undefined

  const server = createServer((client) => {
    const upstream = connect(upstreamAddress)
    const pair: Pair = {
      client,
      upstream,
      lines: { requests: delayed(client, upstream, delay), replies: delayed(upstream, client, delay) },
      held: { requests: [], replies: [] },
      isHalfOpen: false,
    }
    accepted += 1
    pairs.add(pair)
    for (const end of [pair.client, pair.upstream]) {
      end.on('error', () => {}) // always followed by close
      end.on('close', () => {
        if (!pair.isHalfOpen || end === pair.client) drop(pair)
      })
    }
    for (const direction of ['requests', 'replies'] as const) {
      if (stalled.has(direction)) hold(pair, direction)
      else flow(pair, direction)
    }
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
    withheld: (direction) => Buffer.concat([...pairs].flatMap(({ held }) => held[direction])),
    slow(ms) {
      delay.ms = ms
    },
    halfOpen() {
      for (const pair of pairs) {
        pair.isHalfOpen = true
        hold(pair, 'requests')
        hold(pair, 'replies')
        pair.lines.replies.unpipe(pair.client)
        pair.upstream.destroy()
      }
    },
    async restore() {
      delay.ms = 0
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
  /** The streams that carry each direction, with their delay. */
  readonly lines: { readonly [direction in Direction]: Transform }
  /** What is withheld of each direction. */
  readonly held: { readonly [direction in Direction]: Buffer[] }
  isHalfOpen: boolean
}

function delayed(from: Socket, to: Socket, delay: { readonly ms: number }): Transform {
  const line = new Transform({
    transform(chunk: Buffer, _encoding, forward) {
      if (delay.ms === 0) forward(null, chunk)
      else setTimeout(() => forward(null, chunk), delay.ms)
    },
  })
  line.on('error', () => {}) // an end is gone: its close is what counts
  from.on('close', () => line.destroy())
  line.pipe(to)
  return line
}

const sourceOf = ({ client, upstream }: Pair, direction: Direction) =>
  direction === 'requests' ? client : upstream

function flow(pair: Pair, direction: Direction): void {
  if (pair.isHalfOpen) return
  const from = sourceOf(pair, direction)
  const line = pair.lines[direction]
  from.unpipe(line)
  from.removeAllListeners('data')
  for (const chunk of pair.held[direction].splice(0)) line.write(chunk)
  from.pipe(line)
}

function hold(pair: Pair, direction: Direction): void {
  const from = sourceOf(pair, direction)
  from.unpipe(pair.lines[direction])
  from.removeAllListeners('data')
  from.on('data', (chunk: Buffer) => pair.held[direction].push(chunk))
  from.resume() // unpiping paused it
}
