import { describe, expect, test } from 'vitest'

import { cosine } from '../cosine.ts'
import { embeddedEmbedder, vectorise } from './embedder.ts'

const likeness = (one: string, other: string) => cosine(vectorise(one), vectorise(other))

describe('the embedded vectoriser', () => {
  test('gives 1,536 numbers of length 1, the same for the same text in any process', async () => {
    const [first, again] = await embeddedEmbedder.embed(['The sea and the moon', 'The sea and the moon'])
    expect(first).toBeInstanceOf(Float32Array)
    expect(first).toHaveLength(1536)
    expect(Math.hypot(...first!)).toBeCloseTo(1, 5)
    expect(again).toEqual(first)
    const strongest = first!.reduce(
      (best, value, index) => (Math.abs(value) > Math.abs(first![best]!) ? index : best),
      0,
    )
    // Vectors are kept for days and compared with newer ones: a change here needs another model name.
    expect({ strongest, value: first![strongest]!.toFixed(4) }).toMatchInlineSnapshot(`
      {
        "strongest": 801,
        "value": "-0.5593",
      }
    `)
  })

  test.each([
    [
      'Why did the French Revolution begin?',
      'What caused the revolution in France?',
      'How do plants make sugar?',
    ],
    ['photosynthesis', 'Explain how plants photosynthesise', 'Explain how ships are steered'],
    ['the moons of Jupiter', 'Which moon of Jupiter is largest?', 'Which bread is the oldest?'],
    ['a colour film about dinosaurs', 'dinosaur films in color', 'a court room drama'],
    ['Amélie Poulain', 'amelie poulain', 'Alien'],
  ])('finds "%s" closer to "%s" than to "%s"', (text, like, unlike) => {
    const { unrelated } = embeddedEmbedder.cosines
    expect(likeness(text, like)).toBeGreaterThan(2 * unrelated)
    expect(likeness(text, unlike)).toBeLessThan(likeness(text, like) / 2)
  })

  test('gives unrelated texts a cosine near zero, whatever question words they share', () => {
    const things = [
      'sea',
      'bread',
      'wheel',
      'clock',
      'paper',
      'garden',
      'winter',
      'candle',
      'market',
      'silver',
    ]
    const cosines = things.flatMap((one, at) =>
      things.slice(at + 1).map((other) => likeness(`How was the ${one} made?`, `How was the ${other} made?`)),
    )
    const mean = cosines.reduce((sum, each) => sum + Math.abs(each), 0) / cosines.length
    expect(mean).toBeLessThan(0.1)
    expect(likeness('How was the sea made?', 'How was the sea made')).toBeCloseTo(1)
  })

  test('has no direction for a text without letters', () => {
    expect(vectorise(' — ').every((value) => value === 0)).toBe(true)
    expect(likeness(' — ', 'sea')).toBe(0)
  })
})
