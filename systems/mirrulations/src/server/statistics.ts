import type { Mirrulations } from '../keyspace.ts'
import { formatUtc } from '../upstream/timestamp.ts'

/** The statistics by the names of their keys; what was never written is 0, or `null` for a time. */
export type Statistics = Readonly<Record<string, number | string | null>>

/** Reads all statistics: those of the queue are of one instant. */
export async function statistics(keys: Mirrulations): Promise<Statistics> {
  const [stats, clients, dockets, documents, comments, bytes] = await Promise.all([
    keys.jobs().stats(),
    keys.clients().current(),
    keys.docketsTotal().get(),
    keys.documentsTotal().get(),
    keys.commentsTotal().get(),
    keys.bucketSize().get(),
  ])
  const [seenDockets, seenDocuments, seenComments, seen] = await Promise.all([
    keys.docketsSeen().get(),
    keys.documentsSeen().get(),
    keys.commentsSeen().get(),
    keys.seen().get(),
  ])
  const tally = (name: string) => stats.counters[name] ?? 0
  const time = (at: Date | undefined) => (at === undefined ? null : formatUtc(at.getTime()))
  return {
    jobs_waiting: stats.waiting,
    jobs_in_progress: stats.inProgress,
    jobs_done: ['dockets', 'documents', 'comments', 'attachments']
      .map((kind) => tally(`done:${kind}`))
      .reduce((sum, count) => sum + count, 0),
    invalid_jobs: stats.failed,
    num_jobs_dockets_waiting: tally('waiting:dockets'),
    num_jobs_documents_waiting: tally('waiting:documents'),
    num_jobs_comments_waiting: tally('waiting:comments'),
    num_jobs_attachments_waiting: tally('waiting:attachments'),
    num_dockets_done: tally('done:dockets'),
    num_documents_done: tally('done:documents'),
    num_comments_done: tally('done:comments'),
    num_attachments_done: tally('done:attachments'),
    num_pdf_attachments_done: tally('also:pdfAttachments'),
    num_extractions_done: tally('also:extractions'),
    regulations_total_dockets: dockets ?? 0,
    regulations_total_documents: documents ?? 0,
    regulations_total_comments: comments ?? 0,
    mirrulations_bucket_size: bytes ?? 0,
    total_num_client_ids: clients ?? 0,
    dockets_last_timestamp: time(seenDockets),
    documents_last_timestamp: time(seenDocuments),
    comments_last_timestamp: time(seenComments),
    last_timestamp: time(seen),
  }
}
