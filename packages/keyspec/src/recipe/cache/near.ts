import { type Command, type Connection, keysOf, type Shape } from '../../connection/connection.ts'
import type { Follower, Watch } from '../../connection/tracking/invalidations-watch.ts'
import { wrapConnection } from '../../connection/wrap.ts'
import { tickTime } from '../../tick-time.ts'

/** A copy of one entry, in this process. */
export interface Copy<T> {
  /** The value for everybody, where nobody can change it; else each reads the stored form himself. */
  readonly everybodys: Promise<T> | undefined
  readonly stored: string | Uint8Array | undefined
}

/** As it is kept; what a hit looks at stands together, in front. */
class Kept<T> implements Copy<T> {
  /** Since the hand of the clock last passed. */
  used = false
  /** When the key expires in Redis, in whole ms of `performance.now()`, since those need no memory of their own; 0: never. */
  readonly endsAt: number
  readonly everybodys: Promise<T> | undefined
  readonly stored: string | Uint8Array | undefined
  readonly name: string
  readonly place: number

  constructor(name: string, place: number, { everybodys, stored }: Copy<T>, endsAt: number) {
    this.endsAt = endsAt
    this.everybodys = everybodys
    this.stored = stored
    this.name = name
    this.place = place
  }
}

/** A read that is under way, and that nothing was written behind so far. */
export interface Reading {
  readonly name: string
  readonly begunAt: number
}

/**
 * The copies that one cache keeps near: of as many entries as it may, those that were used of late (second chance: a hand
 * goes round, and takes the first that was not used since it last passed).
 *
 * What is kept is what was read after the keys began to be followed, and no change was heard of since the question
 * was sent: an invalidation may overtake the answer to a read that came before the write.
 */
export class Near<T> implements Follower {
  readonly #watch: Watch
  readonly #most: number
  readonly #copies = new Map<string, Kept<T>>()
  readonly #readings = new Map<string, Reading>()
  readonly #ring: (Kept<T> | undefined)[] = []
  readonly #free: number[] = []
  #hand = 0

  constructor(watch: Watch, most: number) {
    this.#watch = watch
    this.#most = most
  }

  /** The copy of an entry, if there is one that can be relied upon. */
  find(name: string): Copy<T> | undefined {
    const kept = this.#copies.get(name)
    if (kept === undefined) return undefined
    const now = tickTime()
    if (now >= kept.endsAt && kept.endsAt !== 0) {
      this.#remove(kept)
      return undefined
    }
    if (now >= this.#watch.trustedUntil) return undefined
    if (!kept.used) kept.used = true
    return kept
  }

  /** Begins a read whose answer may be kept; `undefined` where it may not. Several at once share one. */
  begin(name: string): Reading | undefined {
    const { keeps, trustedUntil } = this.#watch
    if (!keeps) return undefined
    const begunAt = performance.now()
    if (begunAt >= trustedUntil) return undefined
    let reading = this.#readings.get(name)
    if (reading === undefined) this.#readings.set(name, (reading = { name, begunAt }))
    return reading
  }

  /** Ends a read; answers whether what it found may be kept. */
  end(reading: Reading): boolean {
    if (this.#readings.get(reading.name) !== reading) return false
    this.#readings.delete(reading.name)
    return this.#watch.keeps
  }

  /** Keeps a copy for so many ms from the beginning of the read, or without end. */
  keep({ name, begunAt }: Reading, copy: Copy<T>, ms: number | 'forever'): void {
    this.#forget(name)
    const place = this.#free.pop() ?? (this.#ring.length < this.#most ? this.#ring.length : this.#evict())
    const kept = new Kept(name, place, copy, ms === 'forever' ? 0 : Math.floor(begunAt + ms))
    this.#ring[place] = kept
    this.#copies.set(name, kept)
  }

  drop(name: string): void {
    this.#readings.delete(name)
    this.#forget(name)
  }

  clear(): void {
    this.#readings.clear()
    this.#copies.clear()
    this.#ring.length = 0
    this.#free.length = 0
    this.#hand = 0
  }

  #forget(name: string): void {
    const kept = this.#copies.get(name)
    if (kept !== undefined) this.#remove(kept)
  }

  #remove(kept: Kept<T>): void {
    this.#copies.delete(kept.name)
    this.#ring[kept.place] = undefined
    this.#free.push(kept.place)
  }

  /** Makes room in a ring without a free place, and gives the place. */
  #evict(): number {
    for (;;) {
      const place = this.#hand
      this.#hand = (place + 1) % this.#most
      const kept = this.#ring[place]!
      if (!kept.used) {
        this.#copies.delete(kept.name)
        return place
      }
      kept.used = false
    }
  }
}

// What changes nothing. What is not known to belong here drops a copy for nothing, which costs one read.
const READS: ReadonlySet<unknown> = new Set(['GET', 'PTTL', 'EXISTS', 'SCAN'])

/**
 * The connection of a cache with copies: what this process writes goes from the copies at once, so that it reads what it
 * wrote, and again when it is answered, since a script that is sent a second time is overtaken by reads.
 */
export function dropping(connection: Connection, near: Near<unknown>): Connection {
  return wrapConnection(connection, {
    send(command: Command, shape: Shape) {
      const sent = () => connection.send(command, shape)
      if (READS.has(command[0])) return sent()
      const keys = keysOf(command, shape)
      const drop = () => {
        for (const key of keys) near.drop(key)
      }
      drop()
      return sent().finally(drop)
    },
  })
}
