/** A number, and the interval in which the truth lies for 95 of 100 samples. Where all was counted, both ends are the number. */
export interface Estimate {
  readonly value: number
  readonly low: number
  readonly high: number
}

/** A part of what is sampled, drawn from by itself: one master. */
export interface Stratum {
  /** How many keys it has. */
  readonly size: number
  /** How many of them were looked at. */
  readonly sampled: number
}

/**
 * How many keys have a property, from how many in the sample of each stratum have it: the stratified estimate, with the
 * score interval of E. B. Wilson (JASA 22, 1927) at the effective size of the sample (E. L. Korn, B. I. Graubard, Survey
 * Methodology 24, 1998), which heeds strata and how much of each was seen.
 */
export function estimatedCount(strata: readonly Stratum[], hits: readonly number[]): Estimate {
  const size = total(strata.map((stratum) => stratum.size))
  const seen = total(hits)
  if (isWhole(strata)) return exactly(seen)
  let share = 0
  let variance = 0
  for (const [at, { size: all, sampled }] of strata.entries()) {
    if (sampled === 0) continue
    const part = (hits[at] ?? 0) / sampled
    share += (all / size) * part
    if (sampled > 1)
      variance += (all / size) ** 2 * (1 - sampled / all) * ((part * (1 - part)) / (sampled - 1))
  }
  const sampled = total(strata.map((stratum) => stratum.sampled))
  const { low, high } = wilson(share, effectiveSize(strata, share, variance, sampled))
  return { value: size * share, low: Math.max(seen, size * low), high: Math.min(size, size * high) }
}

/**
 * The sum of an amount over keys with a property, from its sum and the sum of its squares in each stratum, where keys
 * without the property count as 0: the stratified estimate and its standard error (W. G. Cochran, Sampling Techniques,
 * 3rd ed. 1977, §5.4 and §5A.14). Where a few keys hold most of the sum, a small sample may miss them all: the interval
 * knows only of what was seen.
 */
export function estimatedTotal(
  strata: readonly Stratum[],
  sums: readonly number[],
  squares: readonly number[],
): Estimate {
  const seen = total(sums)
  if (isWhole(strata)) return exactly(seen)
  let value = 0
  let variance = 0
  for (const [at, { size, sampled }] of strata.entries()) {
    if (sampled === 0) continue
    value += (size * (sums[at] ?? 0)) / sampled
    variance += varianceOfTotal({ size, sampled }, sums[at] ?? 0, squares[at] ?? 0)
  }
  const half = Z * Math.sqrt(variance)
  return { value, low: Math.max(seen, value - half), high: value + half }
}

/** Sums of an amount in each stratum, and of its squares. */
export interface Sums {
  readonly sums: readonly number[]
  readonly squares: readonly number[]
}

/**
 * What part of a total belongs to keys with a property: the combined ratio estimate and its linearised standard error
 * (Cochran 1977, §6.11). The amounts of the part are among those of the whole.
 */
export function estimatedShare(strata: readonly Stratum[], part: Sums, whole: Sums): Estimate {
  const { value, variance } = ratio(strata, part, whole)
  if (isWhole(strata)) return exactly(value)
  const half = Z * Math.sqrt(variance)
  return { value, low: Math.max(0, value - half), high: Math.min(1, value + half) }
}

/**
 * What part of the keys of a group has a property, from how many of its keys in each stratum have it and how many it has
 * there: the combined ratio estimate, with the interval of Wilson at the effective size of the sample, as in
 * `estimatedCount`.
 */
export function estimatedPart(
  strata: readonly Stratum[],
  hits: readonly number[],
  of: readonly number[],
): Estimate {
  // Of what is 0 or 1 the squares are the sums.
  const { value, variance } = ratio(strata, { sums: hits, squares: hits }, { sums: of, squares: of })
  if (isWhole(strata) || total(of) === 0) return exactly(value)
  return { value, ...wilson(value, effectiveSize(strata, value, variance, total(of))) }
}

// The normal distribution has 95 % within it.
const Z = 1.959964

function exactly(value: number): Estimate {
  return { value, low: value, high: value }
}

function isWhole(strata: readonly Stratum[]): boolean {
  return strata.every(({ size, sampled }) => sampled >= size)
}

/** The size of a simple sample, of endless many keys, that would tell a share of them as well as `seen` keys do here. */
function effectiveSize(strata: readonly Stratum[], share: number, variance: number, seen: number): number {
  if (variance > 0) return (share * (1 - share)) / variance
  const sampled = total(strata.map((stratum) => stratum.sampled))
  return seen / (1 - sampled / total(strata.map(({ size }) => size)))
}

/** The ratio of two totals, the amounts of the first among those of the second, and its linearised variance. */
function ratio(strata: readonly Stratum[], part: Sums, whole: Sums): { value: number; variance: number } {
  const all = estimatedTotal(strata, whole.sums, whole.squares).value
  if (all === 0) return { value: 0, variance: 0 }
  const value = estimatedTotal(strata, part.sums, part.squares).value / all
  let variance = 0
  for (const [at, stratum] of strata.entries()) {
    if (stratum.sampled === 0) continue
    // The residual of a key: its amount if it is of the part, less the share of its amount.
    const sum = (part.sums[at] ?? 0) - value * (whole.sums[at] ?? 0)
    const square = (1 - 2 * value) * (part.squares[at] ?? 0) + value ** 2 * (whole.squares[at] ?? 0)
    variance += varianceOfTotal(stratum, sum, square)
  }
  return { value, variance: variance / all ** 2 }
}

function wilson(share: number, sampled: number): { readonly low: number; readonly high: number } {
  const spread = Z ** 2 / sampled
  const middle = (share + spread / 2) / (1 + spread)
  const half = (Z / (1 + spread)) * Math.sqrt((share * (1 - share)) / sampled + spread / (4 * sampled))
  // At the edges the interval ends there, where rounding would leave it a hair short.
  return {
    low: share === 0 ? 0 : Math.max(0, middle - half),
    high: share === 1 ? 1 : Math.min(1, middle + half),
  }
}

function varianceOfTotal({ size, sampled }: Stratum, sum: number, squares: number): number {
  if (sampled < 2) return 0
  const variance = Math.max(0, squares - sum ** 2 / sampled) / (sampled - 1)
  return (size ** 2 * (1 - sampled / size) * variance) / sampled
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}
