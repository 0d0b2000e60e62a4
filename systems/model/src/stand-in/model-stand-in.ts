import * as v from 'valibot'

import { embeddedAnswerer } from '../embedded/answerer.ts'
import { vectorise } from '../embedded/embedder.ts'
import { serveStandIn, type Asked, type StandIn, type Told } from './server.ts'

/** What it calls itself wherever it shows. */
export const modelStandInName = 'stand-in for an OpenAI-compatible endpoint'

/** A chat request as the stand-in's `reply` sees it. */
export interface Asking {
  readonly name: string
  readonly system: string
  readonly user: string
}

/** What the stand-in requires and how it replies. */
export interface ModelStandInOptions {
  /** Refuses any other bearer token with 401; takes all unless told. */
  readonly apiKey?: string
  /** The content of a chat answer: a text as it is, anything else as JSON; answers from the passages unless told. */
  readonly reply?: (asking: Asking) => unknown
  readonly port?: number
}

/**
 * Serves the shape of `POST /v1/embeddings` and `POST /v1/chat/completions` with no model behind it: vectors are
 * hashed n-grams, answers are extracts.
 */
export async function startModelStandIn(options: ModelStandInOptions = {}): Promise<StandIn> {
  const { apiKey, reply = extract, port } = options
  const server = await serveStandIn(modelStandInName, answer, port)
  return { ...server, url: `${server.url}/v1` }

  async function answer({ method, url, headers, body }: Asked): Promise<Told> {
    if (apiKey !== undefined && headers.authorization !== `Bearer ${apiKey}`) {
      return refusal(401, `Incorrect API key provided: ${headers.authorization?.slice(7) ?? ''}`)
    }
    if (method !== 'POST') return refusal(405, 'Not allowed')
    if (url.pathname === '/v1/embeddings') return { body: embeddings(JSON.parse(body.toString())) }
    if (url.pathname === '/v1/chat/completions')
      return { body: await completion(JSON.parse(body.toString()), reply) }
    return refusal(404, `Unknown request URL: POST ${url.pathname}`)
  }
}

const EmbeddingRequest = v.object({
  model: v.string(),
  input: v.array(v.string()),
  dimensions: v.optional(v.number(), 1536),
})

const ChatRequest = v.object({
  model: v.string(),
  messages: v.tuple([v.object({ content: v.string() }), v.object({ content: v.string() })]),
  response_format: v.object({ json_schema: v.object({ name: v.string() }) }),
})

function embeddings(request: unknown): unknown {
  const { model, input, dimensions } = v.parse(EmbeddingRequest, request)
  const data = input.map((text, index) => ({
    object: 'embedding',
    index,
    embedding: [...vectorise(text, dimensions)],
  }))
  return { object: 'list', model, data, usage: { prompt_tokens: input.length, total_tokens: input.length } }
}

async function completion(request: unknown, reply: (asking: Asking) => unknown): Promise<unknown> {
  const { model, messages, response_format: format } = v.parse(ChatRequest, request)
  const [system, user] = messages
  const said = await reply({ name: format.json_schema.name, system: system.content, user: user.content })
  const content = typeof said === 'string' ? said : JSON.stringify(said)
  return {
    object: 'chat.completion',
    model,
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
  }
}

const Material = v.object({
  question: v.string(),
  passages: v.array(v.object({ id: v.string(), title: v.string(), text: v.string() })),
})

async function extract({ user }: Asking): Promise<unknown> {
  const { question, passages } = v.parse(v.pipe(v.string(), v.parseJson(), Material), user)
  const { answer, confidence, sources } = await embeddedAnswerer.answer(question, passages)
  return { answer, confidence, sources }
}

function refusal(status: number, message: string): Told {
  return { status, body: { error: { message, type: 'invalid_request_error' } } }
}
