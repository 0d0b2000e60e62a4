import type { Connection } from 'keyspec'
import { NO_KEY } from 'keyspec/extend'
import { numberOf } from './replies.ts'

/** How many keys each master has, and how many of the sample are its part. */
export async function shares(
  masters: readonly Connection[],
  sample: number,
): Promise<readonly { readonly size: number; readonly limit: number }[]> {
  const sizes = await sizesOf(masters)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  return sizes.map((size) => ({
    size,
    limit: sample >= total ? Infinity : Math.min(size, Math.max(LEAST_OF_A_MASTER, (sample * size) / total)),
  }))
}

/** How many keys each of the masters has, those that have run out and are not yet removed among them. */
export async function sizesOf(masters: readonly Connection[]): Promise<number[]> {
  return Promise.all(masters.map((master) => numberOf(master, ['DBSIZE'], NO_KEY)))
}

// So that the spread of its values can be told.
const LEAST_OF_A_MASTER = 30

/** A random place in a hash table of so many keys: its size is a power of two, and hardly ever below theirs. */
export function startOf(size: number, random: () => number): number {
  return Math.floor(random() * 2 ** Math.floor(Math.log2(Math.max(1, size))))
}

/** Where a cursor stands in the order of SCAN, which counts with the highest bit first (Redis, dict.c). */
export function placeOf(cursor: number): number {
  let place = 0
  let rest = cursor
  for (let bit = 0.5; rest > 0; bit /= 2) {
    if (rest % 2 === 1) place += bit
    rest = Math.floor(rest / 2)
  }
  return place
}
