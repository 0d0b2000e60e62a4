import * as v from 'valibot'

import { stages } from './document-state.ts'

const ms = v.pipe(v.number(), v.minValue(0))
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const moment = v.pipe(v.string(), v.isoTimestamp())

/** One stage of one document, measured: the value of `metrics:pipeline:<metricType>:<timestamp>`. */
export const PipelineMetric = v.strictObject({
  metric_type: v.pipe(v.string(), v.nonEmpty()),
  timestamp: moment,
  document_uuid: v.string(),
  batch_id: v.nullable(v.string()),
  stage: v.picklist(stages),
  duration_ms: ms,
  outcome: v.picklist(['completed', 'failed']),
  /** Pages, chunks, mentions, entities: what the stage made. */
  produced: count,
  error: v.nullable(v.string()),
})

/** One stage of one document, measured. */
export type PipelineMetric = v.InferOutput<typeof PipelineMetric>

/** A component over a time, measured: the value of `metrics:performance:<component>:<timestamp>`. */
export const PerformanceMetric = v.pipe(
  v.strictObject({
    component: v.pipe(v.string(), v.nonEmpty()),
    timestamp: moment,
    window_ms: ms,
    operations: count,
    failures: count,
    mean_ms: ms,
    p50_ms: ms,
    p99_ms: ms,
    memory_bytes: count,
  }),
  v.check(({ operations, failures }) => failures <= operations, 'more failures than operations'),
)

/** A component over a time, measured. */
export type PerformanceMetric = v.InferOutput<typeof PerformanceMetric>
