import { delayOf, LONGEST_DELAY_MS } from './delay.ts'

/** What a program says to the process that started it, when there is one: that it is ready, and where. */
export function report(message: { readonly ready: true; readonly url?: string }): void {
  process.send?.(message)
}

/**
 * Runs a program until it ends or is told to: SIGTERM, SIGINT, SIGHUP, or the end of the process that started it abort the
 * signal. Exit code 0, or 1 with the error's words on stderr.
 */
export async function program(name: string, run: (stop: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController()
  for (const event of ['SIGTERM', 'SIGINT', 'SIGHUP', 'disconnect'] as const)
    process.once(event, () => stop.abort())
  try {
    await run(stop.signal)
  } catch (error) {
    if (!stop.signal.aborted) {
      console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`)
      process.exitCode = 1
    }
  } finally {
    if (process.connected) process.disconnect()
  }
}

/** Waits, however long, unless the signal is or gets aborted; then it ends at once. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  for (let leftMs = ms; ; leftMs -= LONGEST_DELAY_MS) {
    if (signal.aborted) return
    await step(delayOf(leftMs), signal)
    if (leftMs <= LONGEST_DELAY_MS) return
  }
}

async function step(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, ms)
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
  })
}

/** Ever longer pauses, from 50 ms to `longestMs`, each spread by chance. */
export function backoff(longestMs: number): { next(): number; reset(): void } {
  let ms = 50
  return {
    next() {
      const now = ms
      ms = Math.min(longestMs, ms * 2)
      return now * (0.5 + Math.random() / 2)
    },
    reset() {
      ms = 50
    },
  }
}
