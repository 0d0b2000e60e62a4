import { isUnavailable } from '../../connection/server-error.ts'
import { LeaseLostError } from '../../errors.ts'
import { after, type Timer } from '../../timer.ts'
import type { Keeping } from '../lease/keep-renewed.ts'
import type { Lease } from './lease.ts'

/** What may be said of a lock that is kept. */
export interface KeepOptions {
  readonly key: string
  /** The work goes on while Redis cannot be reached, even when the lease may have ended. */
  readonly proceeds: boolean
}

/**
 * Runs work under a lock, renewed three times in its lifetime, and releases it. The signal is aborted as soon as Redis says
 * that the lock is lost, refuses to renew it, or the lease is over by this process's own clock. If the server's clock steps
 * forward, another may hold the lock until the next renewal, for a third of `ttl`. Work that releases the lock itself ends this.
 */
export async function keepWhile<T, H extends Lease>(
  lease: H,
  work: (signal: AbortSignal, lease: H) => T | Promise<T>,
  { key, proceeds }: KeepOptions,
): Promise<T> {
  const lost = new AbortController()
  const keeper = lease.exclusive ? keep(lease, lost, { key, proceeds }) : undefined
  let value: T
  try {
    lost.signal.throwIfAborted() // the answer came too late
    value = await work(lost.signal, lease)
  } catch (error) {
    keeper?.stop()
    await lease.release().catch(() => {})
    throw error
  }
  keeper?.stop()
  const releasedByWork = (await lease.gaveBack) === true
  if (releasedByWork && !lost.signal.aborted) return value
  // A process that was stopped may come here before its timers do.
  const withinLease = lease.leftMs > 0
  const released = await lease.giveBack().catch((error: unknown) => {
    if (isUnavailable(error)) return proceeds || withinLease
    throw error
  })
  if (keeper === undefined) return value
  if (lost.signal.aborted) throw lost.signal.reason as LeaseLostError
  if (!released && !keeper.sawOutage() && !lease.isReleaseUnknown) throw lostError(key)
  return value
}

function keep(lease: Lease, lost: AbortController, { key, proceeds }: KeepOptions) {
  const { held } = lease
  let ending: Timer | undefined
  let stopped = false
  let sawOutage = false
  const stop = () => {
    stopped = true
    held.stopKeeping()
    ending?.cancel()
  }
  const lose = (cause?: unknown) => {
    stop()
    lost.abort(lostError(key, cause))
  }
  // The work may extend the lease as well, or learn that it is lost.
  const watch = () => {
    // The work released the lock itself: its answer tells whether it was lost before.
    if (lease.isReleased) return stop()
    // Where the work goes on without Redis, only Redis itself can say that the lock is lost.
    if (stopped || proceeds) return
    ending?.cancel()
    if (lease.leftMs === 0) lose()
    else ending = after(lease.leftMs, watch, { keepsAlive: false })
  }
  const keeping: Keeping = {
    lost(cause) {
      if (cause === undefined && proceeds && sawOutage) stop()
      else lose(cause)
    },
    unanswered() {
      if (proceeds) sawOutage = true
    },
  }
  held.keep(keeping, () => lease.extend())
  held.watch(watch)
  watch()
  return { stop, sawOutage: () => sawOutage }
}

function lostError(key: string, cause?: unknown): LeaseLostError {
  return new LeaseLostError(
    `${key}: the lock was lost while the work ran, so others may have worked at the same time; ` +
      'check what was written, or use a fence',
    key,
    cause,
  )
}
