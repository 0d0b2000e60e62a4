import * as v from 'valibot'

import { Chunks, type Chunk } from './chunks.ts'
import type { OcrResult } from './ocr-result.ts'
import { sentences, tokens, type Span } from './sentence.ts'

/** How large the pieces are. */
export interface ChunkOptions {
  /** Words, numbers and marks in a piece, at most; 200 unless told. */
  readonly maxTokens?: number
  /** How many of them, at most, a piece shares with the one before, in whole sentences; 40 unless told. */
  readonly overlapTokens?: number
}

/** The second stage: cuts a document's text between sentences, so that no piece is too large and none is lost. */
export async function chunkText(read: OcrResult, options: ChunkOptions = {}): Promise<Chunks> {
  const { maxTokens = 200, overlapTokens = 40 } = options
  if (!(overlapTokens >= 0 && overlapTokens < maxTokens)) {
    throw new RangeError(`an overlap of ${overlapTokens} tokens does not fit into chunks of ${maxTokens}`)
  }
  const pieces = packed(units(read.text, maxTokens), maxTokens, overlapTokens)
  return v.parse(Chunks, {
    document_uuid: read.document_uuid,
    max_tokens: maxTokens,
    overlap_tokens: overlapTokens,
    chunks: pieces.map((piece, index) => chunkOf(piece, index, read)),
  })
}

interface Unit extends Span {
  readonly tokenCount: number
}

/** Sentences, or parts of one that is longer than a whole piece may be. */
function units(text: string, maxTokens: number): Unit[] {
  return sentences(text).flatMap((sentence) => {
    const words = tokens(text, sentence)
    return Array.from({ length: Math.ceil(words.length / maxTokens) }, (_, part) => {
      const own = words.slice(part * maxTokens, (part + 1) * maxTokens) as [Span, ...Span[]]
      return { start: own[0].start, end: (own.at(-1) as Span).end, tokenCount: own.length }
    })
  })
}

function packed(all: readonly Unit[], maxTokens: number, overlapTokens: number): Unit[][] {
  const pieces: Unit[][] = []
  let piece: Unit[] = []
  for (const unit of all) {
    if (size(piece) + unit.tokenCount > maxTokens) {
      pieces.push(piece)
      piece = tail(piece, Math.min(overlapTokens, maxTokens - unit.tokenCount))
    }
    piece.push(unit)
  }
  return piece.length === 0 ? pieces : [...pieces, piece]
}

/** The last units of a piece that together have no more tokens than that. */
function tail(piece: readonly Unit[], atMost: number): Unit[] {
  let from = piece.length
  let taken = 0
  while (from > 0 && taken + (piece[from - 1] as Unit).tokenCount <= atMost) {
    from -= 1
    taken += (piece[from] as Unit).tokenCount
  }
  return piece.slice(from)
}

function size(piece: readonly Unit[]): number {
  return piece.reduce((sum, { tokenCount }) => sum + tokenCount, 0)
}

function chunkOf(piece: readonly Unit[], index: number, { text, pages }: OcrResult): Chunk {
  const { start } = piece[0] as Unit
  const { end } = piece.at(-1) as Unit
  const touched = pages.filter((page) => page.start < end && page.end > start).map(({ page }) => page)
  return {
    index,
    text: text.slice(start, end),
    start,
    end,
    token_count: size(piece),
    first_page: touched[0] ?? null,
    last_page: touched.at(-1) ?? null,
  }
}
