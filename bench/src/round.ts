import { performance } from 'node:perf_hooks'

/** What one round of one contender came to. */
export interface Round {
  readonly perSecond: number
  /** CPU time of the client's process for one operation, user and system, in µs. */
  readonly clientMicros: number
  readonly p50Micros: number
  readonly p99Micros: number
  readonly operations: number
}

/** Keeps so many acts in flight for so long; each is begun when one has ended, as requests of a busy program are. */
export async function round(act: () => Promise<unknown>, inFlight: number, forMs: number): Promise<Round> {
  const latencies = new Reservoir()
  let operations = 0
  const before = process.cpuUsage()
  const from = performance.now()
  const until = from + forMs
  const one = async () => {
    for (;;) {
      const started = performance.now()
      if (started >= until) return
      await act()
      operations += 1
      latencies.add(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, one))
  const tookMs = performance.now() - from
  const { user, system } = process.cpuUsage(before)
  return {
    perSecond: (operations / tookMs) * 1000,
    clientMicros: (user + system) / operations,
    p50Micros: latencies.quantile(0.5) * 1000,
    p99Micros: latencies.quantile(0.99) * 1000,
    operations,
  }
}

/** A uniform sample of values, of bounded size (Vitter's algorithm R). */
class Reservoir {
  readonly #values = new Float64Array(20_000)
  #seen = 0

  add(value: number): void {
    const place = this.#seen < this.#values.length ? this.#seen : Math.floor(Math.random() * (this.#seen + 1))
    if (place < this.#values.length) this.#values[place] = value
    this.#seen += 1
  }

  quantile(part: number): number {
    const sorted = this.#values.slice(0, Math.min(this.#seen, this.#values.length)).sort()
    return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0
  }
}
