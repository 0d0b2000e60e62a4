const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const TIMES_MS = [MINUTE_MS, 60 * MINUTE_MS, DAY_MS, 7 * DAY_MS, 30 * DAY_MS]

/** What a histogram counts by: each bucket has what is below its bound, and the last what is above all of them. */
export const BOUNDS = {
  ttl: TIMES_MS,
  size: [64, 256, 2 ** 10, 2 ** 12, 2 ** 14, 2 ** 16, 2 ** 18, 2 ** 20, 2 ** 24],
  idle: TIMES_MS,
} as const

/** The bucket of an amount. */
export function bucketOf(bounds: readonly number[], amount: number): number {
  let at = 0
  while (at < bounds.length && amount >= bounds[at]!) at += 1
  return at
}
