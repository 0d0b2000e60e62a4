import {
  type Estimate,
  estimatedCount,
  estimatedPart,
  estimatedShare,
  estimatedTotal,
  type Stratum,
} from './estimate.ts'
import { BOUNDS, bucketOf } from './histogram.ts'
import type { SeenKey } from './walk.ts'

/** How many keys of a group have a property. */
export interface Portion {
  readonly keys: Estimate
  /** As a part of the group's keys. */
  readonly share: Estimate
}

/** A portion by a name: a type, an encoding. */
export interface NamedPortion extends Portion {
  readonly name: string
}

/** A bucket of a histogram: what is below a bound and not in the bucket before. */
export interface Bucket extends Portion {
  /** `undefined` in the last, which has no bound. */
  readonly below: number | undefined
}

/** What is known of the keys of one group. */
export interface Tallied {
  readonly keys: Estimate
  /** By MEMORY USAGE, which of large collections is itself an estimate. */
  readonly bytes: Estimate
  /** Its part of the memory of all that was chosen. */
  readonly share: Estimate
  /** Most frequent first. */
  readonly types: readonly NamedPortion[]
  readonly encodings: readonly NamedPortion[]
  /** Keys without a time to live. */
  readonly forever: Portion
  /** Times to live, in ms. */
  readonly ttl: readonly Bucket[]
  /** Sizes, in bytes. */
  readonly sizes: readonly Bucket[]
  /** How long nobody has used them, in ms; no bucket where the server does not know (an LFU policy). */
  readonly idle: readonly Bucket[]
}

/** Counts the keys of one group, for each master by itself. */
export class Tally {
  readonly #cells = new Map<string, number[]>()
  readonly #sums: number[] = []
  readonly #squares: number[] = []
  /** How many keys were counted. */
  count = 0

  add({ type, ttlMs, bytes = 0, encoding, idleMs }: SeenKey, master: number): void {
    this.count += 1
    this.#note('keys', master)
    this.#note(`type ${type}`, master)
    this.#note(`encoding ${encoding}`, master)
    this.#note(ttlMs === 'forever' ? 'forever' : `ttl ${bucketOf(BOUNDS.ttl, ttlMs!)}`, master)
    this.#note(`size ${bucketOf(BOUNDS.size, bytes)}`, master)
    if (idleMs !== undefined) this.#note(`idle ${bucketOf(BOUNDS.idle, idleMs)}`, master)
    this.#sums[master] = (this.#sums[master] ?? 0) + bytes
    this.#squares[master] = (this.#squares[master] ?? 0) + bytes ** 2
  }

  /** Adds what another has counted. */
  join(other: Tally): void {
    this.count += other.count
    for (const [cell, hits] of other.#cells) for (const [at, hit] of hits.entries()) this.#note(cell, at, hit)
    for (const [at, sum] of other.#sums.entries()) this.#sums[at] = (this.#sums[at] ?? 0) + (sum ?? 0)
    for (const [at, sum] of other.#squares.entries())
      this.#squares[at] = (this.#squares[at] ?? 0) + (sum ?? 0)
  }

  /** What it all comes to, `all` being the tally of everything that was chosen. */
  tallied(strata: readonly Stratum[], all: Tally): Tallied {
    const portion = (cell: string): Portion => {
      const hits = this.#cells.get(cell) ?? []
      const seen = hits.reduce((sum, hit) => sum + (hit ?? 0), 0)
      return { keys: estimatedCount(strata, hits), share: estimatedPart(strata, seen, this.count) }
    }
    const named = (kind: string): NamedPortion[] =>
      [...this.#cells.keys()]
        .filter((cell) => cell.startsWith(`${kind} `))
        .map((cell) => ({ name: cell.slice(kind.length + 1), ...portion(cell) }))
        .sort((a, b) => b.keys.value - a.keys.value || (a.name < b.name ? -1 : 1))
    const buckets = (kind: keyof typeof BOUNDS): Bucket[] =>
      [...BOUNDS[kind], undefined].map((below, at) => ({ below, ...portion(`${kind} ${at}`) }))
    const knowsIdle = [...this.#cells.keys()].some((cell) => cell.startsWith('idle '))
    return {
      keys: portion('keys').keys,
      bytes: estimatedTotal(strata, this.#sums, this.#squares),
      share: estimatedShare(
        strata,
        { sums: this.#sums, squares: this.#squares },
        { sums: all.#sums, squares: all.#squares },
      ),
      types: named('type'),
      encodings: named('encoding'),
      forever: portion('forever'),
      ttl: buckets('ttl'),
      sizes: buckets('size'),
      idle: knowsIdle ? buckets('idle') : [],
    }
  }

  #note(cell: string, master: number, hits = 1): void {
    let counts = this.#cells.get(cell)
    if (counts === undefined) this.#cells.set(cell, (counts = []))
    counts[master] = (counts[master] ?? 0) + (hits ?? 0)
  }
}
