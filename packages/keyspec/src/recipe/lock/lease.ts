import type { Replication } from '../../connection/replication.ts'
import { isUnavailable } from '../../connection/server-error.ts'
import { type Duration, milliseconds } from '../../duration.ts'
import type { LeaseHome, TokenLease } from '../lease/token-lease.ts'

/** What the locks of one entry share. */
export interface LockHome extends LeaseHome {
  readonly proceeds: boolean
  /** Where declared, the lock's commands go over a connection of their own, and replicas acknowledge what they wrote. */
  readonly replication: Replication | undefined
}

/** What a holder knows of its lock. */
export interface Holding<Fence extends number | undefined> {
  readonly fence: Fence
  /** False where Redis was away and the work goes on without a lock. */
  readonly exclusive: boolean
}

/**
 * A lock that was acquired. The holder cannot know that nobody else holds it at this moment: the server's clock may step, a
 * failover may lose the lock, and this process may be stopped. What is certain is `fence`, if whatever is written to refuses
 * a fence below the highest that it has seen.
 */
export class Lease<Fence extends number | undefined = number | undefined> {
  readonly acquired = true
  /** False where Redis was away and the work goes on without a lock: others may do the same. */
  readonly exclusive: boolean
  /** Higher than that of every earlier holder: give it to what you write to, which refuses a lower one than it has seen. */
  readonly fence: Fence
  /** The random text by which Redis knows this holder. */
  readonly token: string
  readonly #home: LockHome
  readonly #held: TokenLease
  #replicas: number | undefined
  #isReleased = false
  #released: Promise<boolean> | undefined
  #isReleaseUnknown = false

  constructor(home: LockHome, held: TokenLease, { fence, exclusive }: Holding<Fence>) {
    this.#home = home
    this.#held = held
    this.token = held.token
    this.fence = fence
    this.exclusive = exclusive
  }

  /**
   * How much of the lease is left in ms, without asking Redis: 0 once its time is over, or it was lost or released. It is
   * counted by this process's monotonic clock from the moment the lease was asked for, so latency never makes it too long.
   * A server whose clock steps forward ends the lease sooner, which the next `extend` or renewal finds out.
   */
  get leftMs(): number {
    return this.#held.leftMs
  }

  /**
   * How many replicas acknowledged the lock when it was acquired or last extended; fewer than declared where they did not
   * answer in time. `undefined` unless `replicated` is declared. A failover can lose the lock all the same.
   */
  get replicas(): number | undefined {
    return this.#replicas
  }

  /** @internal What Redis knows of it: the token in the key, and its time. */
  get held(): TokenLease {
    return this.#held
  }

  /** @internal Whether the holder called `release`. */
  get isReleased(): boolean {
    return this.#isReleased
  }

  /** @internal Whether a `release` of the holder answered true, once it is known. */
  get gaveBack(): Promise<boolean> | undefined {
    return this.#released
  }

  /** @internal Whether a `release` of the holder within the lease got no answer: nobody knows when the lock ended. */
  get isReleaseUnknown(): boolean {
    return this.#isReleaseUnknown
  }

  /** @internal Notes how many replicas acknowledged it. */
  acknowledged(replicas: number): this {
    this.#replicas = replicas
    return this
  }

  /**
   * Lets it end this long from now. False where it is no longer ours. Where no answer came, `leftMs` goes on to the earlier
   * of the old end and the new one.
   *
   * @param duration Defaults to the declared `ttl`.
   */
  async extend(duration?: Duration): Promise<boolean> {
    const { ttlMs: declaredMs, replication } = this.#home
    const ttlMs = duration === undefined ? declaredMs : milliseconds(duration)
    if (replication === undefined) return this.#held.extend(ttlMs)
    const { value, replicas } = await replication.write(
      (over) => this.#held.extend(ttlMs, over),
      (ours) => ours,
    )
    if (value) this.acknowledged(replicas)
    return value
  }

  /**
   * Gives it back. True where it was ours until now; false where this call gave nothing back: the lock had passed on, had
   * ended, or was given back before. If no answer comes, it rejects, since nobody knows; releasing again is safe, and the
   * lock ends by itself. With `unreachable: 'proceed'` that is false too.
   */
  async release(): Promise<boolean> {
    const before = this.#released ?? false
    const withinLease = this.leftMs > 0
    // Before the lease ends: `using` then asks for it.
    this.#isReleased = true
    const giving = this.giveBack()
    this.#released = giving.then(
      (ours) => ours || before,
      () => before,
    )
    try {
      return await giving
    } catch (error) {
      if (withinLease && isUnavailable(error)) this.#isReleaseUnknown = true
      if (this.#home.proceeds && isUnavailable(error)) return false
      throw error
    }
  }

  /** @internal `release`, which rejects wherever Redis is away. */
  async giveBack(): Promise<boolean> {
    const { replication } = this.#home
    return this.#held.giveBack(replication === undefined ? undefined : (give) => replication.send(give))
  }
}
