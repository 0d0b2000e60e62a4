import { json, param, string, text } from 'keyspec'
import { cache, cappedList, dedupe, slidingWindow } from 'keyspec/recipes'

import { EmbeddingEntry, LlmEntry, OcrEntry, WebPage, YoutubeTranscript } from './shape/cached.ts'
import { Session } from './shape/session.ts'
import { AbcrDecision, Anchor, TopicHistoryEntry } from './shape/topic.ts'
import { normaliseUrl } from './web/normalise-url.ts'

/** How many requests a user may make in a minute, by endpoint. */
const limits = { tutor_query: 20, web_search: 10, file_upload: 5 } as const

/** An endpoint that is limited. */
export type Endpoint = keyof typeof limits

/** What the environment may change of the schema. */
export interface SchemaOptions {
  /** How long embeddings are kept, in seconds (`CACHE_TTL_SECONDS`); a day unless told. */
  readonly cacheTtlSeconds?: number
  /** `false` switches the limits off (`RATE_LIMIT_ENABLED`). */
  readonly rateLimitEnabled?: boolean
}

/** Every key of the system: the nine patterns of its document, and the locks of its caches. */
export function tutorSchema({ cacheTtlSeconds = 86_400, rateLimitEnabled = true }: SchemaOptions = {}) {
  return {
    session: string('session:<userId>', json(Session), {
      ttl: '24h',
      subject: 'userId',
      about: 'The session of a user: its resources, its topic and how many questions it has had',
    }),
    rate: slidingWindow('rate:<userId>:<endpoint>', {
      per: '1m',
      limits,
      subject: 'userId',
      enabled: rateLimitEnabled,
      // Half of each limit, so that two processes together keep it while Redis is away.
      unreachable: { share: 0.5 },
      about: 'When a user called an endpoint in the last minute',
    }),

    ocr: cache('cache:ocr:<contentHash>', json(OcrEntry), {
      ttl: '7d',
      params: { contentHash: param.digest() },
      about: 'The text of a file, by the SHA-256 of its bytes',
    }),
    embedding: cache('cache:embedding:<contentHash>', json(EmbeddingEntry), {
      ttl: `${cacheTtlSeconds}s`,
      params: { contentHash: param.digest() },
      about: 'The vector of a text, by the SHA-256 of the model and the text',
    }),
    llm: cache('cache:llm:<contentHash>', json(LlmEntry), {
      ttl: '1h',
      params: { contentHash: param.digest() },
      about: 'An answer, by the SHA-256 of the model, the question and the resources',
    }),

    abcr: cache('abcr:<sessionId>:<questionHash>', json(AbcrDecision), {
      ttl: '1h',
      params: { questionHash: param.digest() },
      about:
        'Whether a question belongs to the topic of its session, by the SHA-256 of the topic and the question',
    }),
    anchor: string('anchor:<sessionId>', json(Anchor), {
      ttl: '24h',
      renew: 'read',
      about: 'The topic that a session holds on to',
    }),
    topicHistory: cappedList('topic_history:<sessionId>', json(TopicHistoryEntry), {
      ttl: '24h',
      most: 50,
      about: 'The topics of a session, the newest first',
    }),
    suggestions: dedupe('suggestions:<sessionId>', text, {
      ttl: '24h',
      // A suggestion that is shown twice does less harm than none.
      unreachable: 'all',
      about: 'The SHA-256 of each suggestion that a session was shown',
    }),

    web: cache('web:<urlHash>', json(WebPage), {
      ttl: '7d',
      params: { urlHash: param.digest(64, normaliseUrl) },
      about: 'A web page, by the SHA-256 of its normalised address',
    }),
    youtube: cache('youtube:<videoId>', json(YoutubeTranscript), {
      ttl: '30d',
      about: 'The transcript of a video',
    }),
  }
}
