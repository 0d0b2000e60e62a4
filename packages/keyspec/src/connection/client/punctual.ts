import { NotSentError, UnknownOutcomeError } from '../../errors.ts'
import { after } from '../../timer.ts'
import type { Subscriber } from '../connection.ts'
import { DEFAULT_MS } from './deadline.ts'

/**
 * A subscriber that answers within a bound, whatever becomes of its connection. A SUBSCRIBE without an answer rejects after
 * `boundMs`, and ends by itself if the answer comes later. Until then the connection counts as silent: further calls reject at
 * once, so nothing piles up in a client whose connection is half open. Recipes then ask in pauses, as without a subscriber.
 */
export function punctual(subscriber: Subscriber, boundMs = DEFAULT_MS): Subscriber {
  let silent = 0
  return {
    subscribe(channel, heard) {
      if (silent > 0)
        return Promise.reject(
          new NotSentError(`SUBSCRIBE ${channel} was not sent: an earlier one has no answer yet`, channel),
        )
      return new Promise((resolve, reject) => {
        let isLate = false
        const timer = after(
          boundMs,
          () => {
            isLate = true
            silent += 1
            const words = `no answer to SUBSCRIBE ${channel} within ${boundMs} ms`
            reject(new UnknownOutcomeError(`${words}: it may be under way`, channel))
          },
          { keepsAlive: false },
        )
        const settle = (settled: () => void) => {
          timer.cancel()
          if (isLate) silent -= 1
          settled()
        }
        // In a function, so that one that throws is a rejection.
        const asked = async () => subscriber.subscribe(channel, heard)
        asked().then(
          (stop) => settle(() => (isLate ? void stop().catch(() => {}) : resolve(stop))),
          (error: unknown) => settle(() => reject(error)),
        )
      })
    },
  }
}
