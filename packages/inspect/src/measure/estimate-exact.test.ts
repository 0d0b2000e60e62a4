import { describe, expect, test } from 'vitest'
import { type Estimate, estimatedCount, estimatedPart, estimatedShare, estimatedTotal } from './estimate.ts'

// What the estimates promise of all samples together, computed from every sample there is: nothing is drawn here.
const Z = 1.959964

/** ln n! */
const lnFactorials = [0]
for (let n = 1; n <= 400; n += 1) lnFactorials.push(lnFactorials[n - 1]! + Math.log(n))
const lnChoose = (n: number, k: number) => lnFactorials[n]! - lnFactorials[k]! - lnFactorials[n - k]!

/** How likely `hits` of `sampled` keys have a property that `having` of `size` keys have. */
function chance(size: number, having: number, sampled: number, hits: number): number {
  if (hits > having || hits > sampled || sampled - hits > size - having) return 0
  return Math.exp(lnChoose(having, hits) + lnChoose(size - having, sampled - hits) - lnChoose(size, sampled))
}

const covers = ({ low, high }: Estimate, truth: number) => low <= truth && truth <= high

describe.each([
  [200, 20],
  [200, 100],
  [200, 180],
  [400, 380],
])('of %d keys, %d of them looked at', (size, sampled) => {
  test('the interval of a count has the truth in 95 of 100 samples, and no more often', () => {
    const strata = [{ size, sampled }]
    const intervals = Array.from({ length: sampled + 1 }, (_, hits) => estimatedCount(strata, [hits]))
    let covered = 0
    let truths = 0
    for (let having = size / 10; having <= size - size / 10; having += 1) {
      truths += 1
      for (const [hits, interval] of intervals.entries())
        if (covers(interval, having)) covered += chance(size, having, sampled, hits)
    }
    expect(covered / truths).toBeGreaterThan(0.94)
    expect(covered / truths).toBeLessThan(0.965)
  })

  test('the interval of a part of a group has the truth about as often', () => {
    const strata = [{ size, sampled }]
    const group = size / 2
    let covered = 0
    let truths = 0
    for (let having = group / 5; having <= group - group / 5; having += group / 20) {
      truths += 1
      for (let seen = 0; seen <= sampled; seen += 1) {
        const ofGroup = chance(size, group, sampled, seen)
        if (ofGroup < 1e-9) continue
        for (let hits = 0; hits <= seen; hits += 1) {
          const likely = ofGroup * chance(group, having, seen, hits)
          if (likely < 1e-12) continue
          if (covers(estimatedPart(strata, [hits], [seen]), having / group)) covered += likely
        }
      }
    }
    expect(covered / truths).toBeGreaterThan(0.93)
    expect(covered / truths).toBeLessThan(0.97)
  })
})

/** Every choice of so many of these. */
function choices<T>(of: readonly T[], count: number): T[][] {
  if (count === 0) return [[]]
  return of.flatMap((first, at) => choices(of.slice(at + 1), count - 1).map((rest) => [first, ...rest]))
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const mean = (values: readonly number[]) => sum(values) / values.length

test.each([
  [[[3, 1, 4, 1, 5, 9]], [2]],
  [[[3, 1, 4, 1, 5, 9]], [5]],
  [
    [
      [3, 1, 4, 1, 5],
      [90, 26, 53, 58],
    ],
    [2, 3],
  ],
])('over all samples of %j, %j of them, a total and its variance are right on average', (masters, counts) => {
  const samples = masters
    .map((amounts, at) => choices(amounts, counts[at]!))
    .reduce<number[][][]>(
      (all, some) => all.flatMap((before) => some.map((sample) => [...before, sample])),
      [[]],
    )
  const strata = masters.map(({ length }, at) => ({ size: length, sampled: counts[at]! }))
  const estimates = samples.map((sample) =>
    estimatedTotal(
      strata,
      sample.map(sum),
      sample.map((amounts) => sum(amounts.map((amount) => amount ** 2))),
    ),
  )
  const truth = sum(masters.flat())
  expect(mean(estimates.map(({ value }) => value))).toBeCloseTo(truth, 8)
  const variances = estimates.map(({ value, high }) => ((high - value) / Z) ** 2)
  expect(mean(variances)).toBeCloseTo(mean(estimates.map(({ value }) => (value - truth) ** 2)), 6)
})

test('counts over masters of different sizes are those of the formulas, worked out by hand', () => {
  // 0.8 · 30/80 + 0.2 · 5/50 of 1000; variance 0.64 · 0.9 · 0.234375/79 + 0.04 · 0.75 · 0.09/49.
  const { value, low, high } = estimatedCount(
    [
      { size: 800, sampled: 80 },
      { size: 200, sampled: 50 },
    ],
    [30, 5],
  )
  expect(value).toBeCloseTo(320, 8)
  expect([low, high]).toEqual([expect.closeTo(244.19, 2), expect.closeTo(406.68, 2)])
})

test('keys of a master that was looked at less count for as many more', () => {
  const strata = [
    { size: 1000, sampled: 10 },
    { size: 10, sampled: 10 },
  ]
  expect(estimatedPart(strata, [10, 0], [10, 10]).value).toBeCloseTo(1000 / 1010, 8)
  const amounts = { sums: [100, 100], squares: [1000, 1000] }
  expect(estimatedShare(strata, { sums: [100, 0], squares: [1000, 0] }, amounts).value).toBeCloseTo(
    1000 / 1010,
    8,
  )
})

test('a share is as certain as what was left out allows', () => {
  const of = (size: number, sampled: number) => {
    const part = { sums: [sampled * 2], squares: [sampled * 8] }
    const whole = { sums: [sampled * 4], squares: [sampled * 16] }
    const { value, high } = estimatedShare([{ size, sampled }], part, whole)
    return { value, error: (high - value) / Z }
  }
  // Half of the keys are of the part, 4 bytes each: residuals of 2 either way, s² = 4 n / (n - 1), over 4 N.
  for (const [size, sampled] of [
    [1000, 100],
    [1000, 900],
    [1000, 990],
  ] as const) {
    const { value, error } = of(size, sampled)
    expect(value).toBe(0.5)
    const variance = ((size ** 2 * (1 - sampled / size)) / sampled) * ((4 * sampled) / (sampled - 1))
    expect(error).toBeCloseTo(Math.sqrt(variance) / (4 * size), 10)
  }
})

test('what was not seen among nearly all keys is hardly there', () => {
  // Wilson's upper end for 0 of n is z² / (n + z²); here n is 190 / (1 - 0.95).
  const strata = [{ size: 200, sampled: 190 }]
  const share = Z ** 2 / (190 / 0.05 + Z ** 2)
  expect(estimatedCount(strata, [0]).high).toBeCloseTo(200 * share, 6)
  expect(estimatedCount(strata, [190]).low).toBeCloseTo(200 * (1 - share), 6)
  expect(estimatedPart(strata, [0], [190]).high).toBeCloseTo(share, 8)
  expect(estimatedPart(strata, [19], [19]).low).toBeCloseTo(1 - Z ** 2 / (19 / 0.05 + Z ** 2), 8)
})
