import { Readable } from 'node:stream'
import { guardedFetch, RefusedAddressError } from '@keyspec-systems/program/fetch'
import {
  delayOf,
  reasonOf,
  retried,
  retryAfterIn,
  sleep,
  type RetryOptions,
} from '@keyspec-systems/program/retry'

import { refusalIn } from './answer.ts'
import { UpstreamError, type UpstreamReason } from '@keyspec-systems/program/upstream'

/** How one client of regulations.gov calls: how patiently, how often, and by which clock. */
export interface RequestOptions extends RetryOptions {
  /** The least time between two calls of this client, to stay inside an hourly limit; 0 unless told. */
  readonly minIntervalMs?: number
  readonly now?: () => number
}

/** One GET: where, with what, for how long, and how many bytes of an answer to take. */
export interface Call {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** A redirect would carry the API key elsewhere, so only calls without one follow it. */
  readonly redirect: 'follow' | 'manual'
  /** Which addresses of those that are followed may be on the private network; see `guardedFetch`. */
  readonly mayBePrivate?: ((url: URL) => boolean) | undefined
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly signal: AbortSignal | undefined
}

/** A successful answer whose body fails with an `UpstreamError` when it breaks off or grows too large. */
export interface Answer {
  readonly headers: Headers
  readonly body: AsyncIterable<Uint8Array>
}

/** Makes one GET, again where that may help, and gives the answer to `read`, which runs once a try. */
export type Requester = <T>(call: Call, read: (answer: Answer) => Promise<T>) => Promise<T>

/** A requester that backs off exponentially with full jitter and honours `Retry-After`. */
export function requester(options: RequestOptions = {}): Requester {
  const { minIntervalMs = 0, sleep: rest = sleep, now = Date.now } = options
  let freeAtMs = 0

  async function takeTurn(signal: AbortSignal | undefined): Promise<void> {
    if (minIntervalMs === 0) return
    const atMs = Math.max(now(), freeAtMs)
    freeAtMs = atMs + minIntervalMs
    if (atMs > now()) await rest(atMs - now(), signal)
  }

  return (call, read) => {
    const attempt = async () => {
      await takeTurn(call.signal)
      return once(call, read, now)
    }
    return retried(attempt, options, { signal: call.signal, askedMs })
  }
}

/** Collects a body as text. */
export async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

const passing = new Set<UpstreamReason>(['limited', 'unavailable', 'unreachable', 'timed-out', 'unreadable'])

function askedMs(error: unknown): number | undefined {
  return error instanceof UpstreamError && passing.has(error.reason) ? (error.retryAfterMs ?? 0) : undefined
}

async function once<T>(call: Call, read: (answer: Answer) => Promise<T>, now: () => number): Promise<T> {
  const deadline = AbortSignal.timeout(delayOf(call.timeoutMs))
  const signal = call.signal === undefined ? deadline : AbortSignal.any([call.signal, deadline])
  let response: Response
  try {
    response = await open(call, signal)
  } catch (error) {
    throw lost(call, deadline, error)
  }
  if (!response.ok) throw await refusal(call, response, deadline, now)
  try {
    return await read({ headers: response.headers, body: bounded(call, response, deadline) })
  } finally {
    if (response.body?.locked === false) await response.body.cancel().catch(() => undefined)
  }
}

/** Only an address that somebody else wrote is followed, so it is guarded. */
async function open({ url, headers, redirect, mayBePrivate }: Call, signal: AbortSignal): Promise<Response> {
  if (redirect === 'manual') return fetch(url, { headers: { ...headers }, redirect, signal })
  const { status, headers: told, body } = await guardedFetch(url, { headers, signal, mayBePrivate })
  const isEmpty = status === 204 || status === 205 || status === 304
  if (isEmpty) body.destroy()
  return new Response(isEmpty ? null : (Readable.toWeb(body) as ReadableStream), { status, headers: told })
}

async function* bounded(call: Call, response: Response, deadline: AbortSignal): AsyncGenerator<Uint8Array> {
  const declared = Number(response.headers.get('content-length') ?? 0)
  if (declared > call.maxBytes) throw tooLarge(call, declared)
  const reader = response.body?.getReader()
  if (reader === undefined) return
  try {
    let bytes = 0
    for (;;) {
      const chunk = await reader.read().catch((error: unknown) => {
        throw lost(call, deadline, error)
      })
      if (chunk.done) return
      bytes += chunk.value.byteLength
      if (bytes > call.maxBytes) throw tooLarge(call, bytes)
      yield chunk.value
    }
  } finally {
    // Also where the reader of the body stops early: a body left half read would hold its connection.
    await reader.cancel().catch(() => undefined)
  }
}

async function refusal(
  call: Call,
  response: Response,
  deadline: AbortSignal,
  now: () => number,
): Promise<UpstreamError> {
  const { status } = response
  let words = ''
  try {
    words = refusalIn(await readText(bounded({ ...call, maxBytes: 65_536 }, response, deadline)))
  } catch {
    // The status says enough.
  }
  const key = call.headers['X-Api-Key']
  if (key !== undefined && key !== '') words = words.replaceAll(key, '…')
  const retryAfterMs = retryAfterIn(response.headers.get('retry-after'), now())
  return new UpstreamError(
    reasonOf(status),
    { url: call.url },
    `${host(call)} answered ${status}${words === '' ? '' : `, "${words}"`}${advice(status)}`,
    retryAfterMs === undefined ? { status } : { status, retryAfterMs },
  )
}

function advice(status: number): string {
  if (status === 401 || status === 403) return '; check REGULATIONS_API_KEY'
  if (status === 429) return '; the hourly limit of this API key is used up'
  if (status >= 300 && status < 400) return '; a redirect is not followed with an API key'
  return ''
}

function lost(call: Call, deadline: AbortSignal, cause: unknown): unknown {
  if (call.signal?.aborted === true) return call.signal.reason
  if (cause instanceof RefusedAddressError)
    return new UpstreamError('refused', { url: call.url }, `an address that ${cause.message}`)
  if (deadline.aborted) {
    return new UpstreamError('timed-out', { url: call.url }, `${host(call)} took over ${call.timeoutMs} ms`, {
      cause,
    })
  }
  return new UpstreamError('unreachable', { url: call.url }, `the connection to ${host(call)} failed`, {
    cause,
  })
}

function host(call: Call): string {
  return new URL(call.url).host
}

function tooLarge(call: Call, bytes: number): UpstreamError {
  return new UpstreamError(
    'too-large',
    { url: call.url },
    `the answer has ${bytes} bytes or more, over ${call.maxBytes}`,
  )
}
