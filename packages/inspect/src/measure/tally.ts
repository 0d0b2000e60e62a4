import {
  type Estimate,
  estimatedCount,
  estimatedPart,
  estimatedShare,
  estimatedTotal,
  type Stratum,
} from './estimate.ts'
import { BOUNDS, bucketOf } from './histogram.ts'
import type { KeyFacts } from '../scan/scan.ts'

/** How many keys of a group have a property. */
export interface Share {
  readonly keys: Estimate
  /** As a part of the group's keys. */
  readonly share: Estimate
}

/** A portion by a name: a type, an encoding. */
export interface NamedShare extends Share {
  readonly name: string
}

/** A bucket of a histogram: what is below a bound and not in the bucket before. */
export interface Bucket extends Share {
  /** `undefined` in the last, which has no bound. */
  readonly below: number | undefined
}

/** What is known of the keys of one group. */
export interface KeyStats {
  readonly keys: Estimate
  /** By MEMORY USAGE, which of large collections is itself an estimate. */
  readonly bytes: Estimate
  /** Its part of the memory of all that was chosen. */
  readonly share: Estimate
  /** Most frequent first. */
  readonly types: readonly NamedShare[]
  /** Most frequent first; none where nobody asked. */
  readonly encodings: readonly NamedShare[]
  /** Keys without a time to live. */
  readonly forever: Share
  /** Times to live, in ms. */
  readonly ttl: readonly Bucket[]
  /** Sizes, in bytes. */
  readonly sizes: readonly Bucket[]
  /** How long nobody has used them, in ms; no bucket where the server does not know (an LFU policy), or nobody asked. */
  readonly idle: readonly Bucket[]
}

/** Counts the keys of one group, for each master by itself. */
export class Tally {
  /** Hits of cells, by master; a cell is a number, and `#named` has those of names. */
  readonly #cells: number[][] = []
  readonly #named = { type: new Map<string, number[]>(), encoding: new Map<string, number[]>() }
  readonly #sums: number[] = []
  readonly #squares: number[] = []
  /** How many keys were counted. */
  count = 0

  add({ type, ttlMs, bytes = 0, encoding, idleMs }: KeyFacts, master: number): void {
    this.count += 1
    const cells = (this.#cells[master] ??= noHits())
    cells[KEYS]! += 1
    cells[ttlMs === 'forever' ? FOREVER : FIRST.ttl + bucketOf(BOUNDS.ttl, ttlMs!)]! += 1
    cells[FIRST.size + bucketOf(BOUNDS.size, bytes)]! += 1
    if (idleMs !== undefined) cells[FIRST.idle + bucketOf(BOUNDS.idle, idleMs)]! += 1
    noteNamed(this.#named.type, type, master, 1)
    if (encoding !== undefined) noteNamed(this.#named.encoding, encoding, master, 1)
    this.#sums[master] = (this.#sums[master] ?? 0) + bytes
    this.#squares[master] = (this.#squares[master] ?? 0) + bytes ** 2
  }

  /** Adds what another has counted. */
  join(other: Tally): void {
    this.count += other.count
    other.#cells.forEach((theirs, master) => {
      const cells = (this.#cells[master] ??= noHits())
      for (let cell = 0; cell < CELLS; cell += 1) cells[cell]! += theirs[cell]!
    })
    for (const kind of ['type', 'encoding'] as const) {
      for (const [name, hits] of other.#named[kind])
        hits.forEach((hit, master) => noteNamed(this.#named[kind], name, master, hit))
    }
    for (const [at, sum] of other.#sums.entries()) this.#sums[at] = (this.#sums[at] ?? 0) + (sum ?? 0)
    for (const [at, sum] of other.#squares.entries())
      this.#squares[at] = (this.#squares[at] ?? 0) + (sum ?? 0)
  }

  /** What it all comes to, `all` being the tally of everything that was chosen. */
  tallied(strata: readonly Stratum[], all: Tally): KeyStats {
    // A master of which nothing was seen has none.
    const hitsOf = (cell: number) => strata.map((_, master) => this.#cells[master]?.[cell] ?? 0)
    const counts = hitsOf(KEYS)
    const portioned = (hits: readonly number[]): Share => ({
      keys: estimatedCount(strata, hits),
      share: estimatedPart(strata, hits, counts),
    })
    const portion = (cell: number): Share => portioned(hitsOf(cell))
    const named = (kind: 'type' | 'encoding'): NamedShare[] =>
      [...this.#named[kind]]
        .map(([name, hits]) => ({ name, ...portioned(strata.map((_, master) => hits[master] ?? 0)) }))
        .sort((a, b) => b.keys.value - a.keys.value || (a.name < b.name ? -1 : 1))
    const buckets = (kind: keyof typeof BOUNDS): Bucket[] =>
      [...BOUNDS[kind], undefined].map((below, at) => ({ below, ...portion(FIRST[kind] + at) }))
    const knowsIdle = this.#cells.some((cells) => cells.some((hits, cell) => cell >= FIRST.idle && hits > 0))
    return {
      keys: portion(KEYS).keys,
      bytes: estimatedTotal(strata, this.#sums, this.#squares),
      share: estimatedShare(
        strata,
        { sums: this.#sums, squares: this.#squares },
        { sums: all.#sums, squares: all.#squares },
      ),
      types: named('type'),
      encodings: named('encoding'),
      forever: portion(FOREVER),
      ttl: buckets('ttl'),
      sizes: buckets('size'),
      idle: knowsIdle ? buckets('idle') : [],
    }
  }
}

const KEYS = 0
const FOREVER = 1
const FIRST = {
  ttl: 2,
  size: 2 + BOUNDS.ttl.length + 1,
  idle: 2 + BOUNDS.ttl.length + 1 + BOUNDS.size.length + 1,
} as const
const CELLS = FIRST.idle + BOUNDS.idle.length + 1

function noHits(): number[] {
  return Array.from({ length: CELLS }, () => 0)
}

function noteNamed(cells: Map<string, number[]>, name: string, master: number, hits: number): void {
  let counts = cells.get(name)
  if (counts === undefined) cells.set(name, (counts = []))
  counts[master] = (counts[master] ?? 0) + hits
}
