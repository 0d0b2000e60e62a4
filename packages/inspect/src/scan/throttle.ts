import { sleep } from 'keyspec/extend'
import { OptionError } from './option-error.ts'

/** The largest part of the server's time that a tool takes unless told: it rests ten times as long as it works. */
export const DEFAULT_LOAD = 0.1

/** Makes a tool rest between its batches, so that the server has time for everybody else. */
export interface Throttle {
  /** Does one batch, and rests after it in proportion to how long it took. */
  <T>(batch: () => Promise<T>): Promise<T>
}

/**
 * A pace at which the server is busy with us for at most this part of the time: 1 never rests, 0.1 rests nine times as long
 * as a batch took. How long it took is seen from here, so a slow network counts as load: too kind rather than too rude.
 * @throws OptionError if the load is not above 0 and at most 1
 */
export function throttle(maxLoad = DEFAULT_LOAD, signal?: AbortSignal): Throttle {
  if (!(maxLoad > 0 && maxLoad <= 1)) throw new OptionError(`a load is above 0 and at most 1, not ${maxLoad}`)
  let owedMs = 0
  return async (batch) => {
    signal?.throwIfAborted()
    const before = performance.now()
    const answer = await batch()
    owedMs += ((performance.now() - before) * (1 - maxLoad)) / maxLoad
    // A timer is not exact below some milliseconds: short rests are saved up.
    if (owedMs >= LEAST_REST_MS) {
      const from = performance.now()
      await sleep(Math.min(owedMs, LONGEST_REST_MS), signal)
      signal?.throwIfAborted()
      owedMs = Math.max(0, Math.min(owedMs, LONGEST_REST_MS) - (performance.now() - from))
    }
    return answer
  }
}

const LEAST_REST_MS = 2
// After a batch that met a stall of the server's own.
const LONGEST_REST_MS = 1000
