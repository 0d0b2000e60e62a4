/** All that wait for one signal, and the one listener that they share. */
interface Hearing {
  readonly all: Set<() => void>
  readonly listener: () => void
}

const hearings = new WeakMap<AbortSignal, Hearing>()

/**
 * Calls `heard` once when the signal aborts, until the returned function is called. Each signal has one listener, however many
 * wait for it, since Node warns of more than ten. `heard` must not throw. It is not called for a signal that aborted before.
 */
export function onAbort(signal: AbortSignal, heard: () => void): () => void {
  if (signal.aborted) return () => {}
  const hearing = hearings.get(signal) ?? listenTo(signal)
  // A function of its own, so that the same one given twice is called twice.
  const own = () => heard()
  hearing.all.add(own)
  return () => {
    if (!hearing.all.delete(own) || hearing.all.size > 0) return
    signal.removeEventListener('abort', hearing.listener)
    hearings.delete(signal)
  }
}

function listenTo(signal: AbortSignal): Hearing {
  const all = new Set<() => void>()
  const listener = () => {
    hearings.delete(signal)
    const each = [...all]
    all.clear()
    for (const heard of each) heard()
  }
  const hearing = { all, listener }
  hearings.set(signal, hearing)
  signal.addEventListener('abort', listener, { once: true })
  return hearing
}
