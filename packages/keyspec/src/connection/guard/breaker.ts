/** `closed`: calls go through. `open`: none does. `half-open`: one does, to see whether the server is back. */
export type BreakerState = 'closed' | 'open' | 'half-open'

/** How a breaker judges, with times in ms of any clock that runs forward. */
export interface BreakerOptions {
  readonly failureThreshold: number
  readonly openForMs: number
  readonly changed: (state: BreakerState) => void
}

/**
 * A circuit breaker (Nygard, Release It!, 2nd ed., 5.2): after some failures in a row it lets nothing through for a
 * while, then one call at a time until one is answered. It has no timer: each call that asks moves it on.
 */
export class Breaker {
  readonly #options: BreakerOptions
  #state: BreakerState = 'closed'
  #failures = 0
  #nextTry = 0
  #round = 0

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  get state(): BreakerState {
    return this.#state
  }

  /** In how many ms a call would be let through; 0 when it would be now. */
  waitMs(now: number): number {
    return this.#state === 'closed' ? 0 : Math.max(0, this.#nextTry - now)
  }

  /** Lets a call through, with the number of the round that its outcome belongs to, or not. */
  admit(now: number): number | undefined {
    if (this.#state === 'closed') return this.#round
    if (now < this.#nextTry) return undefined
    // A probe that is never answered must not be the last.
    this.#nextTry = now + this.#options.openForMs
    this.#to('half-open')
    this.#round += 1
    return this.#round
  }

  /** The call was answered. What belongs to an earlier round tells nothing of now. */
  answered(round: number): void {
    if (round !== this.#round) return
    this.#failures = 0
    this.#to('closed')
  }

  /** The call was not answered. */
  failed(round: number, now: number): void {
    if (round !== this.#round) return
    this.#failures += 1
    if (this.#state === 'closed' && this.#failures < this.#options.failureThreshold) return
    this.#nextTry = now + this.#options.openForMs
    this.#round += 1
    this.#to('open')
  }

  #to(state: BreakerState): void {
    if (state === this.#state) return
    this.#state = state
    this.#options.changed(state)
  }
}
