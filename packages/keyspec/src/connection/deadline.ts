/** A command that waits for its answer; one of a doubly linked list. */
export interface Waiting {
  readonly name: string
  readonly reject: (error: unknown) => void
  readonly period: number
  before: Waiting | undefined
  after: Waiting | undefined
  /** Answered, or given up. */
  settled: boolean
}

/** No answer came in time. The command may have been done, or may yet be. */
export class TimeoutError extends Error {
  constructor(command: string, timeoutMs: number) {
    super(`${command} was not answered within ${timeoutMs} ms; it may have been done, or may yet be`)
    this.name = 'TimeoutError'
  }
}

const PERIODS = 8

/**
 * One timer for all the commands of a client: what is not answered within `timeoutMs`, or up to an eighth longer, is
 * rejected. It counts its own turns and asks no clock, so a process that slept, or was stopped, does not blame the server.
 */
export class Deadline {
  readonly #timeoutMs: number
  #oldest: Waiting | undefined
  #newest: Waiting | undefined
  #period = 0
  #timer: NodeJS.Timeout | undefined

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /** Starts to wait for a command. */
  enter(name: string, reject: (error: unknown) => void): Waiting {
    const newest = this.#newest
    const period = this.#period
    const waiting: Waiting = { name, reject, period, before: newest, after: undefined, settled: false }
    if (newest === undefined) this.#oldest = waiting
    else newest.after = waiting
    this.#newest = waiting
    // The socket keeps the process alive for an answer, so the timer need not.
    this.#timer ??= setInterval(() => this.#turn(), Math.ceil(this.#timeoutMs / PERIODS)).unref()
    return waiting
  }

  /** The command was answered, well or ill. */
  leave(waiting: Waiting): void {
    if (waiting.settled) return
    waiting.settled = true
    const { before, after } = waiting
    waiting.before = waiting.after = undefined // or the collector would keep its neighbours for its sake
    if (before === undefined) this.#oldest = after
    else before.after = after
    if (after === undefined) this.#newest = before
    else after.before = before
  }

  #turn(): void {
    this.#period += 1
    if (this.#oldest === undefined) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    // Whoever came in the last moment of a period has waited almost a period less than it counts.
    while (this.#oldest !== undefined && this.#period - this.#oldest.period > PERIODS) {
      const late = this.#oldest
      this.leave(late)
      late.reject(new TimeoutError(late.name, this.#timeoutMs))
    }
  }
}
