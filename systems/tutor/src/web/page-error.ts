/**
 * Why a page could not be read: `refused` (its address is not to be fetched), `status` (the server said no),
 * `unsupported` (not a text or HTML page), `too-large`, `timed-out`, `unreachable`, `unreadable` (its reader failed, or took
 * too much), `empty` (no readable content).
 */
export type PageReason =
  | 'refused'
  | 'status'
  | 'unsupported'
  | 'too-large'
  | 'timed-out'
  | 'unreachable'
  | 'unreadable'
  | 'empty'

/** A web page that could not be read. */
export class PageError extends Error {
  override readonly name = 'PageError'
  readonly code = 'E_PAGE'
  readonly reason: PageReason
  readonly url: string
  readonly status: number | undefined

  constructor(
    reason: PageReason,
    url: string,
    what: string,
    details: { status?: number; cause?: unknown } = {},
  ) {
    super(`${url} ${what}`, details.cause === undefined ? {} : { cause: details.cause })
    this.reason = reason
    this.url = url
    this.status = details.status
  }
}
