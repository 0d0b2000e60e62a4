// @ts-check
// Judges what mutants came to: the score, the floor, and the list of mutants that change no behaviour.
import { readFileSync } from 'node:fs'
import { identity } from './mutant.js'

/** The share of the mutants that tests must kill. */
export const FLOOR = 0.9

/** @typedef {import('./mutant.js').Mutant} Mutant */
/** @typedef {{ file: string, at: string, original: string, replacement: string, reason: string }} Equivalent */

/** @type {readonly Equivalent[]} */
export const equivalents = JSON.parse(readFileSync(new URL('equivalents.json', import.meta.url), 'utf8'))

/**
 * Returns the mutants without those that are listed as equivalent.
 * @param {readonly Mutant[]} mutants
 * @param {readonly Equivalent[]} [listed]
 */
export function judged(mutants, listed = equivalents) {
  const known = new Set(listed.map(identity))
  return mutants.filter((mutant) => !known.has(identity(mutant)))
}

/**
 * Returns the entries of the list that match no mutant, given every mutant of the files that they name.
 * @param {readonly Mutant[]} mutants
 * @param {readonly Equivalent[]} [listed]
 */
export function stale(mutants, listed = equivalents) {
  const made = new Set(mutants.map(identity))
  return listed.filter((entry) => !made.has(identity(entry)))
}

/**
 * Whether a result is below the floor. Of a sample only if luck does not explain it: if even the upper end of the score's
 * interval (Wilson, one-sided, 95 %) is below.
 * @param {number} killed
 * @param {number} tried
 * @param {{ sample: boolean }} options
 */
export function isBelow(killed, tried, { sample }) {
  if (tried === 0) return false
  return (sample ? upperBound(killed, tried) : killed / tried) < FLOOR
}

/**
 * The upper end of the Wilson interval of a proportion (Wilson, 1927), one-sided, 95 %.
 * @param {number} killed
 * @param {number} tried
 */
export function upperBound(killed, tried) {
  const z = 1.6449
  const share = killed / tried
  const centre = share + z ** 2 / (2 * tried)
  const spread = z * Math.sqrt((share * (1 - share) + z ** 2 / (4 * tried)) / tried)
  return (centre + spread) / (1 + z ** 2 / tried)
}

/**
 * Returns a random sample of at least `most` mutants, in whole lines and in random order. A mutant of several lines is in no
 * sample: with it would come all that it contains.
 * @param {readonly Mutant[]} mutants
 * @param {{ most: number, seed: number }} options
 */
export function sampleOf(mutants, { most, seed }) {
  /** @type {Map<string, Mutant[]>} */
  const lines = new Map()
  for (const mutant of mutants) {
    if (mutant.line !== mutant.lastLine) continue
    const line = `${mutant.file}:${mutant.line}`
    lines.set(line, [...(lines.get(line) ?? []), mutant])
  }
  const random = randomOf(seed)
  const drawn = [...lines.values()]
    .map((those) => ({ those, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
  /** @type {Mutant[]} */
  const sample = []
  for (const { those } of drawn) {
    if (sample.length >= most) break
    sample.push(...those)
  }
  return sample
}

/**
 * Mulberry32, a generator whose numbers depend on the seed alone.
 * @param {number} seed
 */
function randomOf(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
