import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { patiently } from './patience.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test.each([0, 700, 4000])(
  'a wait counts from the call, though each answer takes %d ms',
  async (latencyMs) => {
    let asked = 0
    const lastAsked: number[] = []
    const began = performance.now()
    const waiting = patiently(
      { waitMs: 10_000, subscriber: undefined, channel: 'c', signal: undefined },
      async () => {
        asked += 1
        lastAsked.push(performance.now() - began)
        await new Promise((resolve) => setTimeout(resolve, latencyMs))
        return undefined
      },
    )
    let endedAt: number | undefined
    void waiting.then(() => (endedAt = performance.now() - began))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await waiting).toBeUndefined()
    // It asks for a last time when the wait is over, and never later; a timer counts whole ms.
    expect(lastAsked.at(-1)).toBeLessThanOrEqual(10_002)
    expect(endedAt).toBeGreaterThanOrEqual(10_000)
    expect(endedAt).toBeLessThanOrEqual(10_002 + latencyMs)
    expect(asked).toBeGreaterThan(1)
  },
)
