import { type Duration, milliseconds } from '../../duration.ts'
import { after, every, type Timer } from '../../timer.ts'

/** How long an adapter waits for an answer. */
export interface TimeoutOptions {
  /**
   * How long a command may be unanswered before it rejects; up to an eighth longer passes. It covers the time in the client's
   * queue. The client's own time limit applies where it is shorter. A command that waits on the server (`BLOCK`) has its own
   * time beside.
   * @default the client's own time limit, or 5s if it has none
   */
  readonly timeout?: Duration
}

/** Until when a command is waited for if neither the adapter nor the client says. */
export const DEFAULT_MS = 5000

/** The bound in ms: the shorter of the option and the client's own time limit, or the one that is given. */
export function boundOf({ timeout }: TimeoutOptions, own: number | undefined): number {
  const ownMs = own === undefined || own <= 0 ? undefined : own
  const ms = timeout === undefined ? undefined : milliseconds(timeout)
  return ms === undefined ? (ownMs ?? DEFAULT_MS) : Math.min(ms, ownMs ?? ms)
}

/** A command that waits for its answer; one of a doubly linked list. */
export abstract class Waiting {
  before: Waiting | undefined = undefined
  after: Waiting | undefined = undefined
  /** In which period of the deadline it began to wait. */
  period = 0
  /** Answered, or given up. */
  settled = false

  /** Gives up: no answer came in time. */
  abstract late(error: TimeoutError): void
}

/** No answer came in time. */
export class TimeoutError extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`)
    this.name = 'TimeoutError'
  }
}

const PERIODS = 8

/**
 * One timer for all the commands of a client: what is not answered within `timeoutMs`, or up to an eighth longer, is
 * given up. It counts its own turns and asks no clock, so a process that slept, or was stopped, does not blame the server.
 */
export class Deadline {
  readonly timeoutMs: number
  #oldest: Waiting | undefined
  #newest: Waiting | undefined
  #period = 0
  #timer: Timer | undefined

  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs
  }

  /** Starts to wait for a command. */
  enter(waiting: Waiting): void {
    const newest = this.#newest
    waiting.period = this.#period
    waiting.before = newest
    if (newest === undefined) this.#oldest = waiting
    else newest.after = waiting
    this.#newest = waiting
    // The socket keeps the process alive for an answer, so the timer need not.
    this.#timer ??= every(Math.ceil(this.timeoutMs / PERIODS), () => this.#turn(), { keepsAlive: false })
  }

  /** Waits for a command that itself waits on the server, for at most `blockMs`. */
  enterBlocked(waiting: Waiting, blockMs: number): Timer {
    const ms = this.timeoutMs + blockMs
    return after(ms, () => waiting.late(new TimeoutError(ms)), { keepsAlive: false })
  }

  /** The command was answered, well or ill. */
  leave(waiting: Waiting): void {
    const { before, after: next } = waiting
    waiting.before = waiting.after = undefined // or the collector would keep its neighbours for its sake
    if (before === undefined) this.#oldest = next
    else before.after = next
    if (next === undefined) this.#newest = before
    else next.before = before
  }

  #turn(): void {
    this.#period += 1
    if (this.#oldest === undefined) {
      this.#timer?.cancel()
      this.#timer = undefined
      return
    }
    // A command that came in the last moment of a period has waited almost a period less than it counts.
    while (this.#oldest !== undefined && this.#period - this.#oldest.period > PERIODS)
      this.#oldest.late(new TimeoutError(this.timeoutMs))
  }
}
