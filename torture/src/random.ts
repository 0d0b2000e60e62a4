/** A repeatable source of numbers. */
export interface Random {
  /** Returns a number from 0 up to, but not including, 1. */
  next(): number
  /** Returns a whole number from `from` to `to`, both included. */
  whole(from: number, to: number): number
  /** Returns one of the items. */
  pick<T>(items: readonly T[]): T
  /** Returns the items in a random order. */
  shuffled<T>(items: readonly T[]): T[]
  /** Returns true this often, on average. */
  chance(probability: number): boolean
}

/** Returns the generator of a seed: mulberry32, by Tommy Ettinger, in the public domain. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const whole = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  return {
    next,
    whole,
    pick: (items) => {
      if (items.length === 0) throw new Error('There is nothing to pick from.')
      return items[whole(0, items.length - 1)]!
    },
    // Fisher and Yates, as Durstenfeld wrote it (Algorithm 235, 1964).
    shuffled(items) {
      const order = [...items]
      for (let at = order.length - 1; at > 0; at -= 1) {
        const other = whole(0, at)
        ;[order[at], order[other]] = [order[other]!, order[at]!]
      }
      return order
    },
    chance: (probability) => next() < probability,
  }
}
