/** What a program says to the process that started it, when there is one: that it is ready, and where. */
export function report(message: { readonly ready: true; readonly url?: string }): void {
  process.send?.(message)
}

/**
 * Runs a program until it ends or is told to: SIGTERM, SIGINT, or the end of the process that started it abort the
 * signal. Exit code 0, or 1 with the error's words on stderr.
 */
export async function program(name: string, run: (stop: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController()
  const end = () => stop.abort()
  process.once('SIGTERM', end)
  process.once('SIGINT', end)
  process.once('disconnect', end)
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
