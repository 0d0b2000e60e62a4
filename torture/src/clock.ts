/** The monotonic clock in ms. Every process of one machine reads the same one, whatever the time of day does. */
export function now(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000
}

/** Waits. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
