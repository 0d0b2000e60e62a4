import { agencies, commenters, documentTypes, opinions } from './invented-subject.ts'
import type { Kind } from './record-kind.ts'

/** One invented docket, document or comment. */
export interface InventedRecord {
  readonly kind: Kind
  readonly id: string
  readonly agencyId: string
  readonly docketId: string
  readonly objectId: string
  readonly type: string
  readonly title: string
  readonly text: string
  readonly postedMs: number
  /** Whole seconds; may be changed to stand for an edit. */
  modifiedMs: number
  /** The document that a comment is about. */
  readonly commentOn: InventedRecord | undefined
  readonly files: readonly InventedFile[]
  /** Listed, but answered with 404 in full, as a record withdrawn in between is. */
  readonly isMissing: boolean
}

/** A file of a record: a document's own content, or something attached to a comment. */
export interface InventedFile {
  readonly name: string
  readonly format: string
}

/** How many records to invent, and when they were last modified. */
export interface InventOptions {
  readonly dockets?: number
  readonly documents?: number
  readonly comments?: number
  /** Files, shared out over documents and comments. */
  readonly attachments?: number
  readonly seed?: number
  /** Milliseconds for the nth record of a kind; by default two November days with moments that many records share. */
  readonly modifiedMs?: (kind: Kind, index: number) => number
}

/** The same records for the same options, always. */
export function invent(options: InventOptions = {}): InventedRecord[] {
  const { dockets = 60, documents = 200, comments = 600, attachments = 120, seed = 20_241_103 } = options
  if (dockets < 1 && documents + comments > 0)
    throw new RangeError('documents and comments need a docket to be in')
  const random = mulberry32(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const modified = { dockets: moments(random), documents: moments(random), comments: moments(random) }
  const all: InventedRecord[] = []
  const numbers = new Map<string, number>()

  const add = (kind: Kind, index: number, record: Omit<InventedRecord, CommonField>): InventedRecord => {
    const ownMs = modified[kind]()
    const modifiedMs = options.modifiedMs?.(kind, index) ?? ownMs
    const objectId = `${kind === 'dockets' ? '0b' : '09'}00006489${(all.length + 0x10000).toString(16).padStart(6, '0')}`
    const added = {
      kind,
      objectId,
      modifiedMs,
      postedMs: modifiedMs - Math.floor(random() * 40) * 86_400_000,
      ...record,
    }
    all.push(added)
    return added
  }

  const inDocket = (docketId: string): string => {
    const number = (numbers.get(docketId) ?? 0) + 1
    numbers.set(docketId, number)
    return `${docketId}-${String(number).padStart(4, '0')}`
  }

  const docketList = Array.from({ length: dockets }, (_, index) => {
    const agency = agencies[index % agencies.length] as (typeof agencies)[number]
    const subject = pick(agency.subjects)
    const id = `${agency.prefix}-${2023 + (index % 2)}-${agency.id === 'FDA' ? 'N-' : ''}${String(9001 + index)}`
    const type = random() < 0.7 ? 'Rulemaking' : 'Nonrulemaking'
    const text = `This docket collects what the public says on ${subject.toLowerCase()}.`
    const rest = { commentOn: undefined, files: [], isMissing: false }
    return add('dockets', index, {
      id,
      agencyId: agency.id,
      docketId: id,
      type,
      title: subject,
      text,
      ...rest,
    })
  })

  const ofDocuments = comments === 0 ? attachments : Math.min(documents, Math.floor(attachments / 3))
  const fileCounts = shares(ofDocuments, documents)
  const documentList = Array.from({ length: documents }, (_, index) => {
    // The first documents go round, so that no docket is empty while there are enough.
    const docket = index < dockets ? (docketList[index] as InventedRecord) : pick(docketList)
    const { type, title: start } = pick(documentTypes)
    const title = `${start}: ${docket.title}`
    return add('documents', index, {
      id: inDocket(docket.id),
      agencyId: docket.agencyId,
      docketId: docket.id,
      type,
      title,
      text: `${title}. The agency invites comments.`,
      commentOn: undefined,
      files: contentFiles(index, fileCounts(index)),
      isMissing: comments === 0 && index === Math.floor(documents / 2),
    })
  })

  const attachedCounts = shares(attachments - ofDocuments, comments - 1)
  for (let index = 0; index < comments; index += 1) {
    const about = documentList.length > 0 ? pick(documentList) : undefined
    const docket = about ?? pick(docketList)
    const isMissing = index === Math.floor(comments / 2)
    const files = isMissing ? 0 : attachedCounts(index > Math.floor(comments / 2) ? index - 1 : index)
    add('comments', index, {
      id: inDocket(docket.docketId),
      agencyId: docket.agencyId,
      docketId: docket.docketId,
      type: 'Public Submission',
      title: `Comment from ${pick(commenters)}`,
      text: pick(opinions),
      commentOn: about,
      files: attachedFiles(index, files),
      isMissing,
    })
  }
  return all
}

type CommonField = 'kind' | 'objectId' | 'modifiedMs' | 'postedMs'

const formats = ['pdf', 'docx', 'txt', 'pdf'] as const

function contentFiles(index: number, count: number): InventedFile[] {
  const order = index % 2 === 0 ? ['pdf', 'htm', 'docx', 'txt'] : ['htm', 'pdf', 'txt', 'docx']
  const own = order.slice(0, count).map((format) => ({ name: `content.${format}`, format }))
  return [...own, ...attachedFiles(index, count - own.length)]
}

function attachedFiles(index: number, count: number): InventedFile[] {
  return Array.from({ length: Math.max(0, count) }, (_, nth) => {
    const format = formats[(index + nth) % formats.length] as string
    return { name: `attachment_${nth + 1}.${format}`, format }
  })
}

/** Shares `total` out over `slots` evenly: how many the nth slot gets. */
function shares(total: number, slots: number): (index: number) => number {
  return (index) => Math.floor(((index + 1) * total) / slots) - Math.floor((index * total) / slots)
}

// Bulk edits give many records one moment. Every 250th record, where a page ends, stands in the middle of such an edit.
// The days are those of a change of clocks, the one time of the year at which the API's filter is ambiguous.
function moments(random: () => number): () => number {
  let atMs = Date.parse('2024-11-02T04:00:00Z')
  let index = -1
  return () => {
    index += 1
    const isBulk = index % 250 > 244 || (index >= 250 && index % 250 < 5)
    if (index > 0 && !isBulk && random() > 0.25) atMs += Math.ceil(random() * 480) * 1000
    return atMs
  }
}

function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
