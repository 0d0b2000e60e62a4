import { ConflictError, isUnavailable, KeyError } from 'keyspec'
import { type Endpoint } from '../schema.ts'
import { UpstreamError } from '@keyspec-systems/model/http'
import { UploadError, type UploadReason } from '../upload/upload-error.ts'
import { UrlError } from '../web/normalise-url.ts'
import { PageError } from '../web/page-error.ts'

/** An answer that says what is wrong: a problem document (RFC 9457). */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: number
  /** `about:blank` means that the status says it all. */
  readonly type: string
  readonly title: string
  readonly headers: Readonly<Record<string, string>>
  /** Members beyond those of RFC 9457. */
  readonly more: Readonly<Record<string, unknown>>

  constructor(
    status: number,
    detail: string,
    about: {
      readonly type?: string
      readonly title?: string
      readonly headers?: Readonly<Record<string, string>>
      readonly more?: Readonly<Record<string, unknown>>
      readonly cause?: unknown
    } = {},
  ) {
    super(detail, about.cause === undefined ? {} : { cause: about.cause })
    this.status = status
    this.type = about.type ?? 'about:blank'
    this.title = about.title ?? titles[status] ?? 'Error'
    this.headers = about.headers ?? {}
    this.more = about.more ?? {}
  }

  /** The document. */
  get document(): Record<string, unknown> {
    const { type, title, status, message: detail, more } = this
    return { type, title, status, detail, ...more }
  }
}

/** Too many requests: the problem type that draft-ietf-httpapi-ratelimit-headers registers. */
export function quotaExceeded(endpoint: Endpoint, limit: number, retryAfterMs: number): Problem {
  const seconds = Math.ceil(retryAfterMs / 1000)
  return new Problem(429, `${endpoint} takes ${limit} requests a minute; try again in ${seconds} s`, {
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Request cannot be satisfied as assigned quota has been exceeded',
    more: { 'violated-policies': [endpoint] },
  })
}

/** What went wrong, as a problem; what nobody foresaw is a 500 that says nothing of its insides. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof UrlError) return new Problem(400, error.message)
  if (error instanceof KeyError)
    return new Problem(400, 'An id cannot be empty or hold a ":"', { cause: error })
  if (error instanceof UploadError) return new Problem(uploadStatus[error.reason], error.message)
  if (error instanceof PageError) {
    const status = error.reason === 'timed-out' ? 504 : error.reason === 'refused' ? 403 : 502
    return new Problem(
      error.reason === 'unsupported' || error.reason === 'empty' ? 422 : status,
      error.message,
    )
  }
  if (error instanceof UpstreamError) return upstreamProblem(error)
  if (error instanceof ConflictError) return away(503, 'The session is being changed too often', error)
  if (isProgrammers(error)) return new Problem(500, 'The tutor failed', { cause: error })
  if (isUnavailable(error)) return away(503, 'Sessions cannot be reached now', error)
  return new Problem(500, 'The tutor failed', { cause: error })
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

const uploadStatus: Readonly<Record<UploadReason, number>> = {
  unsupported: 415,
  'not-configured': 415,
  damaged: 422,
  empty: 422,
  'too-large': 413,
}

function upstreamProblem(error: UpstreamError): Problem {
  const { message: detail, reason, retryAfterMs = 1_000 } = error
  if (reason === 'timed-out') return new Problem(504, detail, { cause: error })
  if (reason !== 'limited') return new Problem(502, detail, { cause: error })
  const headers = { 'Retry-After': String(Math.ceil(retryAfterMs / 1000)) }
  return new Problem(503, detail, { headers, cause: error })
}

function away(status: number, detail: string, cause: unknown): Problem {
  return new Problem(status, detail, { headers: { 'Retry-After': '1' }, cause })
}

/** Errors of the language, which `isUnavailable` would take for a client's. */
function isProgrammers(error: unknown): boolean {
  return error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError
}
