import type { WebPage } from '../shape/cached.ts'
import { instantOf } from '../shape/instant.ts'
import { download, type DownloadLimits } from './download.ts'
import { decodeText, extractHtml, type Extracted } from './extract.ts'
import { normaliseUrl } from './normalise-url.ts'
import { PageError } from './page-error.ts'

/** Reads a web page: its title and its main content, under its normalised address. */
export async function readPage(
  text: string,
  limits: DownloadLimits = {},
  signal?: AbortSignal,
): Promise<WebPage> {
  const url = normaliseUrl(text)
  const { contentType, body } = await download(url, limits, signal)
  const { title, content } = extracted(url, contentType, body)
  if (content === '') throw new PageError('empty', url, 'has no readable content')
  return { url, title: title || new URL(url).hostname, content, crawled_at: instantOf(new Date()) }
}

function extracted(url: string, contentType: string, body: Buffer): Extracted {
  const type = contentType.split(';')[0]!.trim().toLowerCase()
  const text = decodeText(body, contentType)
  if (type === 'text/html' || type === 'application/xhtml+xml') return extractHtml(text)
  if (type === '' && /^\s*</.test(text)) return extractHtml(text)
  if (type === 'text/plain' || type === 'text/markdown') {
    const title = /^#?\s*(.+)/.exec(text.trimStart())?.[1]?.trim() ?? ''
    return { title, content: text.trim() }
  }
  throw new PageError('unsupported', url, `is ${type || 'of no stated type'}: only HTML and text can be read`)
}
