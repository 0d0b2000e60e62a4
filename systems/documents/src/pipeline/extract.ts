import * as v from 'valibot'

import { DocumentError } from './document-error.ts'
import { OcrResult, type TextSource } from './ocr-result.ts'
import type { OcrProvider } from './ocr.ts'
import { pdfPages, type PdfPage } from './pdf.ts'

/** A document as it comes in. */
export interface SourceDocument {
  readonly document_uuid: string
  readonly name: string
  readonly media_type: OcrResult['media_type']
  readonly bytes: Uint8Array
}

/** What text extraction can be told. */
export interface ExtractOptions {
  /** Reads the pages that are pictures; without it they are reported as needing OCR. */
  readonly ocr?: OcrProvider | undefined
  /** A PDF with more is refused; 2,000 unless told. */
  readonly maxPages?: number
}

/** The first stage: the text of a document. Fails with `DocumentError`, or with `OcrError` where the OCR program fails. */
export async function extractText(source: SourceDocument, options: ExtractOptions = {}): Promise<OcrResult> {
  const read =
    source.media_type === 'application/pdf' ? fromPdf(source.bytes, options) : fromText(source.bytes)
  let text = ''
  const pages: OcrResult['pages'] = []
  for await (const page of read) {
    if (pages.length > 0) text += pageBreak
    pages.push({
      page: pages.length + 1,
      start: text.length,
      end: text.length + page.text.length,
      source: page.source,
    })
    text += page.text
  }
  return v.parse(OcrResult, {
    document_uuid: source.document_uuid,
    name: source.name,
    media_type: source.media_type,
    text,
    pages,
    pages_needing_ocr: pages.filter((each) => each.source === 'needs-ocr').map((each) => each.page),
  })
}

interface ReadPage {
  readonly text: string
  readonly source: TextSource
}

const pageBreak = '\n\n'

// Fewer letters on a page of pictures are a stamp or a page number, put there after scanning.
const leastLetters = 25

async function* fromPdf(bytes: Uint8Array, { ocr, maxPages }: ExtractOptions): AsyncGenerator<ReadPage> {
  for await (const page of pdfPages(bytes, maxPages === undefined ? {} : { maxPages })) {
    const text = tidied(page.text)
    const letters = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0
    if (letters >= leastLetters || !page.isDrawn) {
      yield { text, source: letters > 0 ? 'text' : 'blank' }
    } else {
      yield await fromPictures(page, text, ocr)
    }
  }
}

async function fromPictures(page: PdfPage, text: string, ocr: OcrProvider | undefined): Promise<ReadPage> {
  const images = await page.images()
  // Lines and boxes around a few words: the words are all there is.
  if (images.length === 0 && text !== '') return { text, source: 'text' }
  if (ocr === undefined || images.length === 0) return { text, source: 'needs-ocr' }
  const parts = [text]
  for (const image of images) parts.push(tidied(await ocr.read(image)))
  return { text: parts.filter(Boolean).join('\n'), source: 'ocr' }
}

async function* fromText(bytes: Uint8Array): AsyncGenerator<ReadPage> {
  for (const page of decoded(bytes).split('\f')) {
    const text = tidied(page)
    yield { text, source: text === '' ? 'blank' : 'text' }
  }
}

function decoded(bytes: Uint8Array): string {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8'
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes)
    if (!text.includes('\0')) return text
  } catch (cause) {
    throw new DocumentError('not-text', 'the file is not text in UTF-8 or UTF-16', cause)
  }
  throw new DocumentError('not-text', 'the file holds NUL characters, as text does not')
}

/** Text as the later stages like it: one kind of line end, no stray characters, words that a line end broke made whole. */
function tidied(text: string): string {
  return text
    .normalize('NFC')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{C}\n\t]/gu, '')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replaceAll(/(\p{Ll})-\n(\p{Ll})/gu, '$1$2')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}
