import { describe, expect, test } from 'vitest'
import { type Estimate, estimatedCount, estimatedShare, estimatedTotal, type Stratum } from './estimate.ts'

/** Mulberry32: the same draws in every run. */
function drawing(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Two masters of different sizes; amounts spread as those of keys are: many small ones, some large. */
function population(random: () => number) {
  return [6000, 1500].map((size) =>
    Array.from({ length: size }, () => ({ amount: Math.exp(4 + 2 * random()), isOurs: random() < 0.07 })),
  )
}

type Item = ReturnType<typeof population>[number][number]

function drawn(items: Item[], count: number, random: () => number): Item[] {
  for (let at = 0; at < count; at += 1) {
    const other = at + Math.floor(random() * (items.length - at))
    ;[items[at], items[other]] = [items[other]!, items[at]!]
  }
  return items.slice(0, count)
}

test('of a thousand samples about 95 in 100 have the truth in their interval', () => {
  const random = drawing(7)
  const all = population(random)
  const truths = all.flat().filter(({ isOurs }) => isOurs)
  const truth = {
    count: truths.length,
    total: sum(truths, ({ amount }) => amount),
    share: sum(truths, ({ amount }) => amount) / sum(all.flat(), ({ amount }) => amount),
  }
  const covered = { count: 0, total: 0, share: 0 }
  const rounds = 1000
  for (let round = 0; round < rounds; round += 1) {
    const samples = all.map((items) => drawn(items, items.length / 10, random))
    const strata = samples.map((items, at): Stratum => ({ size: all[at]!.length, sampled: items.length }))
    const ours = samples.map((items) => items.filter(({ isOurs }) => isOurs))
    const sums = (lists: readonly (readonly Item[])[]) => ({
      sums: lists.map((items) => sum(items, ({ amount }) => amount)),
      squares: lists.map((items) => sum(items, ({ amount }) => amount ** 2)),
    })
    const part = sums(ours)
    const estimates: Record<keyof typeof covered, Estimate> = {
      count: estimatedCount(
        strata,
        ours.map(({ length }) => length),
      ),
      total: estimatedTotal(strata, part.sums, part.squares),
      share: estimatedShare(strata, part, sums(samples)),
    }
    for (const [name, { value, low, high }] of Object.entries(estimates)) {
      const what = name as keyof typeof covered
      expect(value).toBeGreaterThanOrEqual(low)
      expect(value).toBeLessThanOrEqual(high)
      if (low <= truth[what] && truth[what] <= high) covered[what] += 1
    }
  }
  for (const times of Object.values(covered)) {
    expect(times / rounds).toBeGreaterThan(0.93)
    expect(times / rounds).toBeLessThan(0.97)
  }
})

describe('where all was counted', () => {
  const strata = [
    { size: 10, sampled: 10 },
    { size: 0, sampled: 0 },
  ]
  test('there is nothing to estimate', () => {
    const exactly = (value: number) => ({ value, low: value, high: value })
    expect(estimatedCount(strata, [3])).toEqual(exactly(3))
    expect(estimatedTotal(strata, [300], [90_000])).toEqual(exactly(300))
    expect(estimatedShare(strata, { sums: [30], squares: [900] }, { sums: [60], squares: [1800] })).toEqual(
      exactly(0.5),
    )
  })
})

describe('at the edges', () => {
  const strata = [{ size: 1000, sampled: 50 }]
  test('what was not seen may yet be there', () => {
    const { value, low, high } = estimatedCount(strata, [0])
    expect([value, low]).toEqual([0, 0])
    expect(high).toBeGreaterThan(50)
    expect(high).toBeLessThan(100)
  })
  test('there is at least what was seen, and at most what there is', () => {
    expect(estimatedCount(strata, [50])).toMatchObject({ value: 1000, high: 1000 })
    expect(estimatedCount(strata, [1]).low).toBeGreaterThanOrEqual(1)
    expect(estimatedTotal(strata, [1000], [1_000_000]).low).toBe(1000)
  })
  test('a server without keys has no share of anything', () => {
    expect(
      estimatedShare([{ size: 0, sampled: 0 }], { sums: [], squares: [] }, { sums: [], squares: [] }),
    ).toMatchObject({ value: 0 })
  })
})

function sum<T>(items: readonly T[], amount: (item: T) => number): number {
  return items.reduce((total, item) => total + amount(item), 0)
}
