import { contentWordsOf } from './word.ts'

/** What each text is worth for a query, and how rare the query's words are among the texts. */
export interface Ranking {
  readonly scores: readonly number[]
  /** Inverse document frequency of each distinct content word of the query. */
  readonly rarity: ReadonlyMap<string, number>
}

// The values that Robertson and Zaragoza recommend where nothing was tuned.
const K1 = 1.2
const B = 0.75

/** BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009) of texts for a query. */
export function rank(query: string, texts: readonly string[]): Ranking {
  const documents = texts.map(contentWordsOf)
  const meanLength = documents.reduce((sum, words) => sum + words.length, 0) / Math.max(1, documents.length)
  const rarity = new Map<string, number>()
  for (const word of new Set(contentWordsOf(query))) {
    const holding = documents.filter((words) => words.includes(word)).length
    rarity.set(word, Math.log(1 + (documents.length - holding + 0.5) / (holding + 0.5)))
  }
  const scores = documents.map((words) => {
    let score = 0
    for (const [word, weight] of rarity) {
      const count = words.filter((each) => each === word).length
      const norm = K1 * (1 - B + (B * words.length) / (meanLength || 1))
      score += (weight * count * (K1 + 1)) / (count + norm)
    }
    return score
  })
  return { scores, rarity }
}
