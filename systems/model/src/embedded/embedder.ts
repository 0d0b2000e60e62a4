import type { Embedder } from '../model.ts'
import { hash32, mix32 } from './hash.ts'
import { isFunctionWord, wordsOf } from './word.ts'

const DIMENSIONS = 1536

/**
 * Vectors from the words of a text alone, without training or network: words, pairs of words and character 3- to
 * 5-grams, counted sublinearly (1 + ln n), thrown into 1,536 dimensions with the signed hashing trick (Weinberger et
 * al., "Feature Hashing for Large Scale Multitask Learning", ICML 2009), and scaled to length 1. It sees shared words
 * and spellings, not synonyms.
 */
export const embeddedEmbedder: Embedder = {
  model: `embedded:hashed-ngrams-${DIMENSIONS}`,
  dimensions: DIMENSIONS,
  // Measured on short questions: unrelated ones stay below 0.07 (0.01 on average), those on one topic are above 0.2, a question and a whole topic above 0.1.
  cosines: { unrelated: 0.04, related: 0.22 },
  embed: async (texts) => texts.map((text) => vectorise(text)),
}

/** The vector of one text; all zeros for a text without a letter or digit. */
export function vectorise(text: string, dimensions: number = DIMENSIONS): Float32Array {
  const vector = new Float64Array(dimensions)
  for (const { weight, counts } of featuresOf(text)) {
    for (const [feature, count] of counts) {
      // A sign from a second hash makes collisions cancel out on average, so that inner products stay unbiased.
      const sign = mix32(feature ^ 0x9e3779b9) & 1 ? 1 : -1
      vector[feature % dimensions]! += sign * weight * (1 + Math.log(count))
    }
  }
  return scaled(vector)
}

/** How often each feature, known by its hash, occurs, and what each is worth. */
interface Features {
  readonly weight: number
  readonly counts: Map<number, number>
}

// Words carry the topic; their pieces forgive spelling and inflection; function words carry almost nothing.
function featuresOf(text: string): readonly Features[] {
  const words = { weight: 1, counts: new Map<number, number>() }
  const pairs = { weight: 0.5, counts: new Map<number, number>() }
  const pieces = { weight: 0.25, counts: new Map<number, number>() }
  const functionWords = { weight: 0.05, counts: new Map<number, number>() }
  let before: number | undefined
  for (const word of wordsOf(text)) {
    const hash = hash32(word, 1)
    if (isFunctionWord(word)) {
      add(functionWords, hash)
      continue
    }
    add(words, hash)
    if (before !== undefined) add(pairs, mix32(Math.imul(before, 31) ^ hash))
    before = hash
    const bounded = `<${word}>`
    for (let size = 3; size <= 5; size += 1) {
      for (let end = size; end <= bounded.length; end += 1) add(pieces, hash32(bounded, 2, end - size, end))
    }
  }
  return [words, pairs, pieces, functionWords]
}

function add({ counts }: Features, feature: number): void {
  counts.set(feature, (counts.get(feature) ?? 0) + 1)
}

function scaled(vector: Float64Array): Float32Array {
  let square = 0
  for (const value of vector) square += value * value
  const result = new Float32Array(vector)
  if (square === 0) return result
  const length = Math.sqrt(square)
  for (let index = 0; index < result.length; index += 1) result[index]! /= length
  return result
}
