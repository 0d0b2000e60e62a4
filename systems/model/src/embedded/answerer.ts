import type { Answerer, Passage } from '../model.ts'
import { rank } from './ranking.ts'
import { sentencesOf } from './sentence.ts'
import { contentWordsOf } from './word.ts'

const model = 'embedded:extractive-bm25'

/**
 * Answers with the passages' own sentences: ranked by BM25, with a bonus for those that open a passage, where texts
 * say what they are about (Edmundson, "New Methods in Automatic Extracting", JACM 16, 1969). It invents nothing, and
 * says so where the passages hold nothing.
 */
export const embeddedAnswerer: Answerer = {
  model,
  async answer(question, passages) {
    const found = passages.flatMap(sentencesIn)
    const { scores, rarity } = rank(
      question,
      found.map(({ text, passage }) => `${passage.title} ${text}`),
    )
    const ranked = found
      .map((sentence, index) => ({
        ...sentence,
        order: index,
        score: scores[index]! * lead(sentence.position),
      }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || a.order - b.order)
    const chosen = choose(ranked).sort((a, b) => a.order - b.order)
    if (chosen.length === 0) return { answer: nothing, confidence: 0, sources: [], model }
    return {
      answer: chosen.map(({ text }) => text).join(' '),
      confidence: coverage(rarity, chosen),
      sources: [...new Set(chosen.map(({ passage }) => passage.id))],
      model,
    }
  },
}

interface Sentence {
  readonly text: string
  readonly passage: Passage
  /** Its place in its passage, from 0. */
  readonly position: number
}

const MOST = 3
const nothing = 'The resources of this session say nothing about that.'

function sentencesIn(passage: Passage): Sentence[] {
  return sentencesOf(passage.text).map((text, position) => ({ text, passage, position }))
}

function lead(position: number): number {
  return 1 + 0.2 / (1 + position)
}

/** The best sentences that are not far behind the first and do not repeat one another. */
function choose<S extends Sentence & { readonly score: number }>(ranked: readonly S[]): S[] {
  const chosen: S[] = []
  for (const sentence of ranked) {
    if (chosen.length === MOST || sentence.score < ranked[0]!.score / 2) break
    if (chosen.every(({ text }) => overlap(text, sentence.text) < 0.6)) chosen.push(sentence)
  }
  return chosen
}

function overlap(one: string, other: string): number {
  const left = new Set(contentWordsOf(one))
  const right = new Set(contentWordsOf(other))
  const shared = [...left].filter((word) => right.has(word)).length
  return shared / Math.max(1, Math.min(left.size, right.size))
}

/** How much of the question's content, weighed by rarity, the answer speaks of; two decimals. */
function coverage(rarity: ReadonlyMap<string, number>, chosen: readonly Sentence[]): number {
  const said = new Set(chosen.flatMap(({ text, passage }) => contentWordsOf(`${passage.title} ${text}`)))
  let all = 0
  let met = 0
  for (const [word, weight] of rarity) {
    all += weight
    if (said.has(word)) met += weight
  }
  return all === 0 ? 0 : Math.round((100 * met) / all) / 100
}
