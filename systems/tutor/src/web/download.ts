import { guardedFetch, RefusedAddressError } from '@keyspec-systems/program/fetch'

import { PageError } from './page-error.ts'

/** How far a download may go. */
export interface DownloadLimits {
  /** For the whole download, redirects included; 10,000 unless told. */
  readonly timeoutMs?: number
  /** After decompression; 5 MiB unless told. */
  readonly maxBytes?: number
  /** 5 unless told. */
  readonly maxRedirects?: number
  /** Lets loopback and private addresses be read; off unless told. */
  readonly allowPrivate?: boolean
}

/** What was downloaded, and where it was in the end. */
export interface Download {
  readonly url: string
  readonly contentType: string
  readonly body: Buffer
}

/**
 * Downloads an http or https address. The address that the host name resolves to is checked where the connection is
 * made, at each redirect, so that no name can point into the private network.
 */
export async function download(
  start: string,
  limits: DownloadLimits = {},
  signal?: AbortSignal,
): Promise<Download> {
  const { timeoutMs = 10_000, maxBytes = 5 * 1024 * 1024, maxRedirects = 5, allowPrivate = false } = limits
  const deadline = AbortSignal.timeout(timeoutMs)
  const until = signal === undefined ? deadline : AbortSignal.any([signal, deadline])
  let url = start
  try {
    const mayBePrivate = allowPrivate ? () => true : undefined
    const response = await guardedFetch(start, {
      headers: HEADERS,
      signal: until,
      maxRedirects,
      mayBePrivate,
    })
    const { status, headers, body } = response
    url = response.url
    if (status < 200 || status >= 300) {
      body.destroy()
      throw new PageError('status', url, `answered ${status}`, { status })
    }
    return { url, contentType: headers.get('content-type') ?? '', body: await readAll(url, body, maxBytes) }
  } catch (error) {
    if (error instanceof PageError) throw error
    if (error instanceof RefusedAddressError)
      throw new PageError(/redirects/.test(error.message) ? 'status' : 'refused', error.url, error.message)
    signal?.throwIfAborted()
    if (deadline.aborted) throw new PageError('timed-out', url, `took over ${timeoutMs} ms`, { cause: error })
    throw new PageError('unreachable', url, 'could not be reached', { cause: error })
  }
}

const HEADERS = {
  'User-Agent': 'keyspec-tutor/0 (reads pages that a learner asks for)',
  Accept: 'text/html,application/xhtml+xml,text/plain;q=0.9,text/markdown;q=0.9',
}

async function readAll(url: string, body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new PageError('too-large', url, `has more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
