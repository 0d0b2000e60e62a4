import { type Answer, type HttpService, httpService, Problem } from '@keyspec-systems/program/http'
import { UpstreamError } from '@keyspec-systems/model/http'

import { answerMovie } from '../request/answer-movie.ts'
import { answerSearch } from '../request/answer-search.ts'
import type { Parts } from '../request/parts.ts'

const LONGEST_QUERY = 500

/** The film search over HTTP, not yet listening: `GET /search?q=` and `GET /movie/<id>`. One log line a request. */
export function movieServer(parts: Parts): HttpService {
  return httpService({
    routes: {
      'GET /movie/:id': async ({ param, signal }) => {
        const id = param('id')
        if (!/^[1-9]\d{0,8}$/.test(id)) throw new Problem(404, 'There is no such film')
        const { detail, cache } = await answerMovie(parts, Number(id), signal)
        if (detail === undefined) throw new Problem(404, 'There is no such film')
        return { body: detail, trace: { movie: cache } }
      },
      'GET /search': async ({ query: parameters, signal }) => {
        const query = parameters.get('q')?.trim() ?? ''
        if (query === '') throw new Problem(400, 'Say what to search for: /search?q=')
        if (query.length > LONGEST_QUERY)
          throw new Problem(400, `A query has ${LONGEST_QUERY} characters at most`)
        const { answer: body, trace } = await answerSearch(parts, query, signal)
        return { body, trace }
      },
    },
    problemOf,
    refused: ({ status, message }): Answer => ({ status, body: { error: message } }),
    ...(parts.ready === undefined ? {} : { ready: parts.ready }),
    log: (message) => parts.log.warn('request', { message }),
    answered: ({ route: path, status, ms, trace }) =>
      parts.log[status < 500 ? 'info' : 'warn']('request', { path, status, ms, ...trace }),
  })
}

/** A source that fails is not our fault, but a request cannot do without it: 503 while it is busy, else 502. */
function problemOf(cause: unknown): Problem {
  if (!(cause instanceof UpstreamError))
    return new Problem(500, 'The search failed for a reason that is in its log', { cause })
  const { reason, retryAfterMs, service } = cause
  if (reason === 'limited' || reason === 'unavailable') {
    const headers = { 'Retry-After': String(Math.ceil((retryAfterMs ?? 1000) / 1000)) }
    return new Problem(503, `${service} is busy`, { headers, cause })
  }
  return new Problem(reason === 'timed-out' ? 504 : 502, `${service} did not answer as it should`, { cause })
}
