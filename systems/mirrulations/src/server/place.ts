import { Problem } from '@keyspec-systems/program/http'
import * as v from 'valibot'
import type { Job } from '../job.ts'
import { extractedPath, jsonPath } from '../storage/layout.ts'
import { relativeDirectory } from '../storage/safe-path.ts'
import { DetailAnswer } from '../upstream/answer.ts'
import { type Kind, kinds } from '../upstream/record-kind.ts'
import { type Item, itemOf } from '../upstream/regulations.ts'

/** Where a record is to be stored, and the record where it is one of the API. */
export interface Placing {
  readonly path: string
  readonly item: Item | undefined
}

/**
 * Where the record of a job stands. The job says which record it is, and a client cannot write another's; only its docket
 * is the record's own word. Jobs of the first generation name their record in the URL alone. 403 for another record.
 *
 * @param named The place that a client names, which counts only where neither job nor record says it.
 */
export function placeOfRecord(job: Job, results: object, named: string | undefined): Placing {
  const answer = v.safeParse(DetailAnswer, results)
  const item = answer.success ? itemOf(answer.output, results) : undefined
  const kind = kinds.find((each) => each === job.job_type)
  const id = job.reg_id ?? undefined
  if (item !== undefined) {
    const isIts = id === undefined ? names(job.url, item.id) : item.id === id
    if (!isIts || (kind ?? item.kind) !== item.kind) throw new Problem(403, ANOTHER)
    return { path: jsonPath({ ...item, agencyId: job.agency ?? item.agencyId }), item }
  }
  if (named === undefined) throw new Problem(400, 'The body has no directory')
  if (kind !== undefined && id !== undefined) return { path: jsonPath(placed(kind, id, job)), item }
  const path = relativeDirectory(named)
  if (
    !names(
      job.url,
      path
        .split('/')
        .at(-1)!
        .replace(/\.json$/, ''),
    )
  )
    throw new Problem(403, ANOTHER)
  return { path, item }
}

/** Where the files of a job may stand: the file that it names, and the text that is taken out of it. */
function placesOfFiles(job: Job): readonly string[] {
  if (job.job_type !== 'attachments' || job.directory === undefined) return []
  const text = extractedPath(job.directory)
  return text === undefined ? [job.directory] : [job.directory, text]
}

/** One of the places of a job's files, as a client names it; else 403. */
export function placeOfFile(job: Job, named: string): string {
  const path = relativeDirectory(named)
  if (!placesOfFiles(job).includes(path)) throw new Problem(403, 'The job has no file at this place')
  return path
}

const ANOTHER = 'The record is not the one that the job asks for'

const placed = (kind: Kind, id: string, { agency }: Job) => ({
  kind,
  id,
  agencyId: agency ?? undefined,
  docketId: undefined,
})

/** Whether an address names this record, as a part of its path or a value of its query. */
function names(url: string, id: string): boolean {
  if (id === '' || !URL.canParse(url)) return false
  const { pathname, searchParams } = new URL(url)
  return [...pathname.split('/'), ...searchParams.values()].includes(id)
}
