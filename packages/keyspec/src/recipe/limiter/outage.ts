import { after, type Timer } from '../../timer.ts'
import type { LimitResult, LimitState } from './limit-result.ts'

/**
 * What a limiter does while Redis cannot be reached: refuses everything, admits everything, or admits from a share of
 * the limit that this process may use by itself (`{ share: 1 / 8 }` where eight processes run).
 */
export type Unreachable = 'refuse' | 'admit' | { readonly share: number }

/** What Redis says of a key's count: what is left of the limit, and for how long this window lasts. */
export interface Heard {
  readonly remaining: number
  readonly resetMs: number
}

/** What an outage needs of the limiter that it stands in for. */
export interface OutageOptions {
  readonly unreachable: Unreachable
  readonly perMs: number
  /** Asks Redis for anything of this key: resolves once it answers. */
  readonly ask: (key: string, limit: number) => Promise<unknown>
  /** Adds calls to the key's count, whatever its limit, and returns how it stands after that. */
  readonly add: (key: string, count: number, limit: number) => Promise<Heard>
  /** Any clock in ms that runs forward. */
  readonly clock: () => number
}

/** Calls that were admitted at about one moment. */
interface Hit {
  readonly at: number
  count: number
  /** Those of them that Redis has not confirmed as added. */
  owed: number
  /** No later call joins it. */
  isClosed: boolean
}

interface Admitted {
  readonly limit: number
  /** The calls of the last `perMs`, oldest first, added to Redis or not. */
  hits: Hit[]
}

const RETRY_MS = 1000
const AT_ONCE = 64

/**
 * Stands in for Redis while it is away, and adds what was admitted meanwhile to the counts once it answers. See
 * docs/design/outage-share.md.
 *
 * A share is of what was left of the limit when Redis was last heard, as long as that window lasts, and of the whole
 * limit after it; rounded down. A call that was admitted here is *owed* until Redis confirms that it was added. What is
 * owed counts against the share, and against what Redis says is left. All calls that were admitted here in the last
 * window, owed or added, stay within the share of the whole limit. So however often the connection breaks, one process
 * stays within its share while Redis is away, and within the limit in all; n processes with a share of 1/n each stay
 * within the limit together, but for what they took after they last heard of each other.
 *
 * A take or an addition whose answer was lost may have been counted, and is counted again: the error is on the side of the
 * limit. `guarded` keeps those few, since it sends nothing while it holds Redis to be down.
 */
export class Outage {
  readonly #options: OutageOptions
  readonly #refill: number
  // Both in the order in which their entries end, so that what has ended goes from the front.
  readonly #admitted = new Map<string, Admitted>()
  readonly #heard = new Map<string, { remaining: number; until: number }>()
  /** The keys with calls that are owed. */
  readonly #owing = new Set<string>()
  #settling = false
  #timer: Timer | undefined

  constructor(options: OutageOptions) {
    this.#options = options
    this.#refill = options.perMs / 64
  }

