import { readFile } from 'node:fs/promises'
import type { Documents } from '../keyspace.ts'
import type { Made } from '../batch/batch.ts'
import { canonicalize } from '../pipeline/canonicalize.ts'
import { chunkText } from '../pipeline/chunk.ts'
import type { Stage } from '../pipeline/document-state.ts'
import { extractMentions } from '../pipeline/extract-mentions.ts'
import { extractText, type SourceDocument } from '../pipeline/extract.ts'
import type { OcrProvider } from '../pipeline/ocr.ts'
import { resolveMentions } from '../pipeline/resolve-mentions.ts'
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
  ocr: OcrProvider | undefined,
): Promise<StageDone> {
  const at = { documentUuid: job.document_uuid }
  const read = () =>
    keys.ocrResult(at).getOrLoad(async () => {
      const { document_uuid, name, media_type } = job
      return extractText({ document_uuid, name, media_type, bytes: await readFile(job.path) }, { ocr })
    })
  const chunked = () => keys.chunks(at).getOrLoad(async () => chunkText(await read()))
  const mentioned = () =>
    keys.allExtractedMentions(at).getOrLoad(async () => extractMentions(await chunked()))
  const meant = () => keys.canonicalEntities(at).getOrLoad(async () => canonicalize(await mentioned()))
  const resolved = () =>
    keys.resolvedMentions(at).getOrLoad(async () => resolveMentions(await mentioned(), await meant()))

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
