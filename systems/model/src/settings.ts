import { withoutEndSlashes } from '@keyspec-systems/program/end-slashes'
import * as v from 'valibot'

import { Secret } from './http/secret.ts'

/** Variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** What the environment says about the model. */
export interface ModelSettings {
  /** Undefined means that everything is embedded and nothing goes over the network. */
  readonly endpoint: EndpointSettings | undefined
}

/** An OpenAI-compatible endpoint. */
export interface EndpointSettings {
  /** Ends in `/`. */
  readonly baseUrl: string
  readonly apiKey: Secret | undefined
  readonly chatModel: string | undefined
  readonly embeddingModel: string | undefined
  readonly dimensions: number | undefined
  readonly cosines: { readonly unrelated: number; readonly related: number }
  readonly timeoutMs: number
}

/** Settings that contradict themselves; its message names each variable. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  readonly code = 'E_SETTINGS'
}

/**
 * Reads `MODEL_BASE_URL`, `MODEL_API_KEY`, `MODEL_NAME`, `EMBEDDING_MODEL_NAME`, `EMBEDDING_DIMENSIONS` (where the
 * model can be asked for fewer), `EMBEDDING_COSINES` (`unrelated,related`; `0.1,0.6` unless told) and
 * `MODEL_TIMEOUT_MS` (30,000 unless told). An empty variable counts as absent.
 */
export function modelSettings(environment: Environment): ModelSettings {
  const parsed = v.safeParse(variables, environment)
  if (!parsed.success) {
    const faults = parsed.issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`)
    throw new SettingsError(`The model is not configured as it should be. ${faults.join('. ')}`)
  }
  const { output } = parsed
  const chatModel = output.MODEL_NAME
  const embeddingModel = output.EMBEDDING_MODEL_NAME
  if (output.MODEL_BASE_URL === undefined) {
    if (chatModel === undefined && embeddingModel === undefined) return { endpoint: undefined }
    throw new SettingsError('A model is named but MODEL_BASE_URL, where to reach it, is not set')
  }
  if (chatModel === undefined && embeddingModel === undefined) {
    throw new SettingsError('MODEL_BASE_URL is set, but neither MODEL_NAME nor EMBEDDING_MODEL_NAME')
  }
  return {
    endpoint: {
      baseUrl: `${withoutEndSlashes(output.MODEL_BASE_URL)}/`,
      apiKey: output.MODEL_API_KEY === undefined ? undefined : new Secret(output.MODEL_API_KEY),
      chatModel,
      embeddingModel,
      dimensions: output.EMBEDDING_DIMENSIONS,
      cosines: output.EMBEDDING_COSINES ?? { unrelated: 0.1, related: 0.6 },
      timeoutMs: output.MODEL_TIMEOUT_MS ?? 30_000,
    },
  }
}

const absentWhenEmpty = v.pipe(
  v.optional(v.string()),
  v.transform((text) => (text?.trim() ? text.trim() : undefined)),
)

const whole = v.pipe(v.string(), v.regex(/^[1-9]\d*$/, 'must be a whole number above 0'), v.transform(Number))

const cosines = v.pipe(
  v.string(),
  v.regex(/^-?[\d.]+,-?[\d.]+$/, 'must be two cosines such as 0.1,0.6'),
  v.transform((text) => text.split(',').map(Number)),
  v.tuple([v.number(), v.number()]),
  v.check(([low, high]) => low < high && high <= 1, 'must name the lower cosine first, and none above 1'),
  v.transform(([unrelated, related]) => ({ unrelated, related })),
)

const variables = v.object({
  MODEL_BASE_URL: v.pipe(
    absentWhenEmpty,
    v.optional(
      v.pipe(v.string(), v.url('must be a URL'), v.startsWith('http', 'must start with http:// or https://')),
    ),
  ),
  MODEL_API_KEY: absentWhenEmpty,
  MODEL_NAME: absentWhenEmpty,
  EMBEDDING_MODEL_NAME: absentWhenEmpty,
  EMBEDDING_DIMENSIONS: v.pipe(absentWhenEmpty, v.optional(whole)),
  EMBEDDING_COSINES: v.pipe(absentWhenEmpty, v.optional(cosines)),
  MODEL_TIMEOUT_MS: v.pipe(absentWhenEmpty, v.optional(whole)),
})
