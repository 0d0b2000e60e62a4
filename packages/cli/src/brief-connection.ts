import { connect as connectPlain, isIP, type Socket } from 'node:net'
import type { Connection } from 'keyspec'
import {
  after,
  encodeCommand,
  NO_KEY,
  type RawBufferReply,
  readReply,
  refused,
  type Reply,
  unanswered,
} from 'keyspec/extend'
import type { Address } from './address.ts'

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
  address: Address,
  { connectWithinMs, replyWithinMs }: Waits,
): Promise<{ readonly connection: Connection; close(): void }> {
  const socket = await opened(address, connectWithinMs)
  const waiting: Waiting[] = []
  let unread: Buffer = Buffer.alloc(0)
  const fail = (error: Error) => {
    socket.destroy()
    for (const { reject } of waiting.splice(0)) reject(error)
  }
  socket.setNoDelay(true)
  // Before the first answer nobody knows whether there is a Redis at all.
  let withinMs = connectWithinMs
  const waitFor = (ms: number) => {
    withinMs = ms
    // oxlint-disable-next-line no-restricted-properties -- a socket’s own timer, of some seconds by its only caller
    socket.setTimeout(ms)
  }
  waitFor(connectWithinMs)
  socket.on('timeout', () => {
    if (waiting.length > 0) fail(new Error(`no answer within ${withinMs / 1000} s`))
  })
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the server closed the connection')))
  socket.on('data', (chunk: Buffer) => {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk])
    try {
      let at = 0
      for (let read = readReply(unread); read !== undefined; read = readReply(unread, at)) {
        at = read.end
        waiting.shift()!.resolve(read.value)
      }
      unread = unread.subarray(at)
    } catch (error) {
      fail(new Error('the server does not answer as Redis does', { cause: error }))
    }
  })

  const send: Connection['send'] = async (command, shape) => {
    if (socket.destroyed) throw unanswered(new Error('the connection is closed'), command, shape, false)
    const reply = await new Promise<RawBufferReply>((resolve, reject) => {
      waiting.push({ resolve, reject })
      socket.write(encodeCommand(command))
    }).catch((error: unknown) => {
      throw unanswered(error, command, shape, true)
    })
    if (reply instanceof Error) throw refused(reply.message, command, shape)
    return shape.bytes === true ? asBytes(reply) : asText(reply)
  }
  const connection: Connection = {
    client: 'keyspec',
    cluster: false,
    send,
    masters: async () => [connection],
  }
  try {
    const { username, password, database } = address
    if (password !== undefined)
      await send(username === undefined ? ['AUTH', password] : ['AUTH', username, password], NO_KEY)
    if (database !== 0) await send(['SELECT', String(database)], NO_KEY)
    await send(['PING'], NO_KEY)
    waitFor(replyWithinMs)
  } catch (error) {
    socket.destroy()
    throw error
  }
  return { connection, close: () => socket.destroy() }
}

interface Waiting {
  readonly resolve: (reply: RawBufferReply) => void
  readonly reject: (error: Error) => void
}

async function opened({ protocol, hostname, port, path }: Address, withinMs: number): Promise<Socket> {
  const socket =
    protocol === 'rediss:'
      ? (await import('node:tls')).connect({
          host: hostname,
          port,
          servername: isIP(hostname) === 0 ? hostname : '',
        })
      : connectPlain(protocol === 'unix:' ? { path } : { host: hostname, port })
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => {
      timer.cancel()
      socket.destroy()
      reject(error)
    }
    const timer = after(withinMs, () => failed(new Error(`no connection within ${withinMs / 1000} s`)))
    socket.once('error', failed)
    socket.once(protocol === 'rediss:' ? 'secureConnect' : 'connect', () => {
      timer.cancel()
      socket.off('error', failed)
      resolve(socket)
    })
  })
}

function asBytes(reply: RawBufferReply): Reply {
  if (typeof reply === 'string') return Buffer.from(reply)
  return Array.isArray(reply) ? reply.map(asBytes) : (reply as Reply)
}

function asText(reply: RawBufferReply): Reply {
  if (Buffer.isBuffer(reply)) return reply.toString()
  return Array.isArray(reply) ? reply.map(asText) : (reply as Reply)
}
