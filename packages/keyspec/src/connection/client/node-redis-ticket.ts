import type { Flight } from './flight.ts'

/**
 * The `abortSignal` of one command, by which node-redis 5 and 6 say where the command is: they ask `aborted` before they
 * queue it, listen while it is queued, and stop to listen when they write it to the socket.
 */
export class QueueTicket {
  readonly #flight: Flight

  constructor(flight: Flight) {
    this.#flight = flight
    flight.maybeSent = false
  }

  get aborted(): boolean {
    return this.#flight.settled
  }

  /** `leave` takes the command out of the queue. */
  addEventListener(_type: 'abort', leave: () => void): void {
    this.#flight.leaveQueue = leave
  }

  removeEventListener(): void {
    this.#flight.leaveQueue = undefined
    this.#flight.maybeSent = true
  }
}
