import { getDocumentProxy, getResolvedPDFJS } from 'unpdf'
import { UnreadableError } from '../unreadable-error.ts'

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>
type Page = Awaited<ReturnType<Pdf['getPage']>>

/** A picture on a page, without compression: rows of pixels from the top, 8 bits a channel, 1 gray or 3 red, green, blue. */
export interface PageImage {
  readonly width: number
  readonly height: number
  readonly channels: 1 | 3
  readonly pixels: Uint8Array
}

/** One page of a PDF as its text layer and its drawings have it. */
export interface PdfPage {
  /** The text layer in NFC, a line a line; empty where there is none. */
  readonly text: string
  /** True when something is drawn that may be text: a picture, or as many lines as letters need. */
  readonly isDrawn: boolean
  /** How many pictures large enough to hold text it has, where that was asked for. */
  readonly pictures: number
  /** These pictures, where that was asked for. */
  readonly images: readonly PageImage[]
}

/** What of a PDF is wanted. */
export interface PdfOptions {
  /** A PDF with more is refused; 2,000 unless told. */
  readonly maxPages?: number
  /** Pictures are looked for on drawn pages that have fewer letters than this; on none unless told. */
  readonly fewLetters?: number
  /** Whether the pictures that are found are given too, which takes memory. */
  readonly images?: boolean
}

// A4 at 600 dpi has 35 million. The parser leaves out pictures that are larger, as it would unpack them.
const MAX_IMAGE_PIXELS = 40_000_000

/** The pages of a PDF, one after the other. Fails with `UnreadableError`. */
export async function* pdfPages(
  bytes: Uint8Array,
  { maxPages = 2_000, fewLetters = 0, images = false }: PdfOptions = {},
): AsyncGenerator<PdfPage> {
  const pdf = await opened(bytes)
  try {
    if (pdf.numPages > maxPages) {
      throw new UnreadableError('too-many-pages', `the PDF has ${pdf.numPages} pages, more than ${maxPages}`)
    }
    for (let number = 1; number <= pdf.numPages; number += 1) {
      const page = await pdf.getPage(number)
      yield await read(page, fewLetters, images)
      page.cleanup()
    }
  } finally {
    await pdf.destroy()
  }
}

/** The text layer of a PDF, its pages apart by blank lines; empty for a PDF of pictures alone. Fails with `UnreadableError`. */
export async function pdfText(bytes: Uint8Array): Promise<string> {
  const pages: string[] = []
  for await (const { text } of pdfPages(bytes)) if (text.trim() !== '') pages.push(text.trim())
  return pages.join('\n\n')
}

async function opened(bytes: Uint8Array): Promise<Pdf> {
  try {
    // A copy: the parser takes its bytes away from whoever gave them.
    return await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0, maxImageSize: MAX_IMAGE_PIXELS })
  } catch (error) {
    const name = error instanceof Error ? error.name : ''
    if (name === 'PasswordException') {
      throw new UnreadableError('encrypted', 'the PDF opens only with a password')
    }
    throw new UnreadableError('damaged', 'the file is not a PDF, or a damaged one')
  }
}

async function read(page: Page, fewLetters: number, wantsImages: boolean): Promise<PdfPage> {
  const { items } = await page.getTextContent()
  const { OPS } = await getResolvedPDFJS()
  const { fnArray, argsArray } = await page.getOperatorList()
  const painting = new Set<number>([
    OPS.paintImageXObject,
    OPS.paintInlineImageXObject,
    OPS.paintImageMaskXObject,
    OPS.paintImageMaskXObjectGroup,
  ])
  const paths = fnArray.filter((operation) => operation === OPS.constructPath).length
  const text = textOf(items.filter((item) => 'str' in item)).normalize('NFC')
  const isDrawn = paths >= leastPaths || fnArray.some((operation) => painting.has(operation))
  let pictures = 0
  const images: PageImage[] = []
  if (isDrawn && lettersOf(text) < fewLetters) {
    for (const [index, operation] of fnArray.entries()) {
      const [first] = (argsArray[index] ?? []) as unknown[]
      let data: Decoded | undefined
      if (operation === OPS.paintImageXObject) data = await objectOf(page, first as string)
      else if (operation === OPS.paintInlineImageXObject) data = first as Decoded
      if (data === undefined || !isLegible(data)) continue
      pictures += 1
      if (wantsImages) images.push(imageOf(data))
    }
  }
  return { text, isDrawn, pictures, images }
}

/** How many letters and digits a text has. */
export function lettersOf(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0
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

function isLegible({ width, height, kind, data }: Decoded): boolean {
  return data !== undefined && width >= leastSide && height >= leastSide && kind >= 1 && kind <= 3
}

function imageOf({ width, height, kind, data }: Decoded): PageImage {
  if (kind === 1) return { width, height, channels: 1, pixels: unpacked(data, width, height) }
  if (kind === 2) return { width, height, channels: 3, pixels: new Uint8Array(data) }
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
