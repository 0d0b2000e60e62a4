import type { Reply } from '../connection/connection.ts'
import { ArgumentRangeError } from '../errors.ts'

/** Which scores: from `min` to `max`, both included, or `above` and `below`, both excluded; all unless said otherwise. */
export interface ScoreRange {
  readonly min?: number
  readonly max?: number
  readonly above?: number
  readonly below?: number
}

/** A score as Redis takes it; a `RangeError` for NaN, which has no place in an order. */
export function writeScore(score: number): string {
  if (typeof score !== 'number' || Number.isNaN(score))
    throw new ArgumentRangeError(`${String(score)} is not a score`)
  if (score === Infinity) return '+inf'
  return score === -Infinity ? '-inf' : String(score)
}

/** A score as Redis answers it. */
export function readScore(reply: Reply): number {
  const text = String(reply)
  if (text.endsWith('inf')) return text.startsWith('-') ? -Infinity : Infinity
  return Number(text)
}

/** The lower and the upper bound, as ZRANGE and ZCOUNT take them; an `(` excludes the bound itself. */
export function boundsOf({ min, max, above, below }: ScoreRange): [lower: string, upper: string] {
  if ((min !== undefined && above !== undefined) || (max !== undefined && below !== undefined)) {
    throw new ArgumentRangeError('a range of scores has one bound on each side: min or above, max or below')
  }
  return [
    above === undefined ? writeScore(min ?? -Infinity) : `(${writeScore(above)}`,
    below === undefined ? writeScore(max ?? Infinity) : `(${writeScore(below)}`,
  ]
}
