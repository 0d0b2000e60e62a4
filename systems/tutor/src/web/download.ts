import { lookup } from 'node:dns'
import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

import { isPrivate } from './address.ts'
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
    for (let hop = 0; hop <= maxRedirects; hop += 1) {
      const response = await get(new URL(url), allowPrivate, until)
      const { statusCode: status = 0 } = response
      const { location } = response.headers
      if (status >= 300 && status < 400 && location !== undefined) {
        response.destroy()
        if (!URL.canParse(location, url))
          throw new PageError('status', url, 'redirects to nowhere', { status })
        url = new URL(location, url).href
        continue
      }
      if (status < 200 || status >= 300) {
        response.destroy()
        throw new PageError('status', url, `answered ${status}`, { status })
      }
      const body = await readAll(url, response, maxBytes)
      return { url, contentType: response.headers['content-type'] ?? '', body }
    }
    throw new PageError('status', start, `redirects more than ${maxRedirects} times`)
  } catch (error) {
    if (error instanceof PageError) throw error
    signal?.throwIfAborted()
    if (deadline.aborted) throw new PageError('timed-out', url, `took over ${timeoutMs} ms`, { cause: error })
    throw new PageError('unreachable', url, 'could not be reached', { cause: error })
  }
}

const USER_AGENT = 'keyspec-tutor/0 (reads pages that a learner asks for)'

function get(url: URL, allowPrivate: boolean, signal: AbortSignal): Promise<IncomingMessage> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refused(url, 'is neither http nor https')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // A literal address is never looked up, so it is checked here.
  if (!allowPrivate && isIP(host) !== 0 && isPrivate(host))
    throw refused(url, 'is not on the public internet')
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  const headers = {
    'User-Agent': USER_AGENT,
    Accept: 'text/html,application/xhtml+xml,text/plain;q=0.9,text/markdown;q=0.9',
    'Accept-Encoding': 'gzip, deflate, br',
  }
  return new Promise((resolve, reject) => {
    request(url, { headers, signal, agent: false, ...(allowPrivate ? {} : { lookup: publicOnly(url) }) })
      .once('response', resolve)
      .once('error', reject)
      .end()
  })
}

function publicOnly(url: URL): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0)
      const allowed = addresses.filter(({ address }) => !isPrivate(address))
      const [first] = allowed
      if (first === undefined) return callback(refused(url, 'is not on the public internet'), '', 0)
      return options.all ? callback(null, allowed) : callback(null, first.address, first.family)
    })
  }
}

function refused(url: URL, why: string): PageError {
  return new PageError('refused', url.href, why)
}

async function readAll(url: string, response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  const body = decoded(response)
  // A pipe does not carry errors: without this a broken connection would leave the decoder waiting.
  response.once('error', (error) => body.destroy(error))
  try {
    for await (const chunk of body) {
      bytes += (chunk as Buffer).byteLength
      if (bytes > maxBytes) throw new PageError('too-large', url, `has more than ${maxBytes} bytes`)
      chunks.push(chunk as Buffer)
    }
  } finally {
    response.destroy()
  }
  return Buffer.concat(chunks)
}

function decoded(response: IncomingMessage): Readable {
  switch (response.headers['content-encoding']?.toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return response.pipe(createGunzip())
    case 'deflate':
      return response.pipe(createInflate())
    case 'br':
      return response.pipe(createBrotliDecompress())
    default:
      return response
  }
}
