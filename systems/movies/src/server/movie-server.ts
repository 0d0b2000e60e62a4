import { createServer, type Server, type ServerResponse } from 'node:http'

import { UpstreamError } from '@keyspec-systems/model/http'

import { answerMovie } from '../request/answer-movie.ts'
import { answerSearch } from '../request/answer-search.ts'
import type { Parts } from '../request/parts.ts'

interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** What the log says beside the path, the status and the time. */
  readonly trace?: object
}

const LONGEST_QUERY = 500

/** The film search over HTTP, not yet listening: `GET /search?q=` and `GET /movie/<id>`. One log line a request. */
export function movieServer(parts: Parts): Server {
  return createServer((request, response) => {
    const startedAt = performance.now()
    const gone = new AbortController()
    response.on('close', () => gone.abort(new Error('the client has gone')))
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
    void answer(parts, { method: request.method, pathname, searchParams }, gone.signal)
      .catch(refused)
      .then((told) => {
        const ms = Math.round((performance.now() - startedAt) * 10) / 10
        const { status, trace } = told
        parts.log[status < 500 ? 'info' : 'warn']('request', { path: pathname, status, ms, ...trace })
        send(response, told)
      })
  })
}

interface Asked {
  readonly method: string | undefined
  readonly pathname: string
  readonly searchParams: URLSearchParams
}

async function answer(
  parts: Parts,
  { method, pathname, searchParams }: Asked,
  signal: AbortSignal,
): Promise<Answer> {
  const id = /^\/movie\/([1-9]\d{0,8})$/.exec(pathname)?.[1]
  if (pathname !== '/search' && id === undefined) return problem(404, `There is no ${pathname}`)
  if (method !== 'GET') return problem(405, `${pathname} takes GET only`, { Allow: 'GET' })
  if (id !== undefined) {
    const { detail, cache } = await answerMovie(parts, Number(id), signal)
    if (detail !== undefined) return { status: 200, body: detail, trace: { movie: cache } }
    return problem(404, `There is no film ${id}`)
  }
  const query = searchParams.get('q')?.trim() ?? ''
  if (query === '') return problem(400, 'Say what to search for: /search?q=')
  if (query.length > LONGEST_QUERY)
    return problem(400, `A query has ${LONGEST_QUERY} characters at most, not ${query.length}`)
  const { answer: body, trace } = await answerSearch(parts, query, signal)
  return { status: 200, body, trace }
}

/** A source that fails is not our fault, but a request cannot do without it: 503 while it is busy, else 502. */
function refused(error: unknown): Answer {
  const message = error instanceof Error ? error.message : String(error)
  if (!(error instanceof UpstreamError)) {
    return { ...problem(500, 'The search failed for a reason that is in its log'), trace: { error: message } }
  }
  const { reason, retryAfterMs } = error
  const seconds = Math.ceil((retryAfterMs ?? 1000) / 1000)
  const isBusy = reason === 'limited' || reason === 'unavailable'
  const told = isBusy
    ? problem(503, `${error.service} is busy`, { 'Retry-After': String(seconds) })
    : problem(reason === 'timed-out' ? 504 : 502, `${error.service} did not answer as it should`)
  return { ...told, trace: { error: message } }
}

function problem(status: number, error: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, body: { error }, headers }
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  const text = JSON.stringify(body)
  response
    .writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', ...headers })
    .end(`${text}\n`)
}
