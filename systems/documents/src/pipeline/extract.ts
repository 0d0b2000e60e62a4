import { UnreadableError } from '@keyspec-systems/reading'
import * as v from 'valibot'

import { flawOf } from './document-error.ts'
import { OcrResult, type TextSource } from './ocr-result.ts'
import type { OcrProvider } from './ocr.ts'
import type { ReadPage } from './read-pages.ts'
import type { DocumentReader } from './reader.ts'
import { tidied } from './tidied.ts'

/** A document as it comes in. */
export interface SourceDocument {
  readonly document_uuid: string
  readonly name: string
  readonly media_type: OcrResult['media_type']
  readonly bytes: Uint8Array
}

/** What text extraction can be told. */
export interface ExtractOptions {
  /** Reads the document in a process of its own. */
  readonly reader: DocumentReader
  /** Reads the pages that are pictures; without it they are reported as needing OCR. */
  readonly ocr?: OcrProvider | undefined
  /** A PDF with more is refused; 2,000 unless told. */
  readonly maxPages?: number
}

/** The first stage: the text of a document. Fails with `DocumentError`, or with `OcrError` where the OCR program fails. */
export async function extractText(source: SourceDocument, options: ExtractOptions): Promise<OcrResult> {
  let text = ''
  const pages: OcrResult['pages'] = []
  for await (const page of pagesOf(source, options)) {
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

interface Page {
  readonly text: string
  readonly source: TextSource
}

const pageBreak = '\n\n'

async function* pagesOf(
  { bytes, media_type }: SourceDocument,
  { reader, ocr, maxPages }: ExtractOptions,
): AsyncGenerator<Page> {
  const options = { ...(maxPages === undefined ? {} : { maxPages }), images: ocr !== undefined }
  const read =
    media_type === 'application/pdf' ? reader.each('pdf', [bytes, options]) : reader.each('text', [bytes])
  try {
    for await (const page of read) yield await pageOf(page, ocr)
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    throw flawOf(error, media_type === 'application/pdf' ? 'not-a-pdf' : 'not-text')
  }
}

async function pageOf(page: ReadPage, ocr: OcrProvider | undefined): Promise<Page> {
  const { text, isBlank, isDrawn, pictures, images } = page
  if (!isDrawn) return { text, source: isBlank ? 'blank' : 'text' }
  // Lines and boxes around a few words: the words are all there is.
  if (pictures === 0 && text !== '') return { text, source: 'text' }
  if (ocr === undefined || pictures === 0) return { text, source: 'needs-ocr' }
  const parts = [text]
  for (const image of images) parts.push(tidied(await ocr.read(image)))
  return { text: parts.filter(Boolean).join('\n'), source: 'ocr' }
}
