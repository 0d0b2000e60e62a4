/** The sentences of a text, each on one line; headings and list items, which end with a line, count as sentences. */
export function sentencesOf(text: string): string[] {
  return text
    .split(/\n\s*\n|\n(?=\s*(?:[-*#•]|\d+\.)\s)/)
    .flatMap((paragraph) => segmentsOf(paragraph.replaceAll(/\s+/g, ' ')))
    .map((segment) => segment.replace(/^\s*(?:[-*#•]+|\d+\.)\s+/, '').trim())
    .filter((sentence) => /\p{L}/u.test(sentence))
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })

function segmentsOf(paragraph: string): string[] {
  const segments: string[] = []
  for (const { segment } of segmenter.segment(paragraph)) {
    const before = segments.at(-1)
    if (before !== undefined && abbreviated.test(before)) segments[segments.length - 1] = before + segment
    else segments.push(segment)
  }
  return segments
}

// Unicode's rules end a sentence at the full stop of a title that a name follows.
const abbreviated = /(?:^|\s)(?:Dr|Mr|Mrs|Ms|Prof|St|Mt|Fig|No|vs|ca|e\.g|i\.e)\.\s*$/
