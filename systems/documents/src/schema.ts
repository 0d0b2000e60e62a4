import { type Codec, type Duration, hash, integer, json, string, text } from 'keyspec'
import { bullmq, cache, celery, celeryResults, fixedWindow } from 'keyspec/recipes'
import * as v from 'valibot'
import { BatchManifest } from './pipeline/batch-manifest.ts'
import { CanonicalEntities } from './pipeline/canonical-entities.ts'
import { Chunks } from './pipeline/chunks.ts'
import { DocumentState } from './pipeline/document-state.ts'
import { ExtractedMentions } from './pipeline/mentions.ts'
import { PerformanceMetric, PipelineMetric } from './pipeline/metric.ts'
import { OcrResult } from './pipeline/ocr-result.ts'
import { ResolvedMentions } from './pipeline/resolved-mentions.ts'

/** The queues, each a queue of BullMQ under the prefix `broker`. */
export const queues = ['default', 'ocr', 'text', 'entity'] as const

/** One of the queues. */
export type QueueName = (typeof queues)[number]

/** BullMQ's prefix. */
export const brokerPrefix = 'broker'

/** What a job of the queue came to: the value of `results:job:<queue>:<jobId>`. */
export const JobResult = v.strictObject({
  status: v.picklist(['completed', 'failed']),
  document_uuid: v.string(),
  stage: v.string(),
  /** The key that holds what the stage made. */
  key: v.nullable(v.string()),
  hit: v.boolean(),
  duration_ms: v.pipe(v.number(), v.minValue(0)),
  error: v.nullable(v.string()),
  date_done: v.pipe(v.string(), v.isoTimestamp()),
})

/** What a job of the queue came to. */
export type JobResult = v.InferOutput<typeof JobResult>

/** How many documents of a batch are where. */
export const progressCounts = ['pending', 'running', 'completed', 'incomplete', 'failed'] as const

/** What is counted over all stages of a batch. */
export const statsCounts = [
  'jobs_completed',
  'jobs_failed',
  'cache_hits',
  'pages',
  'chunks',
  'mentions',
  'entities',
  'resolved',
] as const

// Beside counts, so that the type of all fields holds both.
const mark = text as Codec<any> as Codec<string | number>

const olderOcr = string('cache:ocr:<rest*>', text, {
  ttl: '7d',
  about: 'The text of a document, as older programs kept it',
  renamedFrom: { pattern: 'ocr:<rest*>', phase: 2 },
})

/** How the keyspace may differ from the one of a system that runs by itself. */
export interface DocumentsOptions {
  /** How many jobs of one resource may begin in `per` for one identifier; a test makes it small. */
  readonly limit?: number
  readonly per?: Duration
  /**
   * Whether `cache:ocr:…` is ours, and with it the older `ocr:…`. Not on a database where another system has keys there:
   * then older keys are left where they are.
   */
  readonly ownsOcr?: boolean
}

