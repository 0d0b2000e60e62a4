/**
 * How long a lease is left, as far as its holder can reckon it: by the monotonic clock of this process, from the moment at
 * which the lease was asked for. The server starts counting later, so while its clock goes at the same pace it ends the
 * lease no sooner. A step of the server's clock is not seen from here; see docs/design/leases.md.
 */
export class LeaseTerm {
  #untilMs: number
  #questions = 0
  #ended = false
  #changed = () => {}

  /** @param askedAtMs The time of `performance.now()` before the question was sent. */
  constructor(askedAtMs: number, ttlMs: number) {
    this.#untilMs = askedAtMs + ttlMs
  }

  /** 0 once it has ended, was lost or was given back. */
  get leftMs(): number {
    return this.#ended ? 0 : Math.max(0, this.#untilMs - performance.now())
  }

  /** Calls `changed` whenever `leftMs` was set to something else than what time makes of it. */
  watch(changed: () => void): void {
    this.#changed = changed
  }

  /**
   * Notes that the server is asked now to let the lease end in `ttlMs`; returns what to call with its answer. Until then,
   * and for good if no answer comes, the lease ends at the earlier of both instants: the server may have set either.
   */
  ask(ttlMs: number): (ours: boolean) => void {
    const question = (this.#questions += 1)
    const untilMs = performance.now() + ttlMs
    this.#set(Math.min(this.#untilMs, untilMs))
    return (ours) => {
      if (!ours) this.end()
      // A later question may have been applied by now.
      else if (question === this.#questions) this.#set(untilMs)
    }
  }

  /** It was lost, or is being given back: no answer that is still under way makes it last again. */
  end(): void {
    this.#ended = true
    this.#changed()
  }

  #set(untilMs: number): void {
    if (untilMs === this.#untilMs) return
    this.#untilMs = untilMs
    this.#changed()
  }
}
