import { onAbort } from '../../abort.ts'
import { ArgumentRangeError, ArgumentTypeError } from '../../errors.ts'
import { after } from '../../timer.ts'
import type { Flight, LoadAll, Params } from './flight.ts'
import { untilAborted } from './until-aborted.ts'

/** What ends a load before it answers. */
export interface LoadBounds {
  /** Aborted when nobody waits for the load any more. */
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Makes the error of a load that takes longer. */
  readonly expired: () => Error
}

/**
 * Loads entries in one call; resolves to a value for each, in their order. The signal that the load is given is aborted
 * when nobody waits any more, or when it takes too long. Rejects with the reason of either, with the error of the load,
 * and with an `ArgumentTypeError` or `ArgumentRangeError` if the load gives anything but a value for each entry.
 */
export async function callLoad<P extends Params, V>(
  load: LoadAll<P, V>,
  flights: readonly Flight<P>[],
  { signal, timeoutMs, expired }: LoadBounds,
): Promise<readonly (V | undefined)[]> {
  const ending = new AbortController()
  const unheard = onAbort(signal, () => ending.abort(signal.reason))
  const deadline = after(timeoutMs, () => ending.abort(expired()), { keepsAlive: false })
  try {
    signal.throwIfAborted()
    const missing = flights.map(({ params }) => params)
    // Plain JavaScript may give the values themselves.
    const values = await untilAborted(Promise.resolve(load(missing, ending.signal)), ending.signal)
    if (!Array.isArray(values)) throw new ArgumentTypeError('the load gave no array of values')
    if (values.length !== flights.length)
      throw new ArgumentRangeError(
        `${flights.length} entries were to be loaded, but the load gave ${values.length} values`,
      )
    return values
  } finally {
    deadline.cancel()
    unheard()
  }
}
