import { json } from 'keyspec'
import * as v from 'valibot'
import { filePaths } from './storage/layout.ts'
import type { Listed } from './upstream/listing.ts'
import type { Item } from './upstream/regulations.ts'

/** What a job is about: a record of one of the three kinds, or one file that is attached to a record. */
export const jobTypes = ['dockets', 'documents', 'comments', 'attachments'] as const

/** `dockets`, `documents`, `comments` or `attachments`. */
export type JobType = (typeof jobTypes)[number]

/** A job as it waits in `jobs_waiting_queue`; programs of the original add fields of their own, which stay. */
export const Job = v.looseObject({
  job_id: v.union([v.number(), v.string()]),
  /** What to fetch. */
  url: v.string(),
  /** Jobs of the first generation had only an id and a URL, and some programs write `null`. */
  job_type: v.optional(v.nullable(v.string())),
  /** The id of the record on regulations.gov. */
  reg_id: v.optional(v.nullable(v.string())),
  agency: v.optional(v.nullable(v.string())),
  /** Where an attachment is to be stored. */
  directory: v.optional(v.string()),
})

/** A job, validated. */
export type Job = v.InferOutput<typeof Job>

const written = json(Job)

/** How jobs are stored. Programs of the originals keep one in progress as its URL alone: that has no id but the one it stands under. */
export const jobCodec: typeof written = {
  ...written,
  decode: (text) => (text.startsWith('{') ? written.decode(text) : { job_id: NAMELESS, url: text }),
}

const NAMELESS = ''

/** A job with the id that it stands under, and whether it was its URL alone. */
export function identified(id: string, job: Job): { readonly job: Job; readonly wasBare: boolean } {
  const wasBare = job.job_id === NAMELESS
  return { job: wasBare ? { ...job, job_id: id } : job, wasBare }
}

/** A job that has no id yet. */
export type NewJob = Omit<v.InferInput<typeof Job>, 'job_id'> & { readonly job_type: JobType }

/** What `jobs_done` holds of a job: where its result is stored, and how many bytes it has. */
export const JobDone = v.looseObject({ directory: v.optional(v.string()), bytes: v.optional(v.number()) })

/** A job with the name that it is recognised by when it comes again: a record as it was last modified. */
export interface NamedJob {
  readonly job: NewJob
  readonly name: string
}

/** The job that fetches a record which a page lists. */
export function jobOf({ kind, id, url, agencyId, lastModified }: Listed): NamedJob {
  const job = { url, job_type: kind, reg_id: id, agency: agencyId ?? null }
  return { job, name: `${kind}/${id}@${lastModified}` }
}

/** The jobs that fetch the files of a record, one for each. */
export function attachmentJobs(item: Item): NamedJob[] {
  const modified = modifiedAt(item.json)
  const paths = filePaths(
    item,
    item.files.map(({ url }) => url),
  )
  return item.files.map(({ url }, index) => {
    const job = { url, job_type: 'attachments', reg_id: item.id, agency: item.agencyId ?? null } as const
    return { job: { ...job, directory: paths[index]! }, name: `${paths[index]}@${modified}` }
  })
}

function modifiedAt(json: unknown): string {
  const { data } = json as { data?: { attributes?: { modifyDate?: string | null } } }
  return data?.attributes?.modifyDate ?? ''
}
