import { delayOf, reasonOf, retryAfterIn } from '@keyspec-systems/program/retry'

import { refusalIn } from './docket.ts'
import {
  UpstreamError,
  type UpstreamErrorDetails,
  type UpstreamReason,
} from '@keyspec-systems/program/upstream'

/** One GET of JSON. */
export interface Get {
  readonly url: string
  readonly token: string
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

/** Asks once, and answers the JSON. Fails with `UpstreamError`, or with the signal's reason. */
export async function getJson(get: Get): Promise<unknown> {
  const { url } = get
  const deadline = AbortSignal.timeout(delayOf(get.timeoutMs))
  const signal = get.signal === undefined ? deadline : AbortSignal.any([get.signal, deadline])
  const headers = { Authorization: `Token ${get.token}`, Accept: 'application/json' }
  try {
    // A redirect could take the token elsewhere: the API has none where a path ends in a slash.
    const response = await fetch(url, { headers, redirect: 'manual', signal })
    const body = await bounded(response, get)
    if (!response.ok) throw refusal(get, response, body)
    return JSON.parse(body) as unknown
  } catch (error) {
    if (error instanceof UpstreamError) throw error
    if (get.signal?.aborted === true) throw get.signal.reason
    const host = new URL(url).host
    if (deadline.aborted) {
      throw new UpstreamError('timed-out', { url }, `${host} took over ${get.timeoutMs} ms`, { cause: error })
    }
    if (error instanceof SyntaxError) {
      throw new UpstreamError('unreadable', { url }, `${host} answered something that is not JSON`, {
        cause: error,
      })
    }
    throw new UpstreamError('unreachable', { url }, `the connection to ${host} failed`, { cause: error })
  }
}

// A page of 20 dockets has some 50 kB.
const maxBytes = 16_777_216

async function bounded(response: Response, { url }: Get): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    // Leaving the loop cancels the body, so that nothing holds the connection.
    if (bytes > maxBytes) {
      throw new UpstreamError('unreadable', { url }, `the answer has over ${maxBytes} bytes`, {
        isPassing: false,
      })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function refusal({ url, token }: Get, response: Response, body: string): UpstreamError {
  const { status } = response
  const words = refusalIn(body).replaceAll(token, '…')
  const reason = reasonOf(status)
  const retryAfterMs = retryAfterIn(response.headers.get('retry-after'), Date.now())
  const details: UpstreamErrorDetails = retryAfterMs === undefined ? { status } : { status, retryAfterMs }
  const said = words === '' ? '' : `, "${words}"`
  return new UpstreamError(
    reason,
    { url },
    `${new URL(url).host} answered ${status}${said}${advice(reason)}`,
    details,
  )
}

function advice(reason: UpstreamReason): string {
  if (reason === 'credentials') return '; check COURTLISTENER_TOKEN'
  return reason === 'limited' ? '; the hourly limit of this token is used up' : ''
}
