import { connect as connectPlain, type Socket } from 'node:net'
import { type Connection, ServerError } from 'keyspec'

type Reply = Awaited<ReturnType<Connection['send']>>
type Command = Parameters<Connection['send']>[0]
type Shape = Parameters<Connection['send']>[1]

/** One server as it is addressed. */
export interface Place {
  readonly protocol: 'redis:' | 'rediss:' | 'unix:'
  readonly hostname: string
  readonly port: number
  readonly path: string
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly database: number
}

/** How long it waits. */
export interface Waits {
  readonly connectWithinMs: number
  readonly replyWithinMs: number
}

/**
 * A connection for a few commands: RESP2 over one socket, which is not opened again when it is lost. For what ends sooner
 * than a whole client would be loaded.
 */
export async function briefConnection(
  place: Place,
  { connectWithinMs, replyWithinMs }: Waits,
): Promise<{ readonly connection: Connection; close(): void }> {
  const socket = await opened(place, connectWithinMs)
  const waiting: Waiting[] = []
  let unread: Buffer = Buffer.alloc(0)
  const fail = (error: Error) => {
    socket.destroy()
    for (const { reject } of waiting.splice(0)) reject(error)
  }
  socket.setNoDelay(true)
  socket.setTimeout(replyWithinMs, () => {
    if (waiting.length > 0) fail(new Error(`no answer within ${replyWithinMs / 1000} s`))
  })
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the server closed the connection')))
  socket.on('data', (chunk: Buffer) => {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk])
    let at = 0
    for (let read = readReply(unread, at); read !== undefined; read = readReply(unread, at)) {
      at = read.end
      waiting.shift()!.resolve(read.value)
    }
    unread = unread.subarray(at)
  })

  const send: Connection['send'] = async (command, shape) => {
    if (socket.destroyed) throw new Error('the connection is closed')
    const reply = await new Promise<Raw>((resolve, reject) => {
      waiting.push({ resolve, reject })
      socket.write(encoded(command))
    })
    if (reply instanceof Error) throw refused(reply.message, command, shape)
    return shape.bytes === true ? (reply as Reply) : textOf(reply)
  }
  const connection: Connection = {
    client: 'keyspec',
    cluster: false,
    send,
    masters: async () => [connection],
  }
  try {
    const { username, password, database } = place
    const about: Shape = { firstKey: 0, keyCount: 0 }
    if (password !== undefined)
      await send(username === undefined ? ['AUTH', password] : ['AUTH', username, password], about)
    if (database !== 0) await send(['SELECT', String(database)], about)
    await send(['PING'], about)
  } catch (error) {
    socket.destroy()
    throw error
  }
  return { connection, close: () => socket.destroy() }
}

interface Waiting {
  readonly resolve: (reply: Raw) => void
  readonly reject: (error: Error) => void
}

type Raw = null | number | Buffer | Error | readonly Raw[]

async function opened({ protocol, hostname, port, path }: Place, withinMs: number): Promise<Socket> {
  const socket =
    protocol === 'rediss:'
      ? (await import('node:tls')).connect({ host: hostname, port, servername: hostname })
      : connectPlain(protocol === 'unix:' ? { path } : { host: hostname, port })
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => {
      clearTimeout(timer)
      socket.destroy()
      reject(error)
    }
    const timer = setTimeout(() => failed(new Error(`no connection within ${withinMs / 1000} s`)), withinMs)
    socket.once('error', failed)
    socket.once(protocol === 'rediss:' ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer)
      socket.off('error', failed)
      resolve(socket)
    })
  })
}

function encoded(command: Command): Buffer {
  const parts: Uint8Array[] = [Buffer.from(`*${command.length}\r\n`)]
  for (const word of command) {
    const bytes = typeof word === 'string' ? Buffer.from(word) : word
    parts.push(Buffer.from(`$${bytes.byteLength}\r\n`), bytes, Buffer.from('\r\n'))
  }
  return Buffer.concat(parts)
}

/** The reply that begins at `at` and where it ends, or nothing while bytes of it are missing. */
function readReply(from: Buffer, at: number): { readonly value: Raw; readonly end: number } | undefined {
  const lineEnd = from.indexOf('\r\n', at)
  if (lineEnd === -1) return undefined
  const [line, body] = [from.subarray(at + 1, lineEnd), lineEnd + 2]
  switch (String.fromCharCode(from[at]!)) {
    case '+':
      return { value: line, end: body }
    case '-':
      return { value: new Error(line.toString()), end: body }
    case ':':
      return { value: Number(line.toString()), end: body }
    case '$': {
      const length = Number(line.toString())
      if (length === -1) return { value: null, end: body }
      const end = body + length + 2
      return from.length < end ? undefined : { value: from.subarray(body, body + length), end }
    }
    default: {
      const length = Number(line.toString())
      if (length === -1) return { value: null, end: body }
      const value: Raw[] = []
      let end = body
      while (value.length < length) {
        const item = readReply(from, end)
        if (item === undefined) return undefined
        value.push(item.value)
        end = item.end
      }
      return { value, end }
    }
  }
}

function textOf(reply: Raw): Reply {
  if (Buffer.isBuffer(reply)) return reply.toString()
  if (Array.isArray(reply)) return (reply as readonly Raw[]).map(textOf)
  return reply as Reply
}

function refused(words: string, command: Command, { firstKey }: Shape): ServerError {
  const key = firstKey === 0 ? undefined : command[firstKey]
  return new ServerError(
    words,
    String(command[0]),
    key === undefined ? undefined : Buffer.from(key as string).toString(),
  )
}
