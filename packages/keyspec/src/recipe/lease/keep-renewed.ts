import { isUnavailable } from '../../connection/server-error.ts'
import { after, type Timer } from '../../timer.ts'

/** What the holder of a lease is told while the lease is kept. */
export interface Keeping {
  /** The lease has passed on, or Redis refuses to extend it, with its refusal as the cause. It is not extended again. */
  lost(cause?: unknown): void
  /** An extension got no answer. It is tried again. */
  unanswered?(): void
}

/** Extends a lease until it is stopped. */
export interface Keeper {
  stop(): void
}

/**
 * Extends a lease three times in its `ttlMs`, and ten times while Redis does not answer, until it is lost or `stop` is called.
 * It does not keep the process alive.
 */
export function keepRenewed(extend: () => Promise<boolean>, ttlMs: number, keeping: Keeping): Keeper {
  let timer: Timer
  let stopped = false
  const renewIn = (ms: number) => {
    timer = after(ms, () => void renew(), { keepsAlive: false })
  }
  const renew = async () => {
    try {
      const ours = await extend()
      if (stopped) return
      if (ours) renewIn(ttlMs / 3)
      else keeping.lost()
    } catch (error) {
      if (stopped) return
      if (!isUnavailable(error)) return keeping.lost(error)
      keeping.unanswered?.()
      if (!stopped) renewIn(ttlMs / 10)
    }
  }
  renewIn(ttlMs / 3)
  return {
    stop() {
      stopped = true
      timer.cancel()
    },
  }
}
