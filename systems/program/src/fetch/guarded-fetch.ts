import { lookup } from 'node:dns'
import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { addAbortSignal, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { isPrivate } from './address.ts'

/** How an address of somebody else's is followed. */
export interface GuardedFetchOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** 5 unless told. */
  readonly maxRedirects?: number
  /**
   * Whether this address may be on the private network: a service of one's own that stands in for a public one. None may
   * unless told.
   */
  readonly mayBePrivate?: ((url: URL) => boolean) | undefined
}

/** An address that is not to be fetched, at the start or behind a redirect. Its words do not say what it resolved to. */
export class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError'
  readonly code = 'E_REFUSED_ADDRESS'
  readonly url: string

  constructor(url: string, why: string) {
    super(why)
    this.url = url
  }
}

/** An answer, with its redirects followed and its body unpacked, which is not read yet. */
export interface GuardedResponse {
  /** Where it came from in the end. */
  readonly url: string
  readonly status: number
  readonly headers: Headers
  /** Unpacked: whoever reads it bounds its length. Leaving it early ends the connection. */
  readonly body: Readable
}

/**
 * GET of an address that came from outside. It is fetched only if it is http or https and the host is on the public internet: the
 * address that a name resolves to is checked where the connection is made, so no name can point into the private network, and
 * each redirect is checked anew. A redirect to another origin gets neither `Authorization` nor `Cookie`, and all other headers.
 */
export async function guardedFetch(
  start: string,
  options: GuardedFetchOptions = {},
): Promise<GuardedResponse> {
  const { maxRedirects = 5 } = options
  let url = start
  let { headers = {} } = options
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    if (!URL.canParse(url)) throw new RefusedAddressError(url, 'is no address')
    const response = await get(new URL(url), { ...options, headers })
    const { statusCode: status = 0 } = response
    const { location } = response.headers
    if (status < 300 || status >= 400 || location === undefined)
      return answered(url, status, response, options.signal)
    response.destroy()
    if (!URL.canParse(location, url)) throw new RefusedAddressError(url, 'redirects to nowhere')
    const next = new URL(location, url)
    if (next.origin !== new URL(url).origin) headers = withoutCredentials(headers)
    url = next.href
  }
  throw new RefusedAddressError(start, `redirects more than ${maxRedirects} times`)
}

function withoutCredentials(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(?:authorization|cookie)$/i.test(name)),
  )
}

function get(
  url: URL,
  { headers = {}, signal, mayBePrivate }: GuardedFetchOptions,
): Promise<IncomingMessage> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new RefusedAddressError(url.href, 'is neither http nor https')
  const isAllowed = mayBePrivate?.(url) === true
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // A literal address is never looked up, so it is checked here.
  if (!isAllowed && isIP(host) !== 0 && isPrivate(host)) throw notPublic(url)
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  const sent = { ...headers, 'Accept-Encoding': 'gzip, deflate, br' }
  return new Promise((resolve, reject) => {
    request(url, {
      headers: sent,
      ...(signal === undefined ? {} : { signal }),
      agent: false,
      ...(isAllowed ? {} : { lookup: publicOnly(url) }),
    })
      .once('response', resolve)
      .once('error', reject)
      // A server that switches protocols ends the request without an error, and no signal stops it any more.
      .once('close', () => reject(new Error('The connection ended without an answer')))
      .end()
  })
}

function publicOnly(url: URL): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0)
      const allowed = addresses.filter(({ address }) => !isPrivate(address))
      const [first] = allowed
      if (first === undefined) return callback(notPublic(url), '', 0)
      return options.all ? callback(null, allowed) : callback(null, first.address, first.family)
    })
  }
}

function notPublic(url: URL): RefusedAddressError {
  return new RefusedAddressError(url.href, 'is not on the public internet')
}

function answered(
  url: string,
  status: number,
  response: IncomingMessage,
  signal: AbortSignal | undefined,
): GuardedResponse {
  const headers = new Headers()
  for (const [name, value] of Object.entries(response.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  const body = decoded(response)
  // A body that breaks before its reader begins fails the reader, not the process.
  body.on('error', () => {})
  // The request's own signal does not reach a body that has arrived and is still being unpacked.
  if (signal !== undefined) addAbortSignal(signal, body)
  if (body !== response) {
    // They say how it was packed.
    headers.delete('content-encoding')
    headers.delete('content-length')
    // A pipe does not carry errors, nor its end back: without this a broken connection would leave the decoder waiting.
    response.once('error', (error) => body.destroy(error))
    body.once('close', () => response.destroy())
  }
  return { url, status, headers, body }
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
