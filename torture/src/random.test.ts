import { expect, test } from 'vitest'
import { randomOf } from './random.ts'

test('a seed repeats its numbers', () => {
  const draw = (seed: number) => {
    const random = randomOf(seed)
    return [...Array.from({ length: 20 }, () => random.whole(1, 1000)), ...random.shuffled([1, 2, 3, 4, 5])]
  }
  expect(draw(7)).toEqual(draw(7))
  expect(draw(7)).not.toEqual(draw(8))
})

test('a shuffle keeps every item', () => {
  expect(randomOf(1).shuffled([1, 2, 3, 4, 5]).toSorted()).toEqual([1, 2, 3, 4, 5])
})
