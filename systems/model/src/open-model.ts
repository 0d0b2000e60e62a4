import { embeddedAnswerer } from './embedded/answerer.ts'
import { embeddedEmbedder } from './embedded/embedder.ts'
import { endpointAnswerer } from './endpoint/answerer.ts'
import { endpointChat } from './endpoint/chat.ts'
import { endpointEmbedder } from './endpoint/embedder.ts'
import type { Patience } from './http/patience.ts'
import type { Model } from './model.ts'
import { modelSettings, type Environment } from './settings.ts'

/**
 * The models that the environment names: an OpenAI-compatible endpoint's where one is configured, otherwise embedded
 * ones that need no network and whose names begin with `embedded:`.
 *
 * @example
 * const model = openModel(process.env)
 * const [vector] = await model.embedder.embed(['a film about the sea'])
 */
export function openModel(environment: Environment, patience: Patience = {}): Model {
  const { endpoint } = modelSettings(environment)
  if (endpoint === undefined) {
    return { embedder: embeddedEmbedder, answerer: embeddedAnswerer, chat: undefined }
  }
  const tries = { timeoutMs: endpoint.timeoutMs, ...patience }
  const { chatModel, embeddingModel } = endpoint
  const chat = chatModel === undefined ? undefined : endpointChat(endpoint, chatModel, tries)
  return {
    chat,
    answerer: chat === undefined ? embeddedAnswerer : endpointAnswerer(chat),
    embedder:
      embeddingModel === undefined ? embeddedEmbedder : endpointEmbedder(endpoint, embeddingModel, tries),
  }
}
