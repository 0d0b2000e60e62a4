import { connect, type NetConnectOpts, type Socket } from 'node:net'
import type { RawArgument, RawBufferReply, RawReply } from '../connection/client/resp.ts'
import { RespLine } from '../connection/client/resp-line.ts'

/** The smallest client there is, for looking at a server past the client that is being tested. */
export interface RawConnection {
  /** Sends a command; rejects with the server's own words when it answers with an error. */
  readonly command: (...args: RawArgument[]) => Promise<RawReply>
  /** The same, with bulk strings as bytes. */
  readonly commandBuffer: (...args: RawArgument[]) => Promise<RawBufferReply>
  /** Ends the connection; the next command opens it again. */
  close(): void
}

/**
 * Speaks RESP2 to a server, connecting at the first command and again at the first after a loss. Commands are answered
 * in the order they were sent. Not for subscriptions. An idle connection does not keep the process alive.
 */
export function rawConnection(target: NetConnectOpts, password?: string): RawConnection {
  let current: { readonly socket: Socket; readonly line: RespLine } | undefined

  async function send(args: readonly RawArgument[]): Promise<RawBufferReply> {
    if (current === undefined || current.socket.destroyed) {
      current = open(target)
      if (password !== undefined) current.line.send(['AUTH', password]).catch(() => {}) // the command itself will fail
    }
    current.socket.ref()
    const reply = await current.line.send(args)
    if (reply instanceof Error) throw reply
    return reply
  }

  return {
    command: async (...args) => asText(await send(args)),
    commandBuffer: (...args) => send(args),
    close() {
      current?.socket.destroy()
    },
  }
}

function open(target: NetConnectOpts): { readonly socket: Socket; readonly line: RespLine } {
  const socket = connect(target)
  const line = new RespLine(socket)
  socket.on('data', () => {
    if (line.pending === 0) socket.unref()
  })
  socket.on('end', () => socket.destroy())
  return { socket, line }
}

function asText(reply: RawBufferReply): RawReply {
  if (Array.isArray(reply)) return reply.map(asText)
  return Buffer.isBuffer(reply) ? reply.toString() : reply
}
