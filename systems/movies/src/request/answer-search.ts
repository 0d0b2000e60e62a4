import { UpstreamError } from '@keyspec-systems/model/http'

import { normalised } from '../normalised.ts'
import { textsToEmbed } from '../search/query-text.ts'
import { search, type SearchResult } from '../search/search.ts'
import type { VectorChannel } from '../search/vector-index.ts'
import type { QueryUnderstanding } from '../understanding/query-understanding.ts'
import { foundOrNone, orWithout } from './cached.ts'
import type { Parts } from './parts.ts'

/** What `GET /search?q=` answers. */
export interface SearchAnswer extends SearchResult {
  readonly query: string
  readonly models: { readonly understanding: string; readonly embedding: string }
  /** What the ranking went without, since its source failed. */
  readonly degraded: readonly 'vectors'[]
}

/** What a request says in the log. */
export interface SearchTrace {
  readonly qu: 'hit' | 'miss'
  readonly embeddingHits: number
  readonly embeddingMisses: number
  readonly trending: 'read' | 'missing' | 'not asked'
}

/**
 * Understands a query, embeds what it asks for, and ranks the films. What Redis does not have is made anew; only an
 * understanding that its model fails to give makes a search fail.
 */
export async function answerSearch(
  parts: Parts,
  asked: string,
  signal?: AbortSignal,
): Promise<{ readonly answer: SearchAnswer; readonly trace: SearchTrace }> {
  const query = normalised(asked)
  const { understanding, qu } = await understand(parts, query, signal)
  const prefersTrending =
    understanding.metadata_preferences.popular_trending_preference.prefers_trending_movies
  const [{ embeddings, ...counts }, trending] = await Promise.all([
    embed(parts, textsToEmbed(query, understanding), signal),
    prefersTrending ? readTrending(parts) : undefined,
  ])
  const found = search(parts.catalogue, parts.index, {
    understanding,
    embeddings,
    trending: trending ?? new Set(),
  })
  return {
    answer: {
      query,
      models: { understanding: parts.understander.model, embedding: parts.embedder.model },
      degraded: embeddings.size === 0 ? ['vectors'] : [],
      ...found,
    },
    trace: {
      qu,
      ...counts,
      trending: trending === undefined ? 'not asked' : trending.size === 0 ? 'missing' : 'read',
    },
  }
}

/** The whole graph's answer is one key, written once all of it is there. */
function understand(
  { keys, understander, version, log }: Parts,
  query: string,
  signal: AbortSignal | undefined,
): Promise<{ understanding: QueryUnderstanding; qu: 'hit' | 'miss' }> {
  const cached = async () => {
    const key = keys.queryUnderstanding({ version, queryHash: query })
    const found = await foundOrNone(key.get())
    if (found !== undefined) return { understanding: found, qu: 'hit' as const }
    const load = (until: AbortSignal) => understander.understand(query, until)
    return { understanding: await key.getOrLoad(load, optional(signal)), qu: 'miss' as const }
  }
  return orWithout(log, cached, async () => ({
    understanding: await understander.understand(query, signal),
    qu: 'miss' as const,
  }))
}

interface Embedded {
  /** Empty where the embedder failed. */
  readonly embeddings: ReadonlyMap<VectorChannel, Float32Array>
  readonly embeddingHits: number
  readonly embeddingMisses: number
}

/** All texts are looked up in one round trip, and those that are missing embedded and written together. */
async function embed(
  parts: Parts,
  textOf: ReadonlyMap<VectorChannel, string>,
  signal: AbortSignal | undefined,
): Promise<Embedded> {
  const { embedder, log } = parts
  const texts = [...new Set(textOf.values())]
  let misses = texts.length
  try {
    const vectors = await orWithout(
      log,
      async () => {
        const found = await lookUp(parts, texts)
        const missing = texts.filter((_, at) => found[at] === undefined)
        misses = missing.length
        const loaded = await load(parts, missing, signal)
        return texts.map((_, at) => found[at] ?? loaded.shift()!)
      },
      () => embedder.embed(texts, signal),
    )
    const embeddings = new Map(
      Array.from(textOf, ([channel, text]) => [channel, vectors[texts.indexOf(text)]!]),
    )
    return { embeddings, embeddingHits: texts.length - misses, embeddingMisses: misses }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    log.warn('embedding', { message: error.message })
    return { embeddings: new Map(), embeddingHits: texts.length - misses, embeddingMisses: misses }
  }
}

function lookUp({ keys, embedder }: Parts, texts: readonly string[]) {
  const found = keys.embedding.many(texts.map((textHash) => ({ model: embedder.model, textHash }))).get()
  return foundOrNone(found).then((vectors) => vectors ?? [])
}

function load({ keys, embedder }: Parts, texts: readonly string[], signal: AbortSignal | undefined) {
  return keys.embedding.many(texts.map((textHash) => ({ model: embedder.model, textHash }))).getOrLoad(
    (missing, until) =>
      embedder.embed(
        // Each text as it was asked for above: a hash could not be embedded.
        missing.flatMap(({ textHash }) => (typeof textHash === 'string' ? textHash : [])),
        until,
      ),
    optional(signal),
  )
}

// Membership is decided in this process, never by a question for each film.
function readTrending({ keys, log }: Parts): Promise<ReadonlySet<number>> {
  return orWithout(
    log,
    () => keys.trending().members(),
    () => new Set<number>(),
  )
}

function optional(signal: AbortSignal | undefined): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal }
}
