import {
  readReply,
  encodeCommand,
  type RawBufferReply,
  type RawReply,
  type RawArgument,
} from '../connection/client/resp.ts'
import { connect, type NetConnectOpts, type Socket } from 'node:net'

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
  let current: Line | undefined

  function send(args: readonly RawArgument[]): Promise<RawBufferReply> {
    if (current === undefined || current.socket.destroyed) {
      current = open(target)
      if (password !== undefined) request(current, ['AUTH', password]).catch(() => {}) // the command itself will fail
    }
    return request(current, args)
  }

  return {
    command: async (...args) => asText(await send(args)),
    commandBuffer: (...args) => send(args),
    close() {
      current?.socket.destroy()
    },
  }
}

/** A socket and those who wait for an answer on it, in order. */
interface Line {
  readonly socket: Socket
  readonly waiting: { resolve: (reply: RawBufferReply) => void; reject: (error: Error) => void }[]
}

function request({ socket, waiting }: Line, args: readonly RawArgument[]): Promise<RawBufferReply> {
  return new Promise((resolve, reject) => {
    waiting.push({ resolve, reject })
    socket.ref()
    socket.write(encodeCommand(args))
  })
}

function open(target: NetConnectOpts): Line {
  const line: Line = { socket: connect(target), waiting: [] }
  const { socket, waiting } = line
  let unread: Buffer = Buffer.alloc(0)
  let failure: Error | undefined

  socket.on('data', (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk])
    try {
      for (let reply = readReply(unread); reply !== undefined; reply = readReply(unread)) {
        unread = unread.subarray(reply.end)
        const next = waiting.shift()
        if (reply.value instanceof Error) next?.reject(reply.value)
        else next?.resolve(reply.value)
      }
    } catch (error) {
      failure = new Error('The server does not answer as Redis does.', { cause: error })
      socket.destroy()
    }
    if (waiting.length === 0) socket.unref()
  })
  socket.on('error', (error) => (failure = error))
  socket.on('end', () => socket.destroy())
  socket.on('close', () => {
    const reason = failure ?? new Error('The connection was closed before the server answered.')
    for (const { reject } of waiting.splice(0)) reject(reason)
  })
  return line
}

function asText(reply: RawBufferReply): RawReply {
  if (Array.isArray(reply)) return reply.map(asText)
  return Buffer.isBuffer(reply) ? reply.toString() : reply
}
