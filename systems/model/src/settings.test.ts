import { inspect } from 'node:util'

import { expect, test } from 'vitest'

import { openModel } from './open-model.ts'
import { modelSettings, SettingsError } from './settings.ts'

const endpoint = {
  MODEL_BASE_URL: 'https://models.example/v1',
  MODEL_API_KEY: 'sk-very-secret',
  MODEL_NAME: 'm',
}

test('without an endpoint the models are embedded and say so', () => {
  const { embedder, answerer, chat } = openModel({ MODEL_BASE_URL: '', MODEL_NAME: ' ' })
  expect(embedder.model).toMatch(/^embedded:/)
  expect(answerer.model).toMatch(/^embedded:/)
  expect(chat).toBeUndefined()
})

test('an endpoint with a chat model alone keeps the embedded vectors, and the other way round', () => {
  const chatting = openModel(endpoint)
  expect([chatting.embedder.model, chatting.answerer.model]).toEqual(['embedded:hashed-ngrams-1536', 'm'])
  const embedding = openModel({ MODEL_BASE_URL: endpoint.MODEL_BASE_URL, EMBEDDING_MODEL_NAME: 'e' })
  expect([embedding.embedder.model, embedding.answerer.model]).toEqual(['e', 'embedded:extractive-bm25'])
})

test('fewer dimensions are part of the name of the model', () => {
  const { embedder } = openModel({ ...endpoint, EMBEDDING_MODEL_NAME: 'e', EMBEDDING_DIMENSIONS: '512' })
  expect(embedder).toMatchObject({ model: 'e-512', dimensions: 512 })
})

test('the key shows nowhere', () => {
  const settings = modelSettings(endpoint)
  const shown = [
    JSON.stringify(settings),
    inspect(settings, { depth: 9 }),
    String(settings.endpoint!.apiKey!),
  ]
  expect(shown.join()).not.toContain('very-secret')
  expect(settings.endpoint!.apiKey!.reveal()).toBe('sk-very-secret')
})

test.each([
  [{ MODEL_NAME: 'm' }, 'MODEL_BASE_URL'],
  [{ MODEL_BASE_URL: 'https://models.example' }, 'neither MODEL_NAME nor EMBEDDING_MODEL_NAME'],
  [{ ...endpoint, MODEL_BASE_URL: 'models.example' }, 'MODEL_BASE_URL: must be a URL'],
  [{ ...endpoint, MODEL_BASE_URL: 'ftp://models.example' }, 'MODEL_BASE_URL: must start with http'],
  [{ ...endpoint, EMBEDDING_DIMENSIONS: 'many' }, 'EMBEDDING_DIMENSIONS: must be a whole number'],
  [{ ...endpoint, EMBEDDING_COSINES: '0.6,0.1' }, 'EMBEDDING_COSINES: must name the lower cosine first'],
])('%o is refused by name', (environment, words) => {
  expect(() => modelSettings(environment)).toThrow(SettingsError)
  expect(() => modelSettings(environment)).toThrow(words)
})
