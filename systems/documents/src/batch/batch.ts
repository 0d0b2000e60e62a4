import type { BatchManifest } from '../pipeline/batch-manifest.ts'
import { stages, type Stage } from '../pipeline/document-state.ts'
import type { Documents } from '../keyspace.ts'
import { type progressCounts, statsCounts } from '../schema.ts'
import { moved } from './tally.ts'

/** Where a document of a batch is. */
export type DocumentStatus = (typeof progressCounts)[number]

/** What a stage adds to the statistics of its batch. */
export type Made = Partial<Record<Exclude<(typeof statsCounts)[number], `jobs_${string}`>, number>>

/** Begins a batch: its manifest, and counts that know of every document and every job in it. Asked again, it changes nothing. */
export async function beginBatch(keys: Documents, manifest: BatchManifest): Promise<void> {
  const { batch_id: batchId, documents } = manifest
  await keys.batchManifest({ batchId }).setIfAbsent(manifest)
  const ids = documents.map(({ document_uuid }) => document_uuid)
  // All of a hash in one step: a batch that is half begun is not there, and one that goes on is not begun anew.
  const progress = keys.batchProgress({ batchId })
  if (!(await progress.exists())) {
    await progress.set({
      total: ids.length,
      pending: ids.length,
      running: 0,
      completed: 0,
      incomplete: 0,
      failed: 0,
      ...Object.fromEntries(ids.map((id) => [`document:${id}`, 'pending'])),
    })
  }
  const stats = keys.batchStats({ batchId })
  if (!(await stats.exists())) {
    await stats.set({
      ...Object.fromEntries(statsCounts.map((name) => [name, 0])),
      ...Object.fromEntries(ids.flatMap((id) => stages.map((stage) => [`job:${id}:${stage}`, 'pending']))),
    })
  }
}

/** Counts a document where it is now, once. What has ended stays there. */
export function documentIs(
  keys: Documents,
  batchId: string,
  documentUuid: string,
  status: DocumentStatus,
): Promise<boolean> {
  const hash = keys.batchProgress({ batchId })
  return moved(hash, `document:${documentUuid}`, status, (from) =>
    from === 'pending' || from === 'running' ? { [from]: -1, [status]: 1 } : undefined,
  )
}

/** Counts a job and what it made, once. */
export function jobEnded(
  keys: Documents,
  batchId: string,
  job: { readonly documentUuid: string; readonly stage: Stage },
  outcome: 'completed' | 'failed',
  made: Made = {},
): Promise<boolean> {
  const hash = keys.batchStats({ batchId })
  return moved(hash, `job:${job.documentUuid}:${job.stage}`, outcome, (from) =>
    from === 'pending' ? { ...made, [`jobs_${outcome}`]: 1 } : undefined,
  )
}
