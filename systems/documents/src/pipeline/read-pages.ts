import { UnreadableError } from '@keyspec-systems/reading'
import { lettersOf, type PageImage, type PdfOptions, pdfPages } from '@keyspec-systems/reading/pdf'

import { tidied } from './tidied.ts'

/** A page as a reader's process gives it. */
export interface ReadPage {
  readonly text: string
  readonly isBlank: boolean
  /** It has few letters, and something is drawn on it that may be text. */
  readonly isDrawn: boolean
  /** How many pictures that may hold text it has, where it is drawn. */
  readonly pictures: number
  readonly images: readonly PageImage[]
}

// Fewer letters on a page of pictures are a stamp or a page number, put there after scanning.
const leastLetters = 25

/** The pages of a PDF. Fails with `UnreadableError`. */
export async function* pagesOfPdf(
  bytes: Uint8Array,
  options: Pick<PdfOptions, 'maxPages' | 'images'>,
): AsyncGenerator<ReadPage> {
  for await (const page of pdfPages(bytes, { ...options, fewLetters: leastLetters })) {
    const text = tidied(page.text)
    const letters = lettersOf(text)
    yield { ...page, text, isBlank: letters === 0, isDrawn: page.isDrawn && letters < leastLetters }
  }
}

/** The pages of a text, apart by form feeds. Fails with `UnreadableError`. */
export async function* pagesOfText(bytes: Uint8Array): AsyncGenerator<ReadPage> {
  for (const page of decoded(bytes).split('\f')) {
    const text = tidied(page)
    yield { text, isBlank: text === '', isDrawn: false, pictures: 0, images: [] }
  }
}

function decoded(bytes: Uint8Array): string {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8'
  let text: string
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    throw new UnreadableError('damaged', 'the file is not text in UTF-8 or UTF-16')
  }
  if (text.includes('\0'))
    throw new UnreadableError('damaged', 'the file holds NUL characters, as text does not')
  return text
}
