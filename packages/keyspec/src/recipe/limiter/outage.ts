import type { Taken } from './taken.ts'

/**
 * What a limiter does while Redis cannot be reached: refuses everything, admits everything, or admits from a share of
 * the limit that this process may use by itself (`{ share: 1 / 8 }` where eight processes run).
 */
export type Unreachable = 'refuse' | 'admit' | { readonly share: number }

/** What an outage needs of the limiter that it stands in for. */
export interface OutageOptions {
  readonly unreachable: Unreachable
  readonly perMs: number
  /** Asks Redis for anything of this key: resolves once it answers. */
  readonly ask: (key: string, limit: number) => Promise<unknown>
  /** Adds calls to the key's count, whatever its limit. */
  readonly add: (key: string, count: number, limit: number) => Promise<unknown>
  /** Any clock in ms that runs forward. */
  readonly clock: () => number
}

interface Admitted {
  readonly limit: number
  /** When they were admitted, oldest first; those of about one moment stand together. */
  hits: { readonly at: number; count: number }[]
}

const RETRY_MS = 1000
const AT_ONCE = 64

/**
 * Stands in for Redis while it is away, and tells it afterwards what was admitted meanwhile.
 *
 * A share is of what was left of the limit when Redis was last heard, as long as that window lasts, and of the whole
 * limit after it; rounded down. So where n processes each have a share of 1/n, they stay within the limit together, but
 * for what they took after they last heard of each other.
 *
 * A take whose answer was lost may have been counted, and is admitted and counted again here: the error is on the side
 * of the limit. `guarded` keeps those few, since it sends nothing while it holds Redis to be down.
 */
export class Outage {
  readonly #options: OutageOptions
  readonly #refill: number
  // Both in the order in which their entries end, so that what has ended goes from the front.
  readonly #admitted = new Map<string, Admitted>()
  readonly #heard = new Map<string, { remaining: number; until: number }>()
  #settling = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: OutageOptions) {
    this.#options = options
    this.#refill = options.perMs / 64
  }

  /** Redis answered: what it said is kept for the next outage, and what was admitted in the last is added to its counts. */
  reached(key: string, { remaining, resetMs }: Taken): void {
    if (typeof this.#options.unreachable === 'object') {
      const now = this.#options.clock()
      this.#heard.delete(key)
      this.#heard.set(key, { remaining, until: now + resetMs })
      for (const [old, { until }] of this.#heard) {
        if (until > now) break
        this.#heard.delete(old)
      }
    }
    if (this.#admitted.size > 0) void this.#settle()
  }

  /** Decides without Redis. */
  take(key: string, cost: number, limit: number): Taken {
    const { unreachable, perMs, clock } = this.#options
    const now = clock()
    const told = { limit, perMs, from: 'unreachable' } as const
    const retryAfterMs = Math.min(RETRY_MS, perMs)
    if (unreachable === 'refuse') {
      return { allowed: false, ...told, remaining: 0, retryAfterMs, resetMs: retryAfterMs }
    }
    const used = this.#usedBy(key, now)
    const budget = unreachable === 'admit' ? Infinity : this.#budget(key, limit, unreachable.share, now)
    if (used + cost > budget) {
      const remaining = Math.max(0, budget - used)
      return { allowed: false, ...told, remaining, retryAfterMs, resetMs: retryAfterMs }
    }
    this.#admit(key, { at: now, count: cost }, limit)
    const remaining = Math.max(0, Math.min(budget, limit) - used - cost)
    return { allowed: true, ...told, remaining, resetMs: perMs }
  }

  /** Forgets a key whose count was reset. */
  forget(key: string): void {
    this.#admitted.delete(key)
    this.#heard.delete(key)
  }

  #budget(key: string, limit: number, share: number, now: number): number {
    const heard = this.#heard.get(key)
    const left = heard !== undefined && heard.until > now ? Math.min(heard.remaining, limit) : limit
    // 0.1 * 30 is 3.0000000000000004 and 0.7 * 10 is 7.000000000000001, but 0.29 * 100 is 28.999999999999996.
    return Math.floor(left * share + 1e-9)
  }

  #usedBy(key: string, now: number): number {
    const admitted = this.#admitted.get(key)
    if (admitted === undefined) return 0
    admitted.hits = admitted.hits.filter(({ at }) => at > now - this.#options.perMs)
    return admitted.hits.reduce((sum, { count }) => sum + count, 0)
  }

  #admit(key: string, hit: { at: number; count: number }, limit: number): void {
    const hits = this.#admitted.get(key)?.hits ?? []
    const last = hits.at(-1)
    if (last !== undefined && hit.at - last.at < this.#refill) last.count += hit.count
    else hits.push(hit)
    this.#admitted.delete(key)
    this.#admitted.set(key, { limit, hits })
    for (const [old, admitted] of this.#admitted) {
      if (admitted.hits.at(-1)!.at > hit.at - this.#options.perMs) break
      this.#admitted.delete(old)
    }
    this.#wait()
  }

  /** A process that takes nothing more must settle as well: one timer for all keys, while there is something to settle. */
  #wait(): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => void this.#trySettling(), RETRY_MS).unref()
  }

  async #trySettling(): Promise<void> {
    const [key, admitted] = this.#admitted.entries().next().value ?? []
    if (key !== undefined) {
      // Reading first: were it adding that got lost again and again, a count could grow each time.
      const answered = await this.#options.ask(key, admitted!.limit).then(
        () => true,
        () => false,
      )
      if (answered) await this.#settle()
    }
    this.#timer = undefined
    if (this.#admitted.size > 0) this.#wait()
  }

  async #settle(): Promise<void> {
    if (this.#settling) return
    this.#settling = true
    const { add, clock } = this.#options
    const due = [...this.#admitted]
    for (let at = 0; at < due.length; at += AT_ONCE) {
      const results = await Promise.all(
        due.slice(at, at + AT_ONCE).map(async ([key, admitted]) => {
          const count = this.#usedBy(key, clock())
          this.#admitted.delete(key)
          if (count === 0) return true
          return add(key, count, admitted.limit).then(
            () => true,
            () => this.#putBack(key, admitted),
          )
        }),
      )
      if (results.includes(false)) break
    }
    this.#settling = false
  }

  #putBack(key: string, { limit, hits }: Admitted): false {
    const since = this.#admitted.get(key)?.hits ?? []
    this.#admitted.set(key, { limit, hits: [...hits, ...since] })
    this.#wait()
    return false
  }
}
