import type { Command, Reply, Shape } from '../connection.ts'
import { type Deadline, type TimeoutError, Waiting } from './deadline.ts'
import type { Timer } from '../../timer.ts'
import { outsideTransaction, readsQueued } from './queued.ts'
import { unanswered } from '../unanswered.ts'

/** How an adapter hands commands to its client, and reads the answers; made once for each connection. */
export interface Route {
  /** Hands the command to the client. */
  send(flight: Flight): Promise<unknown>
  /** Reads the reply. */
  reply(reply: unknown, command: Command, shape: Shape): Reply
  /** Returns a `ServerError` if the server refused the command, else the client's error as it is. */
  refusal(error: unknown, command: Command, shape: Shape): unknown
  /** Whether this error of the client says that the command was not written to the socket. */
  isUnsent?(error: unknown): boolean
}

/** A command on its way to the server and back. */
export class Flight extends Waiting {
  readonly command: Command
  readonly shape: Shape
  /** Whether the client may have written the command to its socket. An adapter that sees the writes sets it to false first. */
  maybeSent = true
  /** Takes the command out of the client's queue, where the client can. */
  leaveQueue: (() => void) | undefined = undefined
  readonly #resolve: (reply: Reply | Promise<Reply>) => void
  readonly #reject: (error: unknown) => void
  #deadline: Deadline | undefined = undefined
  #timer: Timer | undefined = undefined

  constructor(
    command: Command,
    shape: Shape,
    resolve: (reply: Reply | Promise<Reply>) => void,
    reject: (error: unknown) => void,
  ) {
    super()
    this.command = command
    this.shape = shape
    this.#resolve = resolve
    this.#reject = reject
  }

  /** Begins to wait: a command that waits on the server has its own time beside. */
  begin(deadline: Deadline): void {
    if (this.shape.blocks !== true) {
      this.#deadline = deadline
      deadline.enter(this)
      return
    }
    const blockMs = blockMsOf(this.command)
    if (blockMs !== undefined) this.#timer = deadline.enterBlocked(this, blockMs)
  }

  late(error: TimeoutError): void {
    this.#settle()
    const { maybeSent } = this
    this.leaveQueue?.()
    this.#reject(unanswered(error, this.command, this.shape, maybeSent))
  }

  answered(route: Route, deadline: Deadline, reply: unknown): void {
    if (this.settled) return
    this.#settle()
    try {
      const read = route.reply(reply, this.command, this.shape)
      this.#resolve(
        readsQueued(read)
          ? outsideTransaction(read, this.command, this.shape, (command, shape) =>
              fly(route, deadline, command, shape),
            )
          : read,
      )
    } catch (error) {
      this.#reject(error)
    }
  }

  failed(route: Route, error: unknown): void {
    if (this.settled) return
    this.#settle()
    const told = route.refusal(error, this.command, this.shape)
    const maybeSent = this.maybeSent && route.isUnsent?.(error) !== true
    this.#reject(told === error ? unanswered(error, this.command, this.shape, maybeSent) : told)
  }

  #settle(): void {
    this.settled = true
    this.#deadline?.leave(this)
    this.#timer?.cancel()
  }
}

/** Sends a command, and settles in any case: with the answer, its error, or that none came in time. */
export function fly(route: Route, deadline: Deadline, command: Command, shape: Shape): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const flight = new Flight(command, shape, resolve, reject)
    flight.begin(deadline)
    try {
      route.send(flight).then(
        (reply) => flight.answered(route, deadline, reply),
        (error: unknown) => flight.failed(route, error),
      )
    } catch (error) {
      flight.failed(route, error)
    }
  })
}

/** Commands whose first argument says for how many seconds; of the others it is the last. */
const FIRST = new Set(['BLMPOP', 'BZMPOP'])
/** Commands whose last argument says for how many ms. */
const LAST_MS = new Set(['WAIT', 'WAITAOF'])

/** How many ms a command asks to wait on the server; undefined if for ever, 0 if it names no time. */
export function blockMsOf(command: Command): number | undefined {
  const name = String(command[0])
  if (!name.startsWith('X')) {
    const time = Number(FIRST.has(name) ? command[1] : command.at(-1))
    if (Number.isNaN(time)) return 0
    return time > 0 ? time * (LAST_MS.has(name) ? 1 : 1000) : undefined
  }
  const at = command.findIndex((word) => String(word).toUpperCase() === 'BLOCK')
  const ms = at === -1 ? 0 : Number(command[at + 1])
  return ms > 0 ? ms : undefined
}
