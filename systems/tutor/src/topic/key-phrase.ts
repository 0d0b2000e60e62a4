import { contentWordsOf, isFunctionWord, sentencesOf, wordsOf } from '@keyspec-systems/model'

/** A phrase of a text and how telling it is. */
export interface KeyPhrase {
  readonly phrase: string
  readonly score: number
}

/**
 * The telling phrases of a text, the best first: runs of content words, each word worth its degree over its frequency,
 * as in RAKE (Rose et al., "Automatic Keyword Extraction from Individual Documents", 2010).
 */
export function keyPhrasesOf(text: string): KeyPhrase[] {
  const phrases = sentencesOf(text).flatMap(candidatesIn)
  const frequency = new Map<string, number>()
  const degree = new Map<string, number>()
  for (const phrase of phrases) {
    const words = contentWordsOf(phrase)
    for (const word of words) {
      frequency.set(word, (frequency.get(word) ?? 0) + 1)
      degree.set(word, (degree.get(word) ?? 0) + words.length)
    }
  }
  const scored = new Map<string, KeyPhrase>()
  for (const phrase of phrases) {
    const words = contentWordsOf(phrase)
    const known = scored.get(words.join(' '))
    // A phrase that comes back says more than one long and unique.
    const worth = words.reduce((sum, word) => sum + degree.get(word)! / frequency.get(word)!, 0)
    scored.set(words.join(' '), { phrase: known?.phrase ?? phrase, score: worth + (known?.score ?? 0) })
  }
  return [...scored.values()].sort((a, b) => b.score - a.score || (a.phrase < b.phrase ? -1 : 1))
}

/** The proper names and years of a text, in the order in which they come. */
export function entitiesOf(text: string): string[] {
  const found = sentencesOf(text).flatMap((sentence) => [...sentence.matchAll(entity)].flatMap(nameIn))
  return [...new Set(found)]
}

const MOST_WORDS = 3

function candidatesIn(sentence: string): string[] {
  const runs: string[][] = [[]]
  for (const token of sentence.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*|[.,;:!?()"“”]/gu) ?? []) {
    const [word] = wordsOf(token)
    if (word === undefined || isFunctionWord(word)) runs.push([])
    else runs.at(-1)!.push(token)
  }
  return runs.filter((run) => run.length > 0 && run.length <= MOST_WORDS).map((run) => run.join(' '))
}

// Capitalised words in a row, or a year.
const entity = /\p{Lu}[\p{L}'’-]*(?:\s+(?:\p{Lu}[\p{L}'’-]*|[IVX]+\b))*|\b1\d{3}\b|\b20\d{2}\b/gu

/** The first word of a sentence is capitalised whatever it is: alone it counts only with another name behind it. */
function nameIn(match: RegExpMatchArray): string[] {
  const words = match[0].split(/\s+/)
  while (words.length > 0 && isFunctionWord(wordsOf(words[0]!)[0] ?? 'the')) words.shift()
  if (words.length === 0 || (match.index === 0 && words.length === 1 && !/^\d/.test(words[0]!))) return []
  return [words.join(' ')]
}
