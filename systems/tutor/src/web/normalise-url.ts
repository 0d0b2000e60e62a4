/** A text that is no address of a web page. */
export class UrlError extends Error {
  override readonly name = 'UrlError'
  readonly code = 'E_URL'
}

/**
 * One form for all spellings of an address, so that they share a cache entry: parsed as browsers do (WHATWG URL, which
 * lowers scheme and host, drops default ports and resolves `..`), without fragment, user and password, without the
 * `utm_*`, `gclid` and `fbclid` that only track, the rest of the query sorted by name. A trailing slash stays, since
 * servers tell the two apart.
 */
export function normaliseUrl(text: string): string {
  const trimmed = text.trim()
  if (!URL.canParse(trimmed)) throw new UrlError(`"${trimmed}" is not a URL`)
  const url = new URL(trimmed)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new UrlError(`Only http and https pages can be read, not ${url.protocol}`)
  }
  url.hash = ''
  url.username = ''
  url.password = ''
  for (const name of new Set(url.searchParams.keys())) {
    if (/^utm_|^gclid$|^fbclid$/i.test(name)) url.searchParams.delete(name)
  }
  url.searchParams.sort()
  // Setting an empty search removes the "?" that a bare one leaves behind.
  if (url.searchParams.size === 0) url.search = ''
  return url.href
}
