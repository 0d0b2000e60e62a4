import { connect, type NetConnectOpts, type Socket } from 'node:net'

/** What a command may be made of; a number is sent as its decimal text. */
export type RawArgument = string | number | Uint8Array

/** A reply with its strings as text. An error inside an array (EXEC) stays there as an `Error`. */
export type RawReply = string | number | null | Error | RawReply[]

/** A reply with its bulk strings as bytes. */
export type RawBufferReply = Buffer | string | number | null | Error | RawBufferReply[]

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

/** Encodes a command as an array of bulk strings. */
export function encodeCommand(args: readonly RawArgument[]): Buffer {
  const parts: Uint8Array[] = [Buffer.from(`*${args.length}\r\n`)]
  for (const arg of args) {
    const bytes = arg instanceof Uint8Array ? arg : Buffer.from(String(arg))
    parts.push(Buffer.from(`$${bytes.byteLength}\r\n`), bytes, Buffer.from('\r\n'))
  }
  return Buffer.concat(parts)
}

/** Reads the reply that starts at `at`: its value and where the next one starts, or nothing when bytes are missing. */
export function readReply(buffer: Buffer, at = 0): { value: RawBufferReply; end: number } | undefined {
  const lineEnd = buffer.indexOf('\r\n', at)
  if (lineEnd === -1) return undefined
  const line = buffer.toString('utf8', at + 1, lineEnd)
  const body = lineEnd + 2
  switch (buffer.toString('latin1', at, at + 1)) {
    case '+':
      return { value: line, end: body }
    case '-':
      return { value: new Error(line), end: body }
    case ':':
      return { value: Number(line), end: body }
    case '$':
      return readBulk(buffer, body, Number(line))
    case '*':
      return readArray(buffer, body, Number(line))
    default:
      throw new Error(`Not a RESP2 reply: ${JSON.stringify(buffer.toString('latin1', at, at + 40))}`)
  }
}

function readBulk(buffer: Buffer, at: number, length: number) {
  if (length === -1) return { value: null, end: at }
  if (buffer.length < at + length + 2) return undefined
  return { value: Buffer.from(buffer.subarray(at, at + length)), end: at + length + 2 }
}

function readArray(buffer: Buffer, at: number, length: number) {
  if (length === -1) return { value: null, end: at }
  const value: RawBufferReply[] = []
  let end = at
  for (let i = 0; i < length; i += 1) {
    const item = readReply(buffer, end)
    if (item === undefined) return undefined
    value.push(item.value)
    end = item.end
  }
  return { value, end }
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
