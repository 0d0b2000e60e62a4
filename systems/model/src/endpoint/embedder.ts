import * as v from 'valibot'

import type { Patience } from '../http/patience.ts'
import { requestJson } from '../http/request-json.ts'
import { UpstreamError } from '@keyspec-systems/program/upstream'
import type { Embedder } from '../model.ts'
import type { EndpointSettings } from '../settings.ts'

/** Embeddings from `POST /embeddings`, in batches of 128, each vector checked for its length and its numbers. */
export function endpointEmbedder(settings: EndpointSettings, model: string, patience: Patience): Embedder {
  const dimensions = settings.dimensions ?? OWN_DIMENSIONS

  async function embedBatch(
    texts: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<Float32Array[]> {
    const { data } = await requestJson(
      {
        service,
        url: `${settings.baseUrl}embeddings`,
        token: settings.apiKey,
        body: {
          model,
          input: texts,
          encoding_format: 'float',
          ...(settings.dimensions === undefined ? {} : { dimensions }),
        },
        schema: EmbeddingAnswer,
        signal,
      },
      patience,
    )
    const vectors = Array.from<Float32Array | undefined>({ length: texts.length })
    for (const { index, embedding } of data) vectors[index] = Float32Array.from(embedding)
    const isWhole = data.length === texts.length && vectors.every((vector) => vector !== undefined)
    if (!isWhole) throw unreadable(`answered ${data.length} embeddings for ${texts.length} texts`)
    const odd = vectors.find((vector) => vector.length !== dimensions)
    if (odd) {
      throw unreadable(
        `answered a vector of ${odd.length} dimensions where ${dimensions} are declared: see EMBEDDING_DIMENSIONS`,
      )
    }
    return vectors
  }

  return {
    model: settings.dimensions === undefined ? model : `${model}-${dimensions}`,
    dimensions,
    cosines: settings.cosines,
    async embed(texts, signal) {
      if (texts.some((text) => text.trim() === '')) throw new TypeError('An empty text has no embedding')
      const vectors: Float32Array[] = []
      for (let start = 0; start < texts.length; start += BATCH) {
        vectors.push(...(await embedBatch(texts.slice(start, start + BATCH), signal)))
      }
      return vectors
    },
  }
}

const BATCH = 128
const OWN_DIMENSIONS = 1536
const service = 'the embedding endpoint'

const EmbeddingAnswer = v.object({
  data: v.array(
    v.object({
      index: v.pipe(v.number(), v.integer(), v.minValue(0)),
      embedding: v.array(v.pipe(v.number(), v.finite())),
    }),
  ),
})

function unreadable(what: string): UpstreamError {
  return new UpstreamError('unreadable', { service }, what)
}
