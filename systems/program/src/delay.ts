/** The longest delay that a timer of Node keeps; a longer one ends after 1 ms. */
export const LONGEST_DELAY_MS = 2 ** 31 - 1

/** Returns a delay for a timer of Node: the longest that it keeps, about 24 days, if `ms` is beyond. */
export function delayOf(ms: number): number {
  return Math.min(ms, LONGEST_DELAY_MS)
}
