import { randomBytes } from 'node:crypto'
import { type Duration, milliseconds } from '../duration.ts'
import { after, sleep, type Timer } from '../timer.ts'

/**
 * Tries an assertion until it no longer throws and gives what it returned; when it still throws after `within` (five
 * seconds), its last error. For tests that wait for something: never longer than it takes, never shorter.
 */
export async function eventually<T>(
  assertion: () => T | Promise<T>,
  options: { readonly within?: Duration } = {},
): Promise<T> {
  const within = options.within ?? '5s'
  const deadline = performance.now() + milliseconds(within)
  let lastError: unknown = new Error(`The assertion had not settled after ${within}.`)
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    let timer: Timer | undefined
    const expired = new Promise<never>((_resolve, reject) => {
      timer = after(Math.max(0, deadline - performance.now()), () => reject(lastError))
    })
    try {
      return await Promise.race([assertion(), expired])
    } catch (error) {
      if (performance.now() >= deadline) throw error
      lastError = error
    } finally {
      timer?.cancel()
    }
    await sleep(pauseMs)
  }
}

/** A prefix for keys that no other test has. */
export function unique(): string {
  return `test-${randomBytes(8).toString('hex')}`
}
