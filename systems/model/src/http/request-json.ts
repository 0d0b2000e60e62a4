import { delayOf, reasonOf, retryAfterIn } from '@keyspec-systems/program/retry'
import * as v from 'valibot'

import { patiently, type Patience } from './patience.ts'
import type { Secret } from './secret.ts'
import { UpstreamError } from '@keyspec-systems/program/upstream'

/** One JSON call: GET, or POST where there is a body. */
export interface JsonRequest<S extends v.GenericSchema> {
  /** What errors call the service, such as `the model endpoint`. */
  readonly service: string
  readonly url: string | URL
  /** Sent as `Authorization: Bearer`. */
  readonly token?: Secret | undefined
  /** Sent as JSON; bytes are sent as they are. */
  readonly body?: unknown
  readonly contentType?: string
  /** What the answer must be. */
  readonly schema: S
  readonly maxBytes?: number
  readonly signal?: AbortSignal | undefined
}

/** Makes the call, again where that may help, and gives the validated answer or an `UpstreamError`. */
export function requestJson<S extends v.GenericSchema>(
  request: JsonRequest<S>,
  patience: Patience = {},
): Promise<v.InferOutput<S>> {
  return patiently(patience, request.signal, () => once(request, patience.timeoutMs ?? 30_000))
}

const DEFAULT_MAX_BYTES = 32 * 1024 * 1024

async function once<S extends v.GenericSchema>(
  request: JsonRequest<S>,
  timeoutMs: number,
): Promise<v.InferOutput<S>> {
  const { service, url, schema, maxBytes = DEFAULT_MAX_BYTES } = request
  const deadline = AbortSignal.timeout(delayOf(timeoutMs))
  const signal = request.signal === undefined ? deadline : AbortSignal.any([request.signal, deadline])
  let response: Response
  let text: string
  try {
    // A redirect would carry the token to another host, so none is followed.
    response = await fetch(url, { ...initOf(request), redirect: 'manual', signal })
    text = await readText(service, response, maxBytes)
  } catch (error) {
    if (error instanceof UpstreamError) throw error
    request.signal?.throwIfAborted()
    if (deadline.aborted) {
      throw new UpstreamError('timed-out', { service }, `took over ${timeoutMs} ms`, { cause: error })
    }
    throw new UpstreamError('unreachable', { service }, 'could not be reached', { cause: error })
  }
  if (!response.ok) throw refusal(request, response, text)
  return validated(service, schema, text)
}

function initOf(request: JsonRequest<v.GenericSchema>): RequestInit {
  const { body, token } = request
  const headers = new Headers({ Accept: 'application/json' })
  if (token !== undefined) headers.set('Authorization', `Bearer ${token.reveal()}`)
  if (body === undefined) return { headers }
  headers.set('Content-Type', request.contentType ?? 'application/json')
  return {
    method: 'POST',
    headers,
    body: body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body),
  }
}

async function readText(service: string, response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes)
      throw new UpstreamError('too-large', { service }, `answered more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function validated<S extends v.GenericSchema>(service: string, schema: S, text: string): v.InferOutput<S> {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw new UpstreamError(
      'unreadable',
      { service },
      `answered something that is not JSON: ${start(text)}`,
      {
        cause,
      },
    )
  }
  const parsed = v.safeParse(schema, json)
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  const where = v.getDotPath(issue) ?? 'the answer'
  throw new UpstreamError(
    'unreadable',
    { service },
    `answered JSON of another shape: ${where}: ${issue.message}`,
    {
      cause: new v.ValiError(parsed.issues),
    },
  )
}

function refusal(request: JsonRequest<v.GenericSchema>, response: Response, text: string): UpstreamError {
  const { service, token } = request
  const said = token === undefined ? start(text) : token.redact(start(text))
  return new UpstreamError(reasonOf(response.status), { service }, `answered ${response.status}: ${said}`, {
    status: response.status,
    retryAfterMs: retryAfterIn(response.headers.get('retry-after'), Date.now()),
  })
}

function start(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > 200 ? `${line.slice(0, 200)}…` : line
}
