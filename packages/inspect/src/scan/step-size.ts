/** How many keys one step looks at to begin with: where the server is to be used whole, a step may be a longer one. */
function keysAtOnce(maxLoad: number | undefined): number {
  return maxLoad === 1 ? 250 : 50
}

/** How many keys the next step is to look at, by how long the last ones held the server. */
export class StepSize {
  readonly #least: number
  readonly #most: number
  #count: number

  constructor(maxLoad: number | undefined, count: number | undefined) {
    this.#count = count ?? keysAtOnce(maxLoad)
    this.#most = count ?? (maxLoad === 1 ? MOST_AT_ONCE : this.#count)
    this.#least = Math.min(LEAST_HELD, this.#count)
  }

  get count(): number {
    return this.#count
  }

  /** Learns from a step over so many keys; a server that does not tell how long it took says 0. */
  learn(keys: number, micros: number): void {
    if (micros <= 0 || keys < this.#least) return
    const wanted = (HELD_MICROS * keys) / micros
    // One step may have met a stall, and many of them did not.
    const next = wanted < this.#count ? (this.#count + wanted) / 2 : this.#count + (wanted - this.#count) / 8
    this.#count = Math.round(Math.min(this.#most, Math.max(this.#least, next)))
  }
}

// A step is to hold the server for so long, where everybody else waits.
const HELD_MICROS = 3000
const LEAST_HELD = 100
const MOST_AT_ONCE = 1000
