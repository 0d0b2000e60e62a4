import type { Subscriber } from '../../connection/connection.ts'

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
  const end = await subscriber?.subscribe(channel, () => {
    heard = true
    wake()
  })
  const aborted = () => wake()
  signal?.addEventListener('abort', aborted)
  try {
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
        const timer = setTimeout(resolve, Math.min(leftMs, pauseMs * (0.5 + Math.random() / 2)))
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    return undefined
  } finally {
    signal?.removeEventListener('abort', aborted)
    await end?.()
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}
