import { DecodeError, isUnavailable, ServerError } from 'keyspec'
import type { Mirrulations } from '../keyspace.ts'
import { formatUtc } from '../upstream/timestamp.ts'

/** The statistics by the names of their keys; what was never written is 0, or `null` for a time, and what cannot be read is `null`. */
export type Statistics = Readonly<Record<string, number | string | null>>

/** Reads all statistics: those of the queue are of one instant, unless another program left there what no counter is. */
export async function statistics(keys: Mirrulations): Promise<Statistics> {
  const [queue, clients, dockets, documents, comments, bytes] = await Promise.all([
    queueStatistics(keys),
    count(keys.clients().current()),
    count(keys.docketsTotal().get()),
    count(keys.documentsTotal().get()),
    count(keys.commentsTotal().get()),
    count(keys.bucketSize().get()),
  ])
  const [seenDockets, seenDocuments, seenComments, seen] = await Promise.all([
    time(keys.docketsSeen().get()),
    time(keys.documentsSeen().get()),
    time(keys.commentsSeen().get()),
    time(keys.seen().get()),
  ])
  const tally = (name: string) => queue.counters[name] ?? null
  return {
    jobs_waiting: queue.waiting,
    jobs_in_progress: queue.inProgress,
    jobs_done: sum(['dockets', 'documents', 'comments', 'attachments'].map((kind) => tally(`done:${kind}`))),
    invalid_jobs: queue.failed,
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
    regulations_total_dockets: dockets,
    regulations_total_documents: documents,
    regulations_total_comments: comments,
    mirrulations_bucket_size: bytes,
    total_num_client_ids: clients,
    dockets_last_timestamp: seenDockets,
    documents_last_timestamp: seenDocuments,
    comments_last_timestamp: seenComments,
    last_timestamp: seen,
  }
}

/** The same under the names by which the originals' dashboards know them too. */
export function underBothNames(statistics: Statistics): Statistics {
  const { jobs_waiting, jobs_in_progress, jobs_done, total_num_client_ids } = statistics
  return {
    ...statistics,
    num_jobs_waiting: jobs_waiting!,
    num_jobs_in_progress: jobs_in_progress!,
    num_jobs_done: jobs_done!,
    jobs_total: sum([jobs_waiting, jobs_in_progress, jobs_done] as (number | null)[]),
    clients_total: total_num_client_ids!,
    num_jobs_dockets_queued: statistics['num_jobs_dockets_waiting']!,
    num_jobs_documents_queued: statistics['num_jobs_documents_waiting']!,
    num_jobs_comments_queued: statistics['num_jobs_comments_waiting']!,
    num_jobs_attachments_queued: statistics['num_jobs_attachments_waiting']!,
  }
}

interface QueueStatistics {
  readonly waiting: number | null
  readonly inProgress: number | null
  readonly failed: number | null
  readonly counters: Readonly<Record<string, number | null>>
}

async function queueStatistics(keys: Mirrulations): Promise<QueueStatistics> {
  const stats = await readable(keys.jobs().stats())
  if (stats === null) return { waiting: null, inProgress: null, failed: null, counters: {} }
  const { waiting, inProgress, failed, counters } = stats
  const whole = Object.entries(counters).map(
    ([name, value]) => [name, Number.isSafeInteger(value) ? value : null] as const,
  )
  return { waiting, inProgress, failed, counters: Object.fromEntries(whole) }
}

async function count(reading: Promise<number | undefined>): Promise<number | null> {
  return readable(reading.then((value) => value ?? 0))
}

async function time(reading: Promise<Date | undefined>): Promise<string | null> {
  return readable(reading.then((at) => (at === undefined ? null : formatUtc(at.getTime()))))
}

/** A value, or `null` where another program left one that cannot be read: it costs one statistic, not all of them. */
async function readable<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof DecodeError || (error instanceof ServerError && !isUnavailable(error))) return null
    throw error
  }
}

function sum(counts: readonly (number | null)[]): number | null {
  return counts.reduce((total, each) => (total === null || each === null ? null : total + each), 0)
}
