import type { Model } from '@keyspec-systems/model'
import { type Call, type HttpService, httpService, Problem, type Route } from '@keyspec-systems/program/http'
import { isUnavailable } from 'keyspec'
import { rateLimitHeaders } from 'keyspec/recipes'

import type { Opened } from '../keyspace.ts'
import type { Endpoint } from '../schema.ts'
import type { TranscriptProvider } from '../transcript/provider.ts'
import type { Reader } from '../reading/reader.ts'
import { MAX_UPLOAD_BYTES } from '../upload/extract-text.ts'
import type { Ocr } from '../upload/ocr.ts'
import type { DownloadLimits } from '../web/download.ts'
import { jsonOf, OpenBody, PageBody, QuestionBody, SuggestionsBody, VideoBody } from './body.ts'
import { cacheStats } from './cache-stats.ts'
import { Library } from './library.ts'
import { problemOf, quotaExceeded } from './problem.ts'
import { modelNames, Tutoring } from './tutoring.ts'

/** What the service works with. */
export interface TutorServerOptions {
  readonly opened: Opened
  readonly model: Model
  readonly ocr: Ocr
  /** Reads pages and files in processes of their own; `openReader()` gives one. */
  readonly reader: Reader
  readonly transcripts: TranscriptProvider
  /** How web pages are downloaded. */
  readonly pages?: DownloadLimits
  readonly log?: (line: string) => void
}

/** The tutor's HTTP service, not yet listening. */
export function tutorServer(options: TutorServerOptions): HttpService {
  const { opened, model, ocr, transcripts, log = console.error } = options
  const { keys, connection } = opened
  const library = new Library({ ...options, keys })
  const tutoring = new Tutoring({ keys, model, library })

  /** Takes from the user's limit, says so in the headers, and refuses with a 429. */
  async function limit(call: Call, endpoint: Endpoint): Promise<void> {
    const taken = await tutoring.take(call.param('userId'), endpoint)
    if (taken.from === 'disabled') call.setHeader('X-RateLimit-Disabled', 'true')
    for (const [name, value] of Object.entries(rateLimitHeaders(taken, endpoint))) {
      call.setHeader(name, value as string)
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
      const userId = call.param('userId')
      await needsSession(userId)
      await limit(call, endpoint)
      const { resourceId, content } = await read(call)
      const learned = await tutoring.learn(userId, resourceId)
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
    'POST /sessions': async (call) => {
      const { session, isNew } = await tutoring.open(await jsonOf(call, OpenBody))
      return { status: isNew ? 201 : 200, body: session }
    },
    'GET /sessions/:userId': async (call) => ({ body: await tutoring.session(call.param('userId')) }),
    'DELETE /sessions/:userId': async (call) => {
      await tutoring.close(call.param('userId'))
      return { status: 204 }
    },
    'GET /sessions/:userId/history': async (call) => ({
      body: { topics: await tutoring.history(call.param('userId')) },
    }),
    'POST /sessions/:userId/suggestions': async (call) => {
      const { most } = await jsonOf(call, SuggestionsBody)
      return { body: { suggestions: await tutoring.suggestions(call.param('userId'), most) } }
    },
    'POST /sessions/:userId/questions': async (call) => {
      const { question, new_topic: newTopic } = await jsonOf(call, QuestionBody)
      const session = await tutoring.session(call.param('userId'))
      await limit(call, 'tutor_query')
      return { body: await tutoring.ask(session, question, { newTopic, signal: call.signal }) }
    },
    'POST /sessions/:userId/files': reads('file_upload', async (call) => {
      const name = call.query.get('name')?.trim() || 'upload'
      const contentType = call.header('content-type') ?? ''
      return library.file({ name, contentType, body: await call.bytes(MAX_UPLOAD_BYTES) }, call.signal)
    }),
    'POST /sessions/:userId/pages': reads('web_search', async (call) =>
      library.page((await jsonOf(call, PageBody)).url, call.signal),
    ),
    'POST /sessions/:userId/videos': reads('web_search', async (call) =>
      library.video((await jsonOf(call, VideoBody)).video, call.signal),
    ),
  }
  return httpService({
    routes,
    problemOf,
    log,
    ready: () => connection.send(['PING'], { firstKey: 0, keyCount: 0 }),
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
