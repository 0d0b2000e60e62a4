import * as v from 'valibot'
import { expect, test } from 'vitest'

import { EmbeddingEntry, LlmEntry, OcrEntry, WebPage, YoutubeTranscript } from './cached.ts'
import { instantOf } from './instant.ts'
import { Session } from './session.ts'
import { AbcrDecision, Anchor, TopicHistoryEntry } from './topic.ts'

const session = {
  session_id: 'uuid',
  user_id: 'uuid',
  classroom_id: 'uuid',
  created_at: '2024-01-01T00:00:00Z',
  last_active_at: '2024-01-01T12:00:00Z',
  turn_count: 5,
  resource_list: ['res_1', 'res_2'],
  topic_anchor: {
    id: 'anchor_xxx',
    canonical_title: 'French Revolution',
    created_at: '2024-01-01T10:00:00Z',
  },
  config: { ttl_hours: 24, max_resources: 25, relatedness_threshold: 0.65 },
}
const decision = {
  decision: 'related',
  attention_score: 0.78,
  similarity_score: 0.65,
  combined_score: 0.72,
  computed_at: '2024-01-01T12:00:00Z',
}
const anchor = {
  id: 'anchor_abc123',
  canonical_title: 'French Revolution',
  canonical_seed: 'French Revolution',
  topic_embedding: [0.1, 0.2],
  subject_scope: ['causes', 'events', 'consequences'],
  locked_entities: ['1789', 'Louis XVI', 'Bastille'],
  source: 'user_query',
  created_at: '2024-01-01T10:00:00Z',
}
const video = {
  video_id: 'dQw4w9WgXcQ',
  title: 'Video Title',
  channel: 'Channel Name',
  duration: 212,
  transcript: ['...'],
  fetched_at: '2024-01-01T00:00:00Z',
}
const page = {
  url: 'https://example.com/article',
  title: 'T',
  content: 'C',
  crawled_at: '2024-01-01T12:00:00Z',
}

test.each([
  ['session', Session, session],
  ['session before its first question', Session, { ...session, topic_anchor: null }],
  ['ocr entry', OcrEntry, { text: '...', confidence: 0.95 }],
  ['embedding entry', EmbeddingEntry, [0.1, 0.2]],
  ['llm entry', LlmEntry, { answer: '...', confidence: 0.9 }],
  ['llm entry that names its model', LlmEntry, { answer: '', confidence: 0, model: 'm', sources: [] }],
  ['decision', AbcrDecision, decision],
  ['anchor', Anchor, anchor],
  ['history entry', TopicHistoryEntry, { canonical_title: 'French Revolution', more: 1 }],
  ['page', WebPage, page],
  ['transcript', YoutubeTranscript, video],
] as const)('the %s of the document passes unchanged', (_name, schema: v.GenericSchema, value) => {
  expect(v.parse(schema, value)).toEqual(value)
})

test.each([
  ['session', Session, { ...session, turn_count: 1.5 }],
  ['session', Session, { ...session, created_at: 'yesterday' }],
  ['session', Session, { ...session, unknown: 1 }],
  ['ocr entry', OcrEntry, { text: '', confidence: 95 }],
  ['embedding entry', EmbeddingEntry, { embedding: [0.1] }],
  ['embedding entry', EmbeddingEntry, [0.1, null]],
  ['decision', AbcrDecision, { ...decision, decision: 'maybe' }],
  ['decision', AbcrDecision, { ...decision, computed_at: '2024-13-01T12:00:00Z' }],
  ['anchor', Anchor, { ...anchor, id: 'abc' }],
  ['page', WebPage, { ...page, url: 'example' }],
  ['transcript', YoutubeTranscript, { ...video, video_id: '../../x' }],
] as const)('a wrong %s is refused', (_name, schema: v.GenericSchema, value) => {
  expect(v.is(schema, value)).toBe(false)
})

test('moments are written in whole seconds', () => {
  expect(instantOf(new Date(1_704_110_400_999))).toBe('2024-01-01T12:00:00Z')
})
