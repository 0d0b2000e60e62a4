import { reason } from '../errors.ts'
import { after } from '../timer.ts'
import { clientOf } from './client-of.ts'
import { type Connection, NO_KEY, type Shape } from './connection.ts'
import { isUnavailable } from './server-error.ts'

/** A connection for writes that replicas acknowledge, as one entry uses it, and the line that all entries stand in. */
export interface Replicating {
  readonly connection: Connection
  readonly line: Line
}

/** How many replicas must acknowledge a write, and how long to wait for them. */
export interface Acknowledgement {
  readonly to: number
  readonly withinMs: number
}

/**
 * Writes that replicas acknowledge: each is followed by WAIT, which answers how many replicas have the writes of its
 * connection so far. WAIT holds up everything behind it on the connection, so these writes have one of their own, and take
 * turns on it. See docs/design/leases.md for what an acknowledgement does not promise.
 */
export class Replication {
  readonly #replicating: Replicating
  readonly #asked: Acknowledgement
  #warned = false

  constructor(replicating: Replicating, asked: Acknowledgement) {
    this.#replicating = replicating
    this.#asked = asked
  }

  /**
   * Does one write, then waits for the replicas. If the write rejects, so does this. The number of replicas is what is known
   * when the time is over: fewer than asked for is no error, and the write stays.
   *
   * @param wrote Whether there is something to wait for, by the answer of the write.
   */
  write<T>(
    work: (over: Connection) => Promise<T>,
    wrote: (value: T) => boolean = () => true,
  ): Promise<{ readonly value: T; readonly replicas: number }> {
    const { connection, line } = this.#replicating
    return line.take(async () => {
      const before = this.#session()
      const value = await work(connection)
      return { value, replicas: wrote(value) ? await this.#acknowledged(before) : 0 }
    })
  }

  /** Sends what needs no acknowledgement over the same connection, behind what was sent before. */
  send<T>(work: (over: Connection) => Promise<T>): Promise<T> {
    return work(this.#replicating.connection)
  }

  /** How many replicas have what was written since `before`, in one session with the server: WAIT knows of no other. */
  async #acknowledged(before: Promise<string | undefined>): Promise<number> {
    const { to, withinMs } = this.#asked
    const ask = async () => {
      const replicas = await this.#replicating.connection
        .send(['WAIT', String(to), String(withinMs)], WAIT)
        .then(Number, (error: unknown) => this.#warn(error) ?? 0)
      if (replicas === 0) return 0
      // Behind a WAIT that is not answered yet, it would use up the time that its client gives every command.
      const [first, last] = await Promise.all([before, this.#session()])
      return first !== undefined && first === last ? replicas : 0
    }
    // The server bounds the wait, unless the connection is half open.
    return new Promise((resolve) => {
      const timer = after(withinMs + GRACE_MS, () => resolve(0))
      void ask()
        .then(resolve)
        .finally(() => timer.cancel())
    })
  }

  /** What tells this connection of the client to this server from every other; `undefined` where it cannot be known. */
  async #session(): Promise<string | undefined> {
    try {
      const info = String(await this.#replicating.connection.send(['CLIENT', 'INFO'], NO_KEY))
      return /^id=\d+ addr=\S+( laddr=\S+)?/.exec(info)?.[0]
    } catch (error) {
      this.#warn(error)
      return undefined
    }
  }

  #warn(error: unknown): undefined {
    if (this.#warned || isUnavailable(error)) return undefined
    this.#warned = true
    const message = `no write is known to be acknowledged by a replica: ${reason(error)}`
    process.emitWarning(message, { type: 'KeyspecWarning' })
    return undefined
  }
}

const WAIT: Shape = { ...NO_KEY, blocks: true }
const GRACE_MS = 1000

/** Does one thing at a time, in the order asked. */
export class Line {
  #last: Promise<unknown> = Promise.resolve()

  take<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }
}

const lines = new WeakMap<object, Line>()

/** The line of a connection: one for each client, however many connections and keyspaces are over it. */
export function lineOf(connection: Connection): Line {
  const client = clientOf(connection)
  let line = lines.get(client)
  if (line === undefined) lines.set(client, (line = new Line()))
  return line
}
