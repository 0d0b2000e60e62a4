import { expect, test } from 'vitest'
import * as v from 'valibot'

import { BatchManifest } from './batch-manifest.ts'
import { advanced, DocumentState, newState, stages } from './document-state.ts'
import { PerformanceMetric, PipelineMetric } from './metric.ts'

const at = new Date('2025-01-10T12:00:00Z')

test('a document runs through its stages until it is completed', () => {
  let state = newState({ document_uuid: 'd1', name: 'a.pdf', batch_id: null }, at)
  expect(state.status).toBe('pending')
  for (const stage of stages) {
    state = advanced(state, stage, { type: 'started' }, at)
    expect(state.status).toBe('running')
    state = advanced(state, stage, { type: 'completed' }, at)
  }
  expect(state).toMatchObject({ status: 'completed', pages_needing_ocr: [] })
  expect(state.stages.ocr).toMatchObject({ status: 'completed', attempts: 1, finished_at: at.toISOString() })
  expect(v.parse(DocumentState, JSON.parse(JSON.stringify(state)))).toEqual(state)
})

test('a document whose pages need OCR is never called completed', () => {
  let state = newState({ document_uuid: 'd1', name: 'a.pdf', batch_id: 'b1' }, at)
  state = advanced(state, 'ocr', { type: 'completed', pages_needing_ocr: [2] }, at)
  for (const stage of stages.slice(1)) state = advanced(state, stage, { type: 'completed' }, at)
  expect(state).toMatchObject({ status: 'incomplete', pages_needing_ocr: [2] })
})

test('a stage that failed says why until it is started again', () => {
  const fresh = newState({ document_uuid: 'd1', name: 'a.pdf', batch_id: null }, at)
  const failed = advanced(fresh, 'ocr', { type: 'failed', error: 'no such page' }, at)
  expect(failed).toMatchObject({ status: 'failed', stages: { ocr: { error: 'no such page' } } })
  const again = advanced(failed, 'ocr', { type: 'started' }, at)
  expect(again).toMatchObject({ status: 'running', stages: { ocr: { error: null, attempts: 1 } } })
})

test('a manifest names each document once', () => {
  const document = { document_uuid: 'd1', name: 'a.txt', media_type: 'text/plain', bytes: 3 }
  const manifest = { batch_id: 'b1', created_at: at.toISOString(), documents: [document] }
  expect(v.is(BatchManifest, manifest)).toBe(true)
  expect(v.is(BatchManifest, { ...manifest, documents: [document, document] })).toBe(false)
})

test('a metric is refused when it cannot be true', () => {
  const pipeline = {
    metric_type: 'stage',
    timestamp: at.toISOString(),
    document_uuid: 'd1',
    batch_id: null,
    stage: 'ocr',
    duration_ms: 12.5,
    outcome: 'completed',
    produced: 2,
    error: null,
  }
  expect(v.is(PipelineMetric, pipeline)).toBe(true)
  expect(v.is(PipelineMetric, { ...pipeline, duration_ms: -1 })).toBe(false)
  const times = { mean_ms: 1, p50_ms: 1, p99_ms: 2, window_ms: 60_000, memory_bytes: 1 }
  const performance = { component: 'ocr', timestamp: at.toISOString(), operations: 1, failures: 0, ...times }
  expect(v.is(PerformanceMetric, performance)).toBe(true)
  expect(v.is(PerformanceMetric, { ...performance, failures: 2 })).toBe(false)
})
