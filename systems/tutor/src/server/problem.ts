import { ConflictError, isUnavailable, KeyError } from 'keyspec'
import { type Endpoint } from '../schema.ts'
import { UpstreamError } from '@keyspec-systems/model/http'
import { Problem } from '@keyspec-systems/program/http'
import { NoReaderError } from '@keyspec-systems/reading'
import { UploadError, type UploadReason } from '../upload/upload-error.ts'
import { UrlError } from '../web/normalise-url.ts'
import { PageError } from '../web/page-error.ts'

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
    const isItsContent = ['unsupported', 'empty', 'unreadable'].includes(error.reason)
    return new Problem(isItsContent ? 422 : status, error.message)
  }
  if (error instanceof NoReaderError) return away(503, 'Nothing can be read now', error)
  if (error instanceof UpstreamError) return upstreamProblem(error)
  if (error instanceof ConflictError) return away(503, 'The session is being changed too often', error)
  if (isProgrammers(error)) return new Problem(500, 'The tutor failed', { cause: error })
  if (isUnavailable(error)) return away(503, 'Sessions cannot be reached now', error)
  return new Problem(500, 'The tutor failed', { cause: error })
}

const uploadStatus: Readonly<Record<UploadReason, number>> = {
  unsupported: 415,
  'not-configured': 415,
  empty: 422,
  damaged: 422,
  encrypted: 422,
  'too-many-pages': 422,
  'took-too-long': 422,
  'took-too-much-memory': 422,
  'parser-failed': 422,
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
