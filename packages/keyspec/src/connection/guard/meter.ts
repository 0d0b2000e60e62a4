import { nodePerfHooks } from '../../builtin.ts'

/** The times of answers, in ms. */
export interface ResponseTimes {
  readonly count: number
  readonly mean: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** The hour of the clock in which most calls were made. */
export interface PeakHour {
  readonly start: Date
  readonly calls: number
}

const HOUR_MS = 3_600_000

/** Counts calls and their outcomes; a call costs it some tenths of a microsecond. */
export class Meter {
  attempts = 0
  failures = 0
  consecutiveFailures = 0
  errorReplies = 0
  unsent = 0
  readonly #times = nodePerfHooks().createHistogram({ lowest: 1, highest: 3_600_000_000, figures: 3 }) // µs
  #hour = { number: 0, calls: 0 }
  #peak = { number: 0, calls: 0 }

  /** A call was sent, at this time of the wall clock. */
  sent(now: number): void {
    this.attempts += 1
    const number = Math.floor(now / HOUR_MS)
    if (number !== this.#hour.number) this.#hour = { number, calls: 0 }
    this.#hour.calls += 1
    if (this.#hour.calls > this.#peak.calls) this.#peak = this.#hour
  }

  /** The server answered, with a value or an error, after so long; `undefined` where it was asked to wait. */
  answered(afterMs: number | undefined): void {
    this.consecutiveFailures = 0
    if (afterMs !== undefined) this.#times.record(Math.max(1, Math.round(afterMs * 1000)))
  }

  /** There was no answer. */
  failed(): void {
    this.failures += 1
    this.consecutiveFailures += 1
  }

  responseTimes(): ResponseTimes {
    const times = this.#times
    if (times.count === 0) return { count: 0, mean: 0, p50: 0, p99: 0, max: 0 }
    return {
      count: times.count,
      mean: times.mean / 1000,
      p50: times.percentile(50) / 1000,
      p99: times.percentile(99) / 1000,
      max: times.max / 1000,
    }
  }

  peakHour(): PeakHour | undefined {
    const { number, calls } = this.#peak
    return calls === 0 ? undefined : { start: new Date(number * HOUR_MS), calls }
  }
}