  /**
   * Takes note of an answer of Redis, and returns it as it counts here: what is owed comes off what remains, and a take
   * that only passed because Redis does not know of it is refused. Then what is owed is added.
   */
  reached(key: string, taken: LimitResult): LimitResult {
    const owed = this.#answered(key, taken)
    if (owed === 0) return taken
    const remaining = Math.max(0, taken.remaining - owed)
    if (!taken.allowed || taken.remaining >= owed) return { ...taken, remaining }
    return { ...taken, allowed: false, remaining, retryAfterMs: Math.min(RETRY_MS, this.#options.perMs) }
  }

  /**
   * Takes note of how Redis says that a key stands, and returns how it stands here: what is owed comes off what remains.
   * Then what is owed is added.
   *
   * @param renewedMs In how many ms the whole limit is free again if the first call is counted now.
   */
  looked<S extends LimitState>(key: string, standing: S, renewedMs: number): S {
    const owed = this.#answered(key, standing)
    if (owed === 0) return standing
    const remaining = Math.max(0, standing.remaining - owed)
    return { ...standing, remaining, resetMs: standing.resetMs === 0 ? renewedMs : standing.resetMs }
  }

  /** Decides without Redis. */
  take(key: string, cost: number, limit: number): LimitResult {
    const { unreachable, perMs, clock } = this.#options
    const now = clock()
    const told = { limit, perMs, from: 'unreachable' } as const
    const retryAfterMs = Math.min(RETRY_MS, perMs)
    if (unreachable === 'refuse') {
      return { allowed: false, ...told, remaining: 0, retryAfterMs, resetMs: retryAfterMs }
    }
    const left = unreachable === 'admit' ? Infinity : this.#left(key, limit, unreachable.share, now)
    if (cost > left) {
      return { allowed: false, ...told, remaining: Math.max(0, left), retryAfterMs, resetMs: retryAfterMs }
    }
    this.#admit(key, { at: now, count: cost, owed: cost, isClosed: false }, limit)
    const most = unreachable === 'admit' ? limit - sum(this.#hitsOf(key, now), 'count') : left - cost
    return { allowed: true, ...told, remaining: Math.max(0, most), resetMs: perMs }
  }

  /**
   * Begins the reset of a key; the function that it returns ends it, once Redis has confirmed it, and forgets what had been
   * admitted and heard before it began.
   */
  resetting(key: string): () => void {
    const hits = this.#hitsOf(key, this.#options.clock())
    // Those that are admitted from now on do not join these.
    for (const hit of hits) hit.isClosed = true
    return () => {
      for (const hit of hits) hit.count = hit.owed = 0
      this.#heard.delete(key)
      this.#prune(key, this.#options.clock())
    }
  }

  /** Adds what is owed by all keys, and returns how many calls still are. */
  async settle(): Promise<number> {
    if (this.#owing.size > 0) await this.#settle()
    return [...this.#owing].reduce((total, key) => total + this.#owedBy(key), 0)
  }

  /** Notes an answer of Redis, has what is owed added, and returns what the key owed until now. */
  #answered(key: string, heard: Heard): number {
    this.#hear(key, heard)
    if (this.#owing.size === 0) return 0
    const owed = this.#owedBy(key)
    void this.#settle()
    return owed
  }

  #hear(key: string, { remaining, resetMs }: Heard): void {
    if (typeof this.#options.unreachable !== 'object') return
    const now = this.#options.clock()
    this.#heard.delete(key)
    this.#heard.set(key, { remaining, until: now + resetMs })
    for (const [old, { until }] of this.#heard) {
      if (until > now) break
      this.#heard.delete(old)
    }
  }

  /** What the share has left for a key. */
  #left(key: string, limit: number, share: number, now: number): number {
    const heard = this.#heard.get(key)
    const remaining = heard !== undefined && heard.until > now ? Math.min(heard.remaining, limit) : limit
    const hits = this.#hitsOf(key, now)
    return Math.min(
      sharedOf(remaining, share) - sum(hits, 'owed'),
      sharedOf(limit, share) - sum(hits, 'count'),
    )
  }

  /** The calls of the last window. */
  #hitsOf(key: string, now: number): readonly Hit[] {
    this.#prune(key, now)
    return this.#admitted.get(key)?.hits ?? []
  }

  #owedBy(key: string): number {
    return this.#owing.has(key) ? sum(this.#hitsOf(key, this.#options.clock()), 'owed') : 0
  }

  /** Drops the calls that have left the window, and the key with the last of them. */
  #prune(key: string, now: number): void {
    const admitted = this.#admitted.get(key)
    if (admitted === undefined) return
    admitted.hits = admitted.hits.filter(({ at, count }) => count > 0 && at > now - this.#options.perMs)
    if (admitted.hits.length === 0) this.#admitted.delete(key)
    if (sum(admitted.hits, 'owed') === 0) this.#owing.delete(key)
  }

  #admit(key: string, hit: Hit, limit: number): void {
    const hits = this.#admitted.get(key)?.hits ?? []
    const last = hits.at(-1)
    if (last !== undefined && !last.isClosed && hit.at - last.at < this.#refill) {
      last.count += hit.count
      last.owed += hit.owed
    } else hits.push(hit)
    this.#admitted.delete(key)
    this.#admitted.set(key, { limit, hits })
    this.#owing.add(key)
    for (const [old, admitted] of this.#admitted) {
      if (admitted.hits.at(-1)!.at > hit.at - this.#options.perMs) break
      this.#admitted.delete(old)
      this.#owing.delete(old)
    }
    this.#wait()
  }

  /** A process that takes nothing more must settle as well: one timer for all keys, while there is something to settle. */
  #wait(): void {
    if (this.#timer !== undefined) return
    this.#timer = after(RETRY_MS, () => void this.#trySettling(), { keepsAlive: false })
  }

  async #trySettling(): Promise<void> {
    const [key] = this.#owing
    const limit = key === undefined ? undefined : this.#admitted.get(key)?.limit
    if (key !== undefined && limit !== undefined) {
      // Reading first: were it adding that got lost again and again, a count could grow each time.
      const answered = await this.#options.ask(key, limit).then(
        () => true,
        () => false,
      )
      if (answered) await this.#settle()
    }
    this.#timer = undefined
    if (this.#owing.size > 0) this.#wait()
  }

  async #settle(): Promise<void> {
    if (this.#settling) return
    this.#settling = true
    const due = [...this.#owing]
    for (let at = 0; at < due.length; at += AT_ONCE) {
      const added = await Promise.all(due.slice(at, at + AT_ONCE).map((key) => this.#add(key)))
      if (added.includes(false)) break
    }
    this.#settling = false
  }

  /** Adds what a key owes. It is owed until Redis confirms it, so that it counts here or there at any moment, or in both. */
  async #add(key: string): Promise<boolean> {
    const { add, clock } = this.#options
    const hits = this.#hitsOf(key, clock())
    const sent = hits.map((hit) => [hit, hit.owed] as const)
    const count = sum(hits, 'owed')
    if (count === 0) return true
    try {
      const heard = await add(key, count, this.#admitted.get(key)!.limit)
      for (const [hit, owed] of sent) hit.owed = Math.max(0, hit.owed - owed)
      this.#hear(key, heard)
      this.#prune(key, clock())
      return true
    } catch {
      return false
    }
  }
}

function sharedOf(amount: number, share: number): number {
  // 0.1 * 30 is 3.0000000000000004 and 0.7 * 10 is 7.000000000000001, but 0.29 * 100 is 28.999999999999996.
  return Math.floor(amount * share + 1e-9)
}

function sum(hits: readonly Hit[], of: 'count' | 'owed'): number {
  return hits.reduce((total, hit) => total + hit[of], 0)
}