/** Every key of the system. */
export function documentsSchema({ limit = 600, per = '1m', ownsOcr = true }: DocumentsOptions = {}) {
  return {
    state: string('cache:doc:state:<documentUuid>', json(DocumentState), {
      ttl: '7d',
      about: 'How far a document is',
      renamedFrom: { pattern: 'doc:state:<documentUuid>', phase: 2 },
    }),
    // The text is what costs most to make again: OCR.
    ocrResult: cache('cache:doc:ocr_result:<documentUuid>', json(OcrResult), {
      ttl: '7d',
      about: 'The text of a document, page after page',
      renamedFrom: { pattern: 'doc:ocr_result:<documentUuid>', phase: 2 },
      lock: 'cache:lock:doc:ocr_result:<documentUuid>',
    }),
    chunks: cache('cache:doc:chunks:<documentUuid>', json(Chunks), {
      ttl: '2d',
      about: 'A document’s text in pieces',
      renamedFrom: { pattern: 'doc:chunks:<documentUuid>', phase: 2 },
      lock: 'cache:lock:doc:chunks:<documentUuid>',
    }),
    allExtractedMentions: cache('cache:doc:all_extracted_mentions:<documentUuid>', json(ExtractedMentions), {
      ttl: '2d',
      about: 'All that a document names',
      renamedFrom: { pattern: 'doc:all_extracted_mentions:<documentUuid>', phase: 2 },
      lock: 'cache:lock:doc:all_extracted_mentions:<documentUuid>',
    }),
    canonicalEntities: cache('cache:doc:canonical_entities:<documentUuid>', json(CanonicalEntities), {
      ttl: '3d',
      about: 'Who or what a document’s names mean',
      renamedFrom: { pattern: 'doc:canonical_entities:<documentUuid>', phase: 2 },
      lock: 'cache:lock:doc:canonical_entities:<documentUuid>',
    }),
    resolvedMentions: cache('cache:doc:resolved_mentions:<documentUuid>', json(ResolvedMentions), {
      ttl: '3d',
      about: 'What each place in a document means',
      renamedFrom: { pattern: 'doc:resolved_mentions:<documentUuid>', phase: 2 },
      lock: 'cache:lock:doc:resolved_mentions:<documentUuid>',
    }),

    // What older programs kept, whatever they wrote there: known so that it moves, ends, and is erased with the rest.
    olderChunk: string('cache:chunk:<rest*>', text, {
      ttl: '2d',
      about: 'A piece of a document, as older programs kept it',
      renamedFrom: { pattern: 'chunk:<rest*>', phase: 2 },
    }),
    olderEntity: string('cache:entity:<rest*>', text, {
      ttl: '3d',
      about: 'What a name means, as older programs kept it',
      renamedFrom: { pattern: 'entity:<rest*>', phase: 2 },
    }),
    ...(ownsOcr ? { olderOcr } : {}),

    batchProgress: hash(
      'batch:progress:<batchId>',
      { total: integer, ...counts(progressCounts), '*': mark },
      {
        ttl: '24h',
        about: 'How many documents of a batch are where; where each is, under `document:<uuid>`',
      },
    ),
    batchManifest: string('batch:manifest:<batchId>', json(BatchManifest), {
      ttl: '24h',
      about: 'What a batch is made of',
    }),
    batchStats: hash(
      'batch:stats:<batchId>',
      { ...counts(statsCounts), '*': mark },
      {
        ttl: '24h',
        about: 'What the stages of a batch made; what became of each, under `job:<uuid>:<stage>`',
      },
    ),

    pipelineMetric: string('metrics:pipeline:<metricType>:<timestamp*>', json(PipelineMetric), {
      ttl: '7d',
      about: 'One stage of one document, measured',
    }),
    performanceMetric: string('metrics:performance:<component>:<timestamp*>', json(PerformanceMetric), {
      ttl: '7d',
      about: 'A component over a time, measured',
    }),

    rateLimit: fixedWindow('rate:limit:<resource>:<identifier>', {
      per,
      limit,
      about: 'How many jobs of a resource begin',
    }),

    result: string('results:job:<queue>:<jobId>', json(JobResult), {
      ttl: '24h',
      about: 'What a job came to',
    }),
    broker: bullmq({ prefix: brokerPrefix, queues }),
    celeryBroker: celery({ globalKeyPrefix: 'broker:', queues }),
    // As it stood before the broker had a prefix, and stands where one of its programs still has none.
    celeryBrokerBefore: celery({ queues }),
    celeryResults: celeryResults({ globalKeyPrefix: 'results:' }),
  }
}

/** The keys of the system, as it runs. */
export const documents = documentsSchema()

function counts<const N extends readonly string[]>(names: N): { readonly [C in N[number]]: typeof integer } {
  return Object.fromEntries(names.map((name) => [name, integer])) as { [C in N[number]]: typeof integer }
}
