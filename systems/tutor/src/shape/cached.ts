import * as v from 'valibot'

import { instant } from './instant.ts'

const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1))
const finite = v.pipe(v.number(), v.finite())

/** `cache:ocr:<contentHash>`; `source` says who read it, beyond the document's two fields, and may be absent. */
export const OcrEntry = v.strictObject({
  text: v.string(),
  confidence: share,
  source: v.optional(v.string()),
})
/** `cache:ocr:<contentHash>`. */
export type OcrEntry = v.InferOutput<typeof OcrEntry>

/** `cache:embedding:<contentHash>`: a bare array of numbers. */
export const EmbeddingEntry = v.pipe(v.array(finite), v.nonEmpty())
/** `cache:embedding:<contentHash>`: a bare array of numbers. */
export type EmbeddingEntry = v.InferOutput<typeof EmbeddingEntry>

/** `cache:llm:<contentHash>`; `model` and `sources` go beyond the document's two fields and may be absent. */
export const LlmEntry = v.strictObject({
  answer: v.string(),
  confidence: share,
  model: v.optional(v.string()),
  sources: v.optional(v.array(v.string())),
})
/** `cache:llm:<contentHash>`. */
export type LlmEntry = v.InferOutput<typeof LlmEntry>

/** `web:<urlHash>`. */
export const WebPage = v.strictObject({
  url: v.pipe(v.string(), v.url()),
  title: v.string(),
  content: v.string(),
  crawled_at: instant,
})
/** `web:<urlHash>`. */
export type WebPage = v.InferOutput<typeof WebPage>

/** `youtube:<videoId>`; the duration is in seconds. */
export const YoutubeTranscript = v.strictObject({
  video_id: v.pipe(v.string(), v.regex(/^[\w-]{11}$/, 'must be the 11 letters of a video id')),
  title: v.string(),
  channel: v.string(),
  duration: v.pipe(v.number(), v.minValue(0)),
  transcript: v.array(v.string()),
  fetched_at: instant,
})
/** `youtube:<videoId>`. */
export type YoutubeTranscript = v.InferOutput<typeof YoutubeTranscript>
