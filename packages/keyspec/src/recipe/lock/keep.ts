import { isUnavailable } from '../../connection/server-error.ts'
import { LeaseLostError } from '../../errors.ts'
import type { Held } from './held.ts'

/** What may be said of a lock that is kept. */
export interface KeepOptions {
  readonly key: string
  readonly ttlMs: number
  /** The work goes on while Redis cannot be reached, even when the lease may have ended. */
  readonly proceeds: boolean
}

/**
 * Runs work under a lock, renewed three times in its lifetime, and releases it. The signal is aborted as soon as the lock
 * is known to be lost, or can no longer be known to be held: its time is over by our own clock, which counts from before
 * the question was sent, so it ends no later than the server's.
 */
export async function keepWhile<T, H extends Held>(
  held: H,
  work: (signal: AbortSignal, held: H) => T | Promise<T>,
  { key, ttlMs, proceeds }: KeepOptions,
): Promise<T> {
  const lost = new AbortController()
  const keeper = held.exclusive ? keep(held, lost, { key, ttlMs, proceeds }) : undefined
  let value: T
  try {
    value = await work(lost.signal, held)
  } catch (error) {
    keeper?.stop()
    await held.release().catch(() => {})
    throw error
  }
  keeper?.stop()
  // A process that was stopped may come here before its timers do.
  const certain = held.leftMs > 0
  const released = await held.giveBack().catch((error: unknown) => {
    if (isUnavailable(error)) return proceeds || certain
    throw error
  })
  if (keeper === undefined) return value
  if (lost.signal.aborted || (!released && !keeper.sawOutage())) throw lostError(key)
  return value
}

function keep(held: Held, lost: AbortController, { key, ttlMs, proceeds }: KeepOptions) {
  let renewing: NodeJS.Timeout | undefined
  let ending: NodeJS.Timeout | undefined
  let stopped = false
  let sawOutage = false

  const stop = () => {
    stopped = true
    clearTimeout(renewing)
    clearTimeout(ending)
  }
  const lose = () => {
    stop()
    lost.abort(lostError(key))
  }
  const watch = () => {
    clearTimeout(ending)
    // Where the work goes on without Redis, only Redis itself can say that the lock is lost.
    if (!proceeds) ending = setTimeout(lose, held.leftMs).unref()
    renewing = setTimeout(() => void renew(), ttlMs / 3).unref()
  }
  const renew = async () => {
    try {
      const ours = await held.extend()
      if (stopped) return
      if (ours) watch()
      else if (proceeds && sawOutage) stop()
      else lose()
    } catch (error) {
      if (stopped) return
      if (!isUnavailable(error)) return lose()
      if (proceeds) sawOutage = true
      renewing = setTimeout(() => void renew(), ttlMs / 10).unref()
    }
  }
  watch()
  return { stop, sawOutage: () => sawOutage }
}

function lostError(key: string): LeaseLostError {
  return new LeaseLostError(
    `${key}: the lock was lost while the work ran, so others may have worked at the same time; ` +
      'check what was written, or use a fence',
    key,
  )
}
