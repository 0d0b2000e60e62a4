import fc from 'fast-check'
import { expect, test } from 'vitest'

import { chunkText } from './chunk.ts'
import type { OcrResult } from './ocr-result.ts'
import { sentences, tokens } from './sentence.ts'

test.each([
  ['He met Mr. Smith. She left.', ['He met Mr. Smith.', 'She left.']],
  [
    'J. K. Rowe of the U.S. Court spoke. Why? Because!',
    ['J. K. Rowe of the U.S. Court spoke.', 'Why?', 'Because!'],
  ],
  ['HEADING\n\nIt costs $3.4 million. Yes.', ['HEADING', 'It costs $3.4 million.', 'Yes.']],
  ['  ', []],
])('%j has its sentences', (text, expected) => {
  expect(sentences(text).map(({ start, end }) => text.slice(start, end))).toEqual(expected)
})

test('words keep their apostrophes and numbers their commas', () => {
  const text = "It's $1,250.50, no?"
  expect(tokens(text).map(({ start, end }) => text.slice(start, end))).toEqual([
    "It's",
    '$',
    '1,250.50',
    ',',
    'no',
    '?',
  ])
})

test('a word longer than any has parts, none of which ends within a character', async () => {
  const text = `${'a.'.repeat(400)} ${'𝒳'.repeat(120)}`
  const lengths = tokens(text).map(({ start, end }) => end - start)
  expect(lengths.reduce((sum, length) => sum + length)).toBe(text.length - 1)
  expect(Math.max(...lengths)).toBeLessThanOrEqual(101)
  for (const { start, end } of tokens(text)) expect(text.slice(start, end).isWellFormed()).toBe(true)
  const { chunks } = await chunkText(read(['a.'.repeat(100_000)]))
  expect(Math.max(...chunks.map((chunk) => chunk.text.length))).toBeLessThanOrEqual(200 * 101)
})

test('pieces hold whole sentences, and share the last ones with the next', async () => {
  const text = 'One two three. Four five six. Seven eight nine. Ten eleven.'
  const { chunks } = await chunkText(read([text]), { maxTokens: 8, overlapTokens: 4 })
  expect(chunks.map((chunk) => [chunk.text, chunk.token_count])).toEqual([
    ['One two three. Four five six.', 8],
    ['Four five six. Seven eight nine.', 8],
    ['Seven eight nine. Ten eleven.', 7],
  ])
})

test('a piece knows the pages that it touches', async () => {
  const { chunks } = await chunkText(read(['One two.', '', 'Three four.']), {
    maxTokens: 6,
    overlapTokens: 0,
  })
  expect(chunks.map(({ first_page, last_page }) => [first_page, last_page])).toEqual([[1, 3]])
})

test('an overlap as large as a piece is refused', async () => {
  await expect(chunkText(read(['x']), { maxTokens: 4, overlapTokens: 4 })).rejects.toThrow('does not fit')
})

test('no word is lost, no piece too large, and each is where it says, whatever the text', async () => {
  const word = fc.stringMatching(/^[A-Za-zé0-9.,!?$'\n-]{1,8}$/)
  await fc.assert(
    fc.asyncProperty(
      fc.array(word, { maxLength: 120 }),
      fc.integer({ min: 1, max: 20 }),
      fc.nat({ max: 19 }),
      async (words, maxTokens, overlap) => {
        const document = read([words.join(' ')])
        const { chunks } = await chunkText(document, {
          maxTokens,
          overlapTokens: Math.min(overlap, maxTokens - 1),
        })
        const covered = new Set<number>()
        for (const chunk of chunks) {
          expect(document.text.slice(chunk.start, chunk.end)).toBe(chunk.text)
          expect(chunk.token_count).toBeLessThanOrEqual(maxTokens)
          for (let at = chunk.start; at < chunk.end; at += 1) covered.add(at)
        }
        const lost = [...document.text.matchAll(/\S/g)].filter(({ index }) => !covered.has(index))
        expect(lost).toEqual([])
        const starts = chunks.map(({ start }) => start)
        expect(starts).toEqual([...new Set(starts)].toSorted((a, b) => a - b))
      },
    ),
    { numRuns: 60 },
  )
})

function read(pages: readonly string[]): OcrResult {
  let at = 0
  return {
    document_uuid: 'd1',
    name: 'a.txt',
    media_type: 'text/plain',
    text: pages.join('\n\n'),
    pages: pages.map((text, index) => {
      const start = at
      at += text.length + 2
      return { page: index + 1, start, end: start + text.length, source: text === '' ? 'blank' : 'text' }
    }),
    pages_needing_ocr: [],
  }
}
