import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

import type { Model } from '@keyspec-systems/model'
import { isUnavailable } from 'keyspec'
import { rateLimitHeaders } from 'keyspec/recipes'

import type { Opened } from '../keyspace.ts'
import type { Endpoint } from '../schema.ts'
import type { TranscriptProvider } from '../transcript/provider.ts'
import { MAX_UPLOAD_BYTES } from '../upload/extract-text.ts'
import type { Ocr } from '../upload/ocr.ts'
import type { DownloadLimits } from '../web/download.ts'
import { bodyOf, jsonOf, OpenBody, PageBody, QuestionBody, SuggestionsBody, VideoBody } from './body.ts'
import { cacheStats } from './cache-stats.ts'
import { Library } from './library.ts'
import { Problem, problemOf, quotaExceeded } from './problem.ts'
import { modelNames, Tutoring } from './tutoring.ts'

/** What the service works with. */
export interface TutorServerOptions {
  readonly opened: Opened
  readonly model: Model
  readonly ocr: Ocr
  readonly transcripts: TranscriptProvider
  /** How web pages are downloaded. */
  readonly pages?: DownloadLimits
  readonly log?: (line: string) => void
}

/** One request: what its route needs. */
interface Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly userId: string
  readonly query: URLSearchParams
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal
}

interface Answer {
  readonly status?: number
  readonly body?: unknown
}

type Route = (call: Call) => Promise<Answer>

/** The tutor's HTTP service, not yet listening. */
export function tutorServer(options: TutorServerOptions): Server {
  const { opened, model, ocr, transcripts, log = console.error } = options
  const { keys, connection } = opened
  const library = new Library({ keys, ocr, transcripts, ...(options.pages && { pages: options.pages }) })
  const tutoring = new Tutoring({ keys, model, library })

  /** Takes from the user's limit, says so in the headers, and refuses with a 429. */
  async function limit({ response, userId }: Call, endpoint: Endpoint): Promise<void> {
    const taken = await tutoring.take(userId, endpoint)
    if (taken.from === 'disabled') response.setHeader('X-RateLimit-Disabled', 'true')
    for (const [name, value] of Object.entries(rateLimitHeaders(taken, endpoint))) {
      response.setHeader(name, value as string)
    }
    if (!taken.allowed) throw quotaExceeded(endpoint, taken.limit, taken.retryAfterMs)
  }

  /** A resource can be read without Redis too, so that only a session that surely is not there stops it. */
  const needsSession = (userId: string) =>
    tutoring.session(userId).catch((error: unknown) => {
      if (error instanceof Problem || !isUnavailable(error)) throw error
    })

  const reads =
    (
      endpoint: Endpoint,
      read: (call: Call) => Promise<{ readonly resourceId: string; readonly content: unknown }>,
    ): Route =>
    async (call) => {
      await needsSession(call.userId)
      await limit(call, endpoint)
      const { resourceId, content } = await read(call)
      const learned = await tutoring.learn(call.userId, resourceId)
      return { body: { resource_id: resourceId, learned, content } }
    }

  const routes: Readonly<Record<string, Route>> = {
    'GET /health': async () => ({
      body: {
        redis: connection.health(),
        rate_limit: await limitState(opened),
        models: { ...modelNames(model), ocr: ocr.name, transcripts: transcripts.name },
        caches: cacheStats(keys),
      },
    }),
    'POST /sessions': async ({ request }) => {
      const { session, isNew } = await tutoring.open(await jsonOf(request, OpenBody))
      return { status: isNew ? 201 : 200, body: session }
    },
    'GET /sessions/*': async ({ userId }) => ({ body: await tutoring.session(userId) }),
    'DELETE /sessions/*': async ({ userId }) => {
      await tutoring.close(userId)
      return { status: 204 }
    },
    'GET /sessions/*/history': async ({ userId }) => ({ body: { topics: await tutoring.history(userId) } }),
    'POST /sessions/*/suggestions': async ({ request, userId }) => {
      const { most } = await jsonOf(request, SuggestionsBody)
      return { body: { suggestions: await tutoring.suggestions(userId, most) } }
    },
    'POST /sessions/*/questions': async (call) => {
      const { question, new_topic: newTopic } = await jsonOf(call.request, QuestionBody)
      const session = await tutoring.session(call.userId)
      await limit(call, 'tutor_query')
      return { body: await tutoring.ask(session, question, { newTopic, signal: call.signal }) }
    },
    'POST /sessions/*/files': reads('file_upload', async ({ request, query, signal }) => {
      const name = query.get('name')?.trim() || 'upload'
      const contentType = request.headers['content-type'] ?? ''
      return library.file({ name, contentType, body: await bodyOf(request, MAX_UPLOAD_BYTES) }, signal)
    }),
    'POST /sessions/*/pages': reads('web_search', async ({ request, signal }) =>
      library.page((await jsonOf(request, PageBody)).url, signal),
    ),
    'POST /sessions/*/videos': reads('web_search', async ({ request, signal }) =>
      library.video((await jsonOf(request, VideoBody)).video, signal),
    ),
  }
  const paths = new Set(Object.keys(routes).map((route) => route.split(' ')[1]))

  return createServer((request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://127.0.0.1')
    const gone = new AbortController()
    response.once('close', () => {
      if (!response.writableFinished) gone.abort(new Error('the client has gone'))
    })
    const answer = async (): Promise<Answer> => {
      const [, userId = '', below = ''] = /^\/sessions\/([^/]+)(.*)$/.exec(pathname) ?? []
      const path = userId === '' ? pathname : `/sessions/*${below}`
      const route = routes[`${request.method} ${path}`]
      if (route !== undefined) {
        return route({ request, response, userId: decoded(userId), query, signal: gone.signal })
      }
      throw paths.has(path)
        ? new Problem(405, `${pathname} does not take ${request.method}`)
        : new Problem(404, `There is no ${pathname}`)
    }
    answer().then(
      ({ status = 200, body }) => send(response, status, 'application/json', body),
      (error: unknown) => {
        // Nobody is there to be told, and what broke off is no failure of ours.
        if (gone.signal.aborted) return
        const problem = problemOf(error)
        if (problem.cause !== undefined) log(`${request.method} ${pathname}: ${wordsOf(problem)}`)
        // A body that nobody reads to its end would keep the connection busy.
        if (!request.complete) response.setHeader('Connection', 'close')
        for (const [name, value] of Object.entries(problem.headers)) response.setHeader(name, value)
        send(response, problem.status, 'application/problem+json', problem.document)
      },
    )
  })
}

/** Whether requests are limited, for everybody to see. */
async function limitState({ keys }: Opened): Promise<'enabled' | 'disabled' | 'unreachable'> {
  const standing = keys.rate({ userId: 'health', endpoint: 'tutor_query' }).peek()
  return standing.then(
    ({ from }) => (from === 'disabled' ? 'disabled' : 'enabled'),
    () => 'unreachable',
  )
}

function send(response: ServerResponse, status: number, type: string, body: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  if (body === undefined) {
    response.writeHead(status).end()
    return
  }
  response.writeHead(status, { 'Content-Type': `${type}; charset=utf-8`, 'Cache-Control': 'no-store' })
  response.end(JSON.stringify(body))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Problem(400, `"${text}" is no user id`)
  }
}

function wordsOf({ message, cause }: Problem): string {
  return `${message}: ${cause instanceof Error ? cause.message : String(cause)}`
}
