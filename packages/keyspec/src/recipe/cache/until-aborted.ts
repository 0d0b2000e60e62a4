import { onAbort } from '../../abort.ts'

/** A promise, or the signal's reason should that come first. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal, aborted?: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const heard = () => {
      reject(signal.reason as Error)
      aborted?.()
    }
    const stop = onAbort(signal, heard)
    void promise.then(resolve, reject).finally(stop)
    if (signal.aborted) heard()
  })
}
