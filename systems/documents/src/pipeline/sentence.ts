/** A part of a text: `text.slice(start, end)`, in UTF-16 code units. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** The sentences of an English text in their order, without the white space around them. */
export function sentences(text: string): Span[] {
  const found: Span[] = []
  // A blank line ends a sentence even where no full stop does: headings, captions, tables.
  for (const paragraph of text.matchAll(/(?:(?!\n[ \t]*\n)[\s\S])+/g)) {
    for (const span of sentencesIn(paragraph[0], paragraph.index)) found.push(span)
  }
  return found
}

/**
 * The words, numbers and marks of a part of a text, those longer than any word in parts. What counts as one token here is
 * none of any language model's.
 */
export function tokens(text: string, { start, end }: Span = { start: 0, end: text.length }): Span[] {
  const found: Span[] = []
  for (const { 0: word, index } of text
    .slice(start, end)
    .matchAll(/[\p{L}\p{M}\p{N}_]+(?:['’.,][\p{L}\p{N}]+)*|[^\s]/gu)) {
    for (let from = 0; from < word.length;) {
      const to = endOfPart(word, from)
      found.push({ start: start + index + from, end: start + index + to })
      from = to
    }
  }
  return found
}

// No word of any language is as long; pieces are counted in tokens, so one without an end would make a piece without one.
const LONGEST = 100

function endOfPart(word: string, from: number): number {
  const to = Math.min(from + LONGEST, word.length)
  // Not between the halves of a character.
  return to < word.length && /[\uDC00-\uDFFF]/.test(word[to]!) ? to + 1 : to
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })

// The segmenter ends a sentence at any full stop before a capital: titles, initials and designators are put back.
const unfinished =
  /(?:^|[\s(])(?:Mr|Mrs|Ms|Dr|Prof|Hon|Rev|Gen|Col|Capt|Lt|Sgt|Sen|Rep|Gov|St|Mt|No|Nos|Art|Sec|Fig|vs|v|cf|e\.g|i\.e|approx|Inc|Ltd|Co|Corp|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|\p{Lu}|(?:\p{Lu}\.)+\p{Lu})\.$/u

function sentencesIn(paragraph: string, offset: number): Span[] {
  const found: Span[] = []
  let open: number | undefined
  for (const { segment, index } of segmenter.segment(paragraph)) {
    const start = open ?? index
    const end = index + segment.length
    const words = paragraph.slice(start, end)
    const isLast = end === paragraph.length
    if (!isLast && unfinished.test(words.trimEnd())) {
      open = start
      continue
    }
    open = undefined
    const trimmed = words.trim()
    if (trimmed === '') continue
    const from = offset + start + words.indexOf(trimmed)
    found.push({ start: from, end: from + trimmed.length })
  }
  return found
}
