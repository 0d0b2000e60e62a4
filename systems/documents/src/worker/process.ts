import { DelayedError, type Job, UnrecoverableError } from 'bullmq'
import { documentIs, jobEnded } from '../batch/batch.ts'
import type { Documents } from '../keyspace.ts'
import { DocumentError } from '../pipeline/document-error.ts'
import {
  advanced,
  type DocumentState,
  newState,
  stages,
  type Stage,
  type StageEvent,
} from '../pipeline/document-state.ts'
import type { ExtractOptions } from '../pipeline/extract.ts'
import type { QueueName } from '../schema.ts'
import { type Broker, isLastAttempt } from './broker.ts'
import { type Performance, recordStage } from './metrics.ts'
import { type DocumentJob, runStage } from './stage.ts'

/** What a worker needs to do its jobs. */
export interface Workshop {
  readonly keys: Documents
  readonly broker: Broker
  /** How documents are read. */
  readonly reading: ExtractOptions
  readonly performance: Performance
}

/**
 * Does one job. Everything it leaves behind is written so that doing it twice is doing it once: a worker may die at any
 * point, and another begins its job anew.
 */
export async function processJob(
  shop: Workshop,
  queue: QueueName,
  job: Job<DocumentJob>,
  token?: string,
): Promise<string> {
  await withinLimit(shop.keys, queue, job, token)
  return job.name === 'intake' ? intake(shop, job) : stageOf(shop, queue, job, job.name as Stage)
}

/**
 * Counts a job that BullMQ gave up, whatever the reason: one whose workers died again and again is never given to
 * `processJob` any more. What was counted already is not counted again.
 */
export async function gaveUp(keys: Documents, job: Job<DocumentJob>): Promise<void> {
  const { name, data, finishedOn, failedReason } = job
  if (finishedOn === undefined) return
  const { batch_id, document_uuid: documentUuid } = data
  const stage = stages.find((each) => each === name)
  if (stage !== undefined && (await jobEnded(keys, batch_id, { documentUuid, stage }, 'failed'))) {
    await advance(keys, data, stage, { type: 'failed', error: failedReason })
  }
  await documentIs(keys, batch_id, documentUuid, 'failed')
}

/** A job above the limit waits in the queue until the limit allows it, and costs no attempt. */
async function withinLimit(
  keys: Documents,
  queue: QueueName,
  job: Job<DocumentJob>,
  token?: string,
): Promise<void> {
  const taken = await keys.rateLimit({ resource: queue, identifier: job.data.batch_id }).take()
  if (taken.allowed) return
  await job.moveToDelayed(Date.now() + taken.retryAfterMs + Math.random() * 50, token)
  throw new DelayedError()
}

async function intake({ keys, broker }: Workshop, { data }: Job<DocumentJob>): Promise<string> {
  const { document_uuid, name, batch_id } = data
  const state = keys.state({ documentUuid: document_uuid })
  await state.update((now) =>
    now?.batch_id === batch_id ? undefined : newState({ document_uuid, name, batch_id }, new Date()),
  )
  await documentIs(keys, batch_id, document_uuid, 'running')
  await broker.next('intake', data)
  return state.name
}

async function stageOf(
  shop: Workshop,
  queue: QueueName,
  job: Job<DocumentJob>,
  stage: Stage,
): Promise<string> {
  const { keys, broker, reading } = shop
  const { data } = job
  const startedAt = performance.now()
  await advance(keys, data, stage, { type: 'started' })
  try {
    const done = await runStage(keys, stage, data, reading)
    const event: StageEvent =
      done.pagesNeedingOcr === undefined
        ? { type: 'completed' }
        : { type: 'completed', pages_needing_ocr: done.pagesNeedingOcr }
    const state = await advance(keys, data, stage, event)
    await ended(shop, queue, job, stage, startedAt, {
      key: done.key,
      hit: done.hit,
      produced: done.produced,
      error: null,
    })
    await jobEnded(keys, data.batch_id, { documentUuid: data.document_uuid, stage }, 'completed', done.made)
    const next = await broker.next(stage, data)
    if (next === undefined) {
      const status = state.status === 'incomplete' ? 'incomplete' : 'completed'
      await documentIs(keys, data.batch_id, data.document_uuid, status)
    }
    return done.key
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const isHopeless = error instanceof DocumentError
    if (isHopeless || isLastAttempt(job)) {
      await advance(keys, data, stage, { type: 'failed', error: why })
      await ended(shop, queue, job, stage, startedAt, { key: null, hit: false, produced: 0, error: why })
      await jobEnded(keys, data.batch_id, { documentUuid: data.document_uuid, stage }, 'failed')
      await documentIs(keys, data.batch_id, data.document_uuid, 'failed')
    }
    throw isHopeless ? new UnrecoverableError(why) : error
  }
}

async function advance(
  keys: Documents,
  data: DocumentJob,
  stage: Stage,
  event: StageEvent,
): Promise<DocumentState> {
  const now = new Date()
  const { document_uuid, name, batch_id } = data
  const state = await keys
    .state({ documentUuid: document_uuid })
    .update((before) =>
      advanced(before ?? newState({ document_uuid, name, batch_id }, now), stage, event, now),
    )
  return state!
}

interface Ending {
  readonly key: string | null
  readonly hit: boolean
  readonly produced: number
  readonly error: string | null
}

async function ended(
  { keys, performance: measured }: Workshop,
  queue: QueueName,
  { id, data }: Job<DocumentJob>,
  stage: Stage,
  startedAt: number,
  { key, hit, produced, error }: Ending,
): Promise<void> {
  const { document_uuid, batch_id } = data
  const duration_ms = performance.now() - startedAt
  const outcome = error === null ? 'completed' : 'failed'
  measured.add(duration_ms, error !== null)
  await keys.result({ queue, jobId: id! }).set({
    status: outcome,
    document_uuid,
    stage,
    key,
    hit,
    duration_ms,
    error,
    date_done: new Date().toISOString(),
  })
  await recordStage(keys, {
    metric_type: stage,
    document_uuid,
    batch_id,
    stage,
    duration_ms,
    outcome,
    produced,
    error,
  })
}
