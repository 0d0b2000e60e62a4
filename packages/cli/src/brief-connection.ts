import { connect as connectPlain, isIP, type Socket } from 'node:net'
import type { Connection } from 'keyspec'
import { after, formOf, NO_KEY, refusal, RespLine, unanswered } from 'keyspec/extend'
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
  const line = new RespLine(socket)
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
    if (line.pending > 0) line.fail(new Error(`no answer within ${withinMs / 1000} s`))
  })

  const send: Connection['send'] = async (command, shape) => {
    if (socket.destroyed) throw unanswered(new Error('the connection is closed'), command, shape, false)
    const reply = await line.send(command).catch((error: unknown) => {
      throw unanswered(error, command, shape, true)
    })
    try {
      return formOf(reply, shape.bytes === true)
    } catch (error) {
      throw refusal(error, command, shape)
    }
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
