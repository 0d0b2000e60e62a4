/** What became of the requests of one kind. */
export interface Tally {
  admitted: number
  rejected: number
  failed: number
  readonly ms: number[]
}

/** Counts requests by kind: 429 is rejected, another 4xx or 5xx failed. */
export class Tallies {
  readonly #byKind = new Map<string, Tally>()

  add(kind: string, status: number, ms: number): void {
    let tally = this.#byKind.get(kind)
    if (tally === undefined) this.#byKind.set(kind, (tally = { admitted: 0, rejected: 0, failed: 0, ms: [] }))
    tally.ms.push(ms)
    if (status === 429) tally.rejected += 1
    else if (status >= 400) tally.failed += 1
    else tally.admitted += 1
  }

  /** How many failed, of all kinds. */
  get failed(): number {
    return [...this.#byKind.values()].reduce((sum, { failed }) => sum + failed, 0)
  }

  /** How many there were, of all kinds. */
  get count(): number {
    return [...this.#byKind.values()].reduce((sum, { ms }) => sum + ms.length, 0)
  }

  /** A row for each kind: its counts, and the median and the 99th percentile of its times in ms. */
  rows(): (string | number)[][] {
    return [...this.#byKind].map(([kind, { admitted, rejected, failed, ms }]) => {
      const sorted = ms.toSorted((a, b) => a - b)
      return [kind, admitted, rejected, failed, at(sorted, 0.5), at(sorted, 0.99)]
    })
  }
}

/** The value below which this part of the sorted values lies (nearest rank), to a tenth. */
function at(sorted: readonly number[], part: number): number {
  const value = sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0
  return Math.round(value * 10) / 10
}
