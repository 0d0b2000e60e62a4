import type { Socket } from 'node:net'
import { onAbort } from 'keyspec/extend'
import { SnapshotError } from './snapshot-error.ts'

/** A server that is to send a snapshot. */
export type ReplicaTarget = {
  readonly username?: string | undefined
  readonly password?: string | undefined
} & (
  | { readonly path: string }
  /** With `tls` the certificate is checked as Node does (NODE_EXTRA_CA_CERTS names others than the common ones). */
  | { readonly host: string; readonly port: number; readonly tls?: boolean | undefined }
)

/**
 * The snapshot that a server makes for a replica (PSYNC), byte by byte as it comes. **The server forks** and saves, to this
 * socket or first to its disk, as it is configured to; its user must be allowed PSYNC and REPLCONF, which managed services
 * mostly are not. What is read slowly, the server sends slowly. Abort the signal to end it.
 *
 * @throws SnapshotError `refused` if the server sends no snapshot; `unreachable` if it cannot be connected to, says nothing for a
 * minute, or the connection breaks. An aborted signal's own reason is thrown as it is.
 */
export async function* replicaSnapshot(
  target: ReplicaTarget,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const socket = await opened(target)
  const stop = () => socket.destroy(signal?.reason as Error)
  const unheard = signal === undefined ? undefined : onAbort(signal, stop)
  const chunks = received(socket, signal)
  try {
    signal?.throwIfAborted()
    const lines = new Lines(chunks)
    const ask = async (...words: string[]) => {
      socket.write(command(words))
      return lines.next()
    }
    const { username, password } = target
    if (password !== undefined) {
      const said = await ask('AUTH', ...(username === undefined ? [] : [username]), password)
      if (said.startsWith('-')) throw refused(said)
    }
    // Nothing but the snapshot: without this (before Redis 6.2) the server also gathers what is written meanwhile.
    await ask('REPLCONF', 'rdb-only', '1')
    // It may come without its length before it, straight from the process that saves.
    await ask('REPLCONF', 'capa', 'eof')
    const began = await ask('PSYNC', '?', '-1')
    if (!began.startsWith('+FULLRESYNC')) throw refused(began)
    const head = await lines.next()
    if (!head.startsWith('$')) throw refused(head)
    yield* payload(head, lines.rest, chunks)
  } finally {
    unheard?.()
    socket.destroy()
  }
}

const CONNECT_WITHIN_MS = 5_000
// While it saves, the server sends an empty line every second.
const SILENT_FOR_MS = 60_000

async function opened(target: ReplicaTarget): Promise<Socket> {
  const [net, tls] = await Promise.all([import('node:net'), import('node:tls')])
  const socket =
    'path' in target
      ? net.connect(target.path)
      : target.tls === true
        ? tls.connect({
            host: target.host,
            port: target.port,
            servername: net.isIP(target.host) === 0 ? target.host : '',
          })
        : net.connect(target.port, target.host)
  const ready = 'path' in target || target.tls !== true ? 'connect' : 'secureConnect'
  socket.on('timeout', () => {
    const silence = `it says nothing for ${socket.timeout! / 1000} s`
    socket.destroy(new SnapshotError('unreachable', `the server sends no snapshot: ${silence}`))
  })
  await new Promise<void>((resolve, reject) => {
    // oxlint-disable-next-line no-restricted-properties -- a socket’s own timer, of a few seconds
    socket.setTimeout(CONNECT_WITHIN_MS)
    const failed = (error: unknown) => reject(unreachable('the server cannot be reached', error))
    socket.once('error', failed)
    socket.once(ready, () => {
      socket.off('error', failed)
      resolve()
    })
  })
  // oxlint-disable-next-line no-restricted-properties -- a socket’s own timer, of a minute
  socket.setTimeout(SILENT_FOR_MS)
  // `received` hears of it too.
  socket.on('error', () => {})
  return socket
}

/** What the server sends, in the pieces in which it comes. */
async function* received(socket: Socket, signal: AbortSignal | undefined): AsyncGenerator<Buffer, undefined> {
  try {
    yield* socket
  } catch (error) {
    signal?.throwIfAborted()
    throw unreachable('the connection was lost before the end of the snapshot', error)
  }
}

/** The lines of a server that answers, empty ones left out, and then whatever has come behind them. */
class Lines {
  readonly #chunks: AsyncIterator<Buffer>
  rest: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterator<Buffer>) {
    this.#chunks = chunks
  }

  async next(): Promise<string> {
    for (;;) {
      const end = this.rest.indexOf('\n')
      if (end === -1) {
        const { value, done } = await this.#chunks.next()
        if (done === true) throw refused('it closed the connection')
        this.rest = Buffer.concat([this.rest, value])
        if (this.rest.length > LONGEST_LINE && !this.rest.includes('\n'))
          throw refused('what it says is no answer of a Redis server')
        continue
      }
      const line = this.rest.toString('latin1', 0, end).trim()
      this.rest = this.rest.subarray(end + 1)
      if (line !== '') return line
    }
  }
}

const LONGEST_LINE = 64 * 1024

/** What follows `$<length>`, or `$EOF:<mark>`, where only the snapshot itself says where it ends. */
async function* payload(
  head: string,
  begun: Buffer,
  chunks: AsyncIterator<Buffer>,
): AsyncGenerator<Uint8Array> {
  let left = head.startsWith('$EOF:') ? Infinity : Number(head.slice(1))
  let chunk = begun
  for (;;) {
    yield chunk.length > left ? chunk.subarray(0, left) : chunk
    left -= chunk.length
    if (left <= 0) return
    const { value, done } = await chunks.next()
    if (done === true) return
    chunk = value
  }
}

function command(words: readonly string[]): string {
  return [`*${words.length}`, ...words.flatMap((word) => [`$${Buffer.byteLength(word)}`, word]), ''].join(
    '\r\n',
  )
}

function unreachable(what: string, error: unknown): SnapshotError {
  if (error instanceof SnapshotError) return error
  const causes: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
  const words = causes.map((cause) => (cause instanceof Error ? cause.message : String(cause)))
  return new SnapshotError('unreachable', `${what}: ${words.join(', ')}`, error)
}

function refused(said: string): SnapshotError {
  return new SnapshotError(
    'refused',
    `the server sends no snapshot: ${said.replace(/^-/, '')}; its user needs PSYNC and REPLCONF, which managed services ` +
      'mostly refuse: read a file that was saved (dump.rdb) instead',
  )
}
