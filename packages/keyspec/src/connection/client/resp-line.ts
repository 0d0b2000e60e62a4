import type { Socket } from 'node:net'
import type { Reply } from '../connection.ts'
import { encodeCommand, type RawArgument, type RawBufferReply, readReply } from './resp.ts'

interface Waiting {
  readonly resolve: (reply: RawBufferReply) => void
  readonly reject: (error: Error) => void
}

/**
 * Speaks RESP2 over a socket that is given to it: commands are answered in the order they were sent. When the socket closes
 * or its server does not answer as Redis does, each command without an answer rejects.
 */
export class RespLine {
  readonly #socket: Socket
  readonly #waiting: Waiting[] = []
  #unread: Buffer = Buffer.alloc(0)

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', (error) => this.fail(error))
    socket.on('close', () => this.fail(new Error('the server closed the connection')))
  }

  /** How many commands wait for an answer. */
  get pending(): number {
    return this.#waiting.length
  }

  /** Sends a command. An error reply is an `Error`, also inside an array. */
  send(args: readonly RawArgument[]): Promise<RawBufferReply> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) throw new Error('the connection is closed')
      this.#waiting.push({ resolve, reject })
      this.#socket.write(encodeCommand(args))
    })
  }

  /** Destroys the socket, and rejects each command without an answer with this error. */
  fail(error: Error): void {
    this.#socket.destroy()
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }

  #read(chunk: Buffer): void {
    this.#unread = this.#unread.length === 0 ? chunk : Buffer.concat([this.#unread, chunk])
    try {
      let at = 0
      for (let read = readReply(this.#unread); read !== undefined; read = readReply(this.#unread, at)) {
        at = read.end
        this.#waiting.shift()?.resolve(read.value)
      }
      this.#unread = this.#unread.subarray(at)
    } catch (error) {
      this.fail(new Error('the server does not answer as Redis does', { cause: error }))
    }
  }
}

/**
 * Returns a raw reply in the form of the port: its strings all as text, or all as bytes.
 * @throws the `Error` that is the reply, or stands inside it
 */
export function formOf(reply: RawBufferReply, bytes: boolean): Reply {
  if (reply instanceof Error) throw reply
  if (Array.isArray(reply)) return reply.map((each) => formOf(each, bytes))
  if (typeof reply === 'string') return bytes ? Buffer.from(reply) : reply
  return Buffer.isBuffer(reply) && !bytes ? reply.toString() : reply
}
