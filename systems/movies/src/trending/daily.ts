/** How long it is until the next midnight, UTC. */
function untilMidnightMs(now: number): number {
  const day = 86_400_000
  return day - (now % day)
}

/** Does something at once and then at each midnight, UTC, until the signal is aborted. The task never rejects. */
export async function daily(
  task: () => Promise<unknown>,
  signal: AbortSignal,
  now: () => number = Date.now,
): Promise<void> {
  while (!signal.aborted) {
    await task()
    await pause(untilMidnightMs(now()), signal)
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
