import type { WebPage } from '../shape/cached.ts'
import { instantOf } from '../shape/instant.ts'
import { download, type DownloadLimits } from './download.ts'
import { UnreadableError } from '@keyspec-systems/reading'
import type { Reader } from '../reading/reader.ts'
import { decodeText } from './decode.ts'
import type { Extracted } from './extract.ts'
import { normaliseUrl } from './normalise-url.ts'
import { PageError } from './page-error.ts'

/** Reads a web page: its title and its main content, under its normalised address. */
export async function readPage(
  text: string,
  { pages = {}, reader }: { readonly pages?: DownloadLimits | undefined; readonly reader: Reader },
  signal?: AbortSignal,
): Promise<WebPage> {
  const url = normaliseUrl(text)
  const { contentType, body } = await download(url, pages, signal)
  const { title, content } = await extracted(url, contentType, body, reader, signal)
  if (content === '') throw new PageError('empty', url, 'has no readable content')
  return { url, title: title || new URL(url).hostname, content, crawled_at: instantOf(new Date()) }
}

async function extracted(
  url: string,
  contentType: string,
  body: Buffer,
  reader: Reader,
  signal: AbortSignal | undefined,
): Promise<Extracted> {
  const type = contentType.split(';')[0]!.trim().toLowerCase()
  const text = decodeText(body, contentType)
  const isHtml = type === 'text/html' || type === 'application/xhtml+xml'
  if (isHtml || (type === '' && text.trimStart().startsWith('<'))) {
    return reader.read('html', [text], { signal }).catch((error: unknown) => {
      if (!(error instanceof UnreadableError)) throw error
      throw new PageError('unreadable', url, `cannot be read: ${error.message}`, { cause: error })
    })
  }
  if (type === 'text/plain' || type === 'text/markdown') {
    const title = /^#?\s*(.+)/.exec(text.trimStart())?.[1]?.trim() ?? ''
    return { title, content: text.trim() }
  }
  throw new PageError('unsupported', url, `is ${type || 'of no stated type'}: only HTML and text can be read`)
}
