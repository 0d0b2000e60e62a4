import { getDocumentProxy, getResolvedPDFJS } from 'unpdf'

import { DocumentError } from './document-error.ts'
import type { PageImage } from './ocr.ts'

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>
type Page = Awaited<ReturnType<Pdf['getPage']>>

/** One page of a PDF as its text layer and its drawings have it. */
export interface PdfPage {
  /** The text layer, a line a line; empty where there is none. */
  readonly text: string
  /** True when something is drawn that may be text: a picture, or as many lines as letters need. */
  readonly isDrawn: boolean
  /** The pictures large enough to hold text; asked for only where they are needed, since they are large. */
  images(): Promise<PageImage[]>
}

/** The pages of a PDF, one after the other. Fails with `DocumentError`. */
export async function* pdfPages(bytes: Uint8Array, { maxPages = 2_000 } = {}): AsyncGenerator<PdfPage> {
  const pdf = await opened(bytes)
  try {
    if (pdf.numPages > maxPages) {
      throw new DocumentError('too-many-pages', `the PDF has ${pdf.numPages} pages, more than ${maxPages}`)
    }
    for (let number = 1; number <= pdf.numPages; number += 1) {
      const page = await pdf.getPage(number)
      yield await read(page)
      page.cleanup()
    }
  } finally {
    await pdf.destroy()
  }
}

async function opened(bytes: Uint8Array): Promise<Pdf> {
  try {
    // A copy: the parser takes its bytes away from whoever gave them.
    return await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 })
  } catch (error) {
    const name = error instanceof Error ? error.name : ''
    if (name === 'PasswordException') {
      throw new DocumentError('encrypted', 'the PDF opens only with a password', error)
    }
    throw new DocumentError('not-a-pdf', 'the file is not a PDF, or a damaged one', error)
  }
}

async function read(page: Page): Promise<PdfPage> {
  const { items } = await page.getTextContent()
  const { OPS } = await getResolvedPDFJS()
  const { fnArray, argsArray } = await page.getOperatorList()
  const pictures = new Set([
    OPS.paintImageXObject,
    OPS.paintInlineImageXObject,
    OPS.paintImageMaskXObject,
    OPS.paintImageMaskXObjectGroup,
  ])
  const paths = fnArray.filter((operation) => operation === OPS.constructPath).length
  return {
    text: textOf(items.filter((item) => 'str' in item)),
    isDrawn: paths >= leastPaths || fnArray.some((operation) => pictures.has(operation)),
    async images() {
      const found: PageImage[] = []
      for (const [index, operation] of fnArray.entries()) {
        const [first] = (argsArray[index] ?? []) as unknown[]
        let data: Decoded | undefined
        if (operation === OPS.paintImageXObject) data = await objectOf(page, first as string)
        else if (operation === OPS.paintInlineImageXObject) data = first as Decoded
        const image = data === undefined ? undefined : imageOf(data)
        if (image !== undefined) found.push(image)
      }
      return found
    },
  }
}

// Fewer are rules and frames.
const leastPaths = 50

interface Run {
  readonly str: string
  readonly hasEOL: boolean
  readonly height: number
  readonly transform: readonly number[]
}

// A gap of a line and more parts paragraphs: to the text layer it is no more than another line.
const paragraphGap = 1.8

function textOf(runs: readonly Run[]): string {
  let text = ''
  let last: Run | undefined
  for (const run of runs) {
    if (run.str.trim() !== '') {
      const fall = last === undefined ? 0 : (last.transform[5] as number) - (run.transform[5] as number)
      if (text.endsWith('\n') && fall > paragraphGap * Math.max(run.height, 1)) text += '\n'
      last = run
    }
    text += run.str + (run.hasEOL ? '\n' : '')
  }
  return text
}

/** An image as the parser decodes it: `kind` 1 is one bit a pixel, 2 three bytes, 3 four. */
interface Decoded {
  readonly width: number
  readonly height: number
  readonly kind: number
  readonly data: Uint8Array | Uint8ClampedArray
}

async function objectOf(page: Page, id: string): Promise<Decoded | undefined> {
  // What several pages show stands with the document's own objects.
  const objects = id.startsWith('g_') ? page.commonObjs : page.objs
  return new Promise((resolve) => {
    objects.get(id, (data: unknown) => resolve((data as Decoded | null) ?? undefined))
  })
}

// Smaller ones are rules, logos and stamps.
const leastSide = 64

function imageOf({ width, height, kind, data }: Decoded): PageImage | undefined {
  if (data === undefined || width < leastSide || height < leastSide) return undefined
  if (kind === 1) return { width, height, channels: 1, pixels: unpacked(data, width, height) }
  if (kind === 2) return { width, height, channels: 3, pixels: new Uint8Array(data) }
  if (kind !== 3) return undefined
  const pixels = new Uint8Array(width * height * 3)
  for (let from = 0, to = 0; to < pixels.length; from += 4, to += 3) {
    pixels[to] = data[from] as number
    pixels[to + 1] = data[from + 1] as number
    pixels[to + 2] = data[from + 2] as number
  }
  return { width, height, channels: 3, pixels }
}

function unpacked(bits: Uint8Array | Uint8ClampedArray, width: number, height: number): Uint8Array {
  const rowBytes = Math.ceil(width / 8)
  const pixels = new Uint8Array(width * height)
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const byte = bits[y * rowBytes + (x >> 3)] as number
      pixels[y * width + x] = (byte >> (7 - (x & 7))) & 1 ? 255 : 0
    }
  }
  return pixels
}
