import { readFile, stat } from 'node:fs/promises'
import type { Documents } from '../keyspace.ts'
import type { Made } from '../batch/batch.ts'
import type { Stage } from '../pipeline/document-state.ts'
import { UnreadableError } from '@keyspec-systems/reading'
import { DocumentError, flawOf } from '../pipeline/document-error.ts'
import { type ExtractOptions, extractText, type SourceDocument } from '../pipeline/extract.ts'
import type { QueueName } from '../schema.ts'

/** What a job is given: which document of which batch, and the file that it is. */
export interface DocumentJob extends Omit<SourceDocument, 'bytes'> {
  readonly batch_id: string
  readonly path: string
}

/** Which queue each stage waits in. */
export const queueOf: { readonly [S in Stage]: QueueName } = {
  ocr: 'ocr',
  chunking: 'text',
  entity_extraction: 'entity',
  entity_resolution: 'entity',
  mention_resolution: 'entity',
}

/** What a stage came to. */
export interface StageDone {
  /** The key that holds it. */
  readonly key: string
  /** It was there already. */
  readonly hit: boolean
  readonly made: Made
  readonly produced: number
  readonly pagesNeedingOcr?: readonly number[]
}

/**
 * Runs a stage: its result is in its cache key, or is made and put there. What it needs of earlier stages is read from
 * theirs, and made again where they have expired, so that a stage can run at any time.
 */
export async function runStage(
  keys: Documents,
  stage: Stage,
  job: DocumentJob,
  reading: ExtractOptions,
): Promise<StageDone> {
  const at = { documentUuid: job.document_uuid }
  const read = () =>
    keys.ocrResult(at).getOrLoad(async () => {
      const { document_uuid, name, media_type } = job
      return extractText({ document_uuid, name, media_type, bytes: await bytesOf(job.path) }, reading)
    })
  const { reader } = reading
  const chunked = () => keys.chunks(at).getOrLoad(async () => readable(reader.read('chunks', [await read()])))
  const mentioned = () =>
    keys.allExtractedMentions(at).getOrLoad(async () => readable(reader.read('mentions', [await chunked()])))
  const meant = () =>
    keys.canonicalEntities(at).getOrLoad(async () => readable(reader.read('entities', [await mentioned()])))
  const resolved = () =>
    keys
      .resolvedMentions(at)
      .getOrLoad(async () => readable(reader.read('resolved', [await mentioned(), await meant()])))

  const run = async <V>(
    key: { readonly name: string; exists(): Promise<boolean> },
    make: () => Promise<V>,
    told: (value: V) => Omit<StageDone, 'key' | 'hit'>,
  ): Promise<StageDone> => {
    const hit = await key.exists()
    const { made, ...rest } = told(await make())
    return { key: key.name, hit, made: { ...made, cache_hits: hit ? 1 : 0 }, ...rest }
  }
  switch (stage) {
    case 'ocr':
      return run(keys.ocrResult(at), read, ({ pages, pages_needing_ocr }) => ({
        made: { pages: pages.length },
        produced: pages.length,
        pagesNeedingOcr: pages_needing_ocr,
      }))
    case 'chunking':
      return run(keys.chunks(at), chunked, ({ chunks }) => ({
        made: { chunks: chunks.length },
        produced: chunks.length,
      }))
    case 'entity_extraction':
      return run(keys.allExtractedMentions(at), mentioned, ({ mentions }) => ({
        made: { mentions: mentions.length },
        produced: mentions.length,
      }))
    case 'entity_resolution':
      return run(keys.canonicalEntities(at), meant, ({ entities }) => ({
        made: { entities: entities.length },
        produced: entities.length,
      }))
    case 'mention_resolution':
      return run(keys.resolvedMentions(at), resolved, ({ resolved: all }) => ({
        made: { resolved: all.length },
        produced: all.length,
      }))
    default:
      return stage satisfies never
  }
}

/** What a reader answers, or why it could not: a text without meaning is as hopeless as a damaged file. */
function readable<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error: unknown) => {
    throw error instanceof UnreadableError ? flawOf(error, 'not-text') : error
  })
}

const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024

async function bytesOf(path: string): Promise<Uint8Array> {
  const { size } = await stat(path)
  if (size > MAX_DOCUMENT_BYTES)
    throw new DocumentError('too-large', `the file has ${size} bytes, more than ${MAX_DOCUMENT_BYTES}`)
  return readFile(path)
}
