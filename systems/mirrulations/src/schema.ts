import { type Duration, integer, type Kind, json, string, sqlDate, text } from 'keyspec'
import { sequence, watermark, workQueue } from 'keyspec/recipes'
import { jobCodec, JobDone } from './job.ts'

const state = { ttl: 'forever' } as const

/**
 * Every key of the system. Nothing here has a time to live: all of it is state that the next run goes on from.
 * `lease` is how long a client may hold a job without renewing it.
 */
export function mirrulationsSchema({ lease = '5m' }: { readonly lease?: Duration } = {}) {
  return {
    jobs: workQueue('jobs_waiting_queue', jobCodec, {
      about: 'Jobs of the mirror',
      reason: 'the jobs are the state of the mirror, and stay until they are done',
      lease,
      attempts: 3,
      id: 'job_id',
      result: json(JobDone),
      keepCompleted: 10_000,
      failedField: 'url',
      // Beyond what one moment of regulations.gov can hold, so that a generator that starts again knows all of its last page.
      dedupeWindow: 25_000,
      keys: {
        waiting: 'jobs_waiting_queue',
        inProgress: 'jobs_in_progress',
        holders: 'client_jobs',
        done: 'jobs_done',
        failed: 'invalid_jobs',
        sequence: 'last_job_id',
        deadlines: 'jobs_deadlines',
        attempts: 'jobs_attempts',
        finished: 'jobs_done_at',
        recent: 'jobs_added',
        errors: false,
      },
      counters: {
        by: 'job_type',
        waiting: {
          dockets: 'num_jobs_dockets_waiting',
          documents: 'num_jobs_documents_waiting',
          comments: 'num_jobs_comments_waiting',
          attachments: 'num_jobs_attachments_waiting',
        },
        done: {
          dockets: 'num_dockets_done',
          documents: 'num_documents_done',
          comments: 'num_comments_done',
          attachments: 'num_attachments_done',
        },
        also: { pdfAttachments: 'num_pdf_attachments_done', extractions: 'num_extractions_done' },
      },
    }),

    clients: sequence('total_num_client_ids', {
      ...state,
      reason: 'the number of clients so far, and so the last id given to one: ids never repeat',
      about: 'How many client ids were given',
      renamedFrom: { pattern: 'last_client_id', phase: 2 },
    }),

    clientSecret: string('work_server_secret', text, {
      ...state,
      reason: 'what was given to clients is void without it',
      about:
        'What all work servers make the tokens of clients from: whoever reads it can speak for each of them',
    }),

    docketsSeen: seenUpTo('dockets_last_timestamp', 'docket_last_timestamp'),
    documentsSeen: seenUpTo('documents_last_timestamp', 'document_last_timestamp'),
    commentsSeen: seenUpTo('comments_last_timestamp', 'comment_last_timestamp'),
    seen: watermark('last_timestamp', sqlDate, {
      ...state,
      reason: 'the newest of the three, for whoever asks how far the mirror is',
      about: 'The last change of any kind that the work generator has seen, UTC',
    }),

    docketsTotal: total('dockets'),
    documentsTotal: total('documents'),
    commentsTotal: total('comments'),
    bucketSize: string('mirrulations_bucket_size', integer, {
      ...state,
      reason: 'the size stays true until it is measured again',
      about: 'Bytes in the mirror',
      renamedFrom: { pattern: 'MIRRULATION_BUCKET_SIZE', phase: 2 },
    }),

    oldDocketsQueue: leftBehind('num_jobs_num_jobs_dockets_queue_queue'),
    oldDocumentsQueue: leftBehind('num_jobs_num_jobs_documents_queue_queue'),
    oldCommentsQueue: leftBehind('num_jobs_num_jobs_comments_queue_queue'),
    oldPdfAttachments: leftBehind('num_pdf_attachment_done'),
  }
}

/** The keys of the system, as it runs. */
export const mirrulations = mirrulationsSchema()

/** A counter that nothing writes any more: it can be read, and that is all. */
export interface LeftBehind {
  get(): Promise<number | undefined>
}

function seenUpTo(pattern: string, renamedFrom: string) {
  return watermark(pattern, sqlDate, {
    ...state,
    reason: 'where the work generator goes on after a restart',
    about: 'The last change that the work generator has seen, UTC',
    renamedFrom: { pattern: renamedFrom, phase: 2 },
  })
}

function total(kind: 'dockets' | 'documents' | 'comments') {
  return string(`regulations_total_${kind}`, integer, {
    ...state,
    reason: 'the last count stays the best one until regulations.gov answers again',
    about: `How many ${kind} regulations.gov has`,
  })
}

// Only what reads is in its type.
function leftBehind(name: string): Kind<() => LeftBehind> {
  return string(name, integer, {
    ...state,
    reason: 'it was left in production by an old program, and is nobody’s to delete',
    about: 'Legacy: written by old programs, by nothing of today',
  })
}
