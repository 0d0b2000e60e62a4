import { onAbort } from '../../abort.ts'
import type { Subscriber } from '../../connection/connection.ts'
import { after } from '../../timer.ts'

const SHORTEST_MS = 5
const LONGEST_MS = 50

/**
 * Waits for what somebody else does: in pauses of an eighth of the time waited so far (5 to 50 ms, and up to half
 * shorter, so that those who began together do not ask together), each cut short by a message where there is a subscriber.
 */
export class Waiting {
  readonly #subscriber: Subscriber | undefined
  readonly #signal: AbortSignal
  readonly #heard = new Map<string, Promise<(() => Promise<void>) | undefined>>()
  readonly #unheard: () => void
  #since: number | undefined
  #called = false
  #wake: () => void = () => {}

  constructor(subscriber: Subscriber | undefined, signal: AbortSignal) {
    this.#subscriber = subscriber
    this.#signal = signal
    this.#unheard = onAbort(signal, () => this.#wake())
  }

  /** Whether there has been a pause. */
  get begun(): boolean {
    return this.#since !== undefined
  }

  /** One pause, cut short by a message on any of these channels; answers whether one came. */
  pause(channels: readonly string[]): Promise<boolean> {
    if (this.#subscriber !== undefined)
      for (const channel of channels) this.#listen(this.#subscriber, channel)
    this.#since ??= performance.now()
    // What was heard since the last pause, while we asked: ask again.
    if (this.#called) {
      this.#called = false
      return Promise.resolve(true)
    }
    const longest = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, (performance.now() - this.#since) / 8))
    return new Promise((resolve) => {
      const timer = after(longest * (0.5 + Math.random() / 2), () => this.#wake())
      this.#wake = () => {
        timer.cancel()
        this.#wake = () => {}
        resolve(this.#called)
        this.#called = false
      }
      if (this.#signal.aborted) this.#wake()
    })
  }

  /** Stops listening. */
  end(): void {
    this.#unheard()
    for (const listening of this.#heard.values()) void listening.then((stop) => stop?.()).catch(() => {})
  }

  #hear(): void {
    this.#called = true
    this.#wake() // which, in a pause, answers the call
  }

  #listen(subscriber: Subscriber, channel: string): void {
    if (this.#heard.has(channel)) return
    // A message that is missed costs a pause, no more: so a subscription that fails is no failure.
    const listening = subscriber.subscribe(channel, () => this.#hear()).catch(() => undefined)
    this.#heard.set(channel, listening)
  }
}
