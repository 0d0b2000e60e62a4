import type { Subscriber } from '../../connection/connection.ts'
import { onAbort } from '../../abort.ts'
import { after } from '../../timer.ts'

const FIRST_MS = 10
const LONGEST_MS = 1000

/** How long to ask, and what may cut a pause short. */
export interface Patience {
  readonly waitMs: number
  readonly subscriber: Subscriber | undefined
  readonly channel: string
  readonly signal: AbortSignal | undefined
}

/** Asks until there is an answer or the time is over, ever more slowly; a message on the channel asks at once. */
export async function patiently<A>(
  { waitMs, subscriber, channel, signal }: Patience,
  ask: () => Promise<A | undefined>,
): Promise<A | undefined> {
  const deadline = performance.now() + waitMs
  let heard = false
  let wake = () => {}
  const hear = () => {
    heard = true
    wake()
  }
  const unheard = signal === undefined ? undefined : onAbort(signal, () => wake())
  // A message that is missed costs a pause, no more: so a subscription that fails is no failure.
  const listening = subscriber?.subscribe(channel, hear).catch(() => undefined)
  try {
    if (listening !== undefined && !isAborted(signal)) {
      await new Promise<void>((resolve) => {
        const timer = after(Math.min(waitMs, LONGEST_MS), resolve)
        wake = () => {
          timer.cancel()
          resolve()
        }
        // One that comes later asks again, since a message may have been missed.
        void listening.then(hear)
      })
    }
    for (let pauseMs = FIRST_MS; !isAborted(signal); pauseMs = Math.min(LONGEST_MS, pauseMs * 2)) {
      heard = false
      const answer = await ask()
      if (answer !== undefined) return answer
      const leftMs = deadline - performance.now()
      if (leftMs <= 0) return undefined
      // A message that came while asking may be about what the question was too early for.
      if (heard || isAborted(signal)) continue
      // Spread out, so that many who wait do not all ask at once.
      await new Promise<void>((resolve) => {
        const timer = after(Math.min(leftMs, pauseMs * (0.5 + Math.random() / 2)), resolve)
        wake = () => {
          timer.cancel()
          resolve()
        }
      })
    }
    return undefined
  } finally {
    unheard?.()
    // Not awaited: nothing that happens to the subscriber may hold up the answer, or lose it.
    void listening?.then((end) => end?.()).catch(() => {})
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}
