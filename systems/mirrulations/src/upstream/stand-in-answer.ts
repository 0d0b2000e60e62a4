import { inventedFile } from './invented-file.ts'
import type { InventedFile, InventedRecord } from './invented-record.ts'
import { pageCeiling, type Selected } from './stand-in-query.ts'

/** A page of a list as the API writes it. */
export function listAnswer(selected: Exclude<Selected, { problem: string }>, baseUrl: string): unknown {
  const { records, number, size, total } = selected
  const totalPages = Math.min(pageCeiling, Math.ceil(total / size))
  return {
    data: records.map((record) => ({
      id: record.id,
      type: record.kind,
      attributes: listedAttributes(record),
      links: { self: `${baseUrl}/${record.kind}/${record.id}` },
    })),
    meta: {
      hasNextPage: number < totalPages,
      hasPreviousPage: number > 1,
      numberOfElements: records.length,
      pageNumber: number,
      pageSize: size,
      totalElements: total,
      totalPages,
      firstPage: number === 1,
      lastPage: number >= totalPages,
    },
  }
}

/** A record in full as the API writes it; `filesUrl` is where its files are. */
export function detailAnswer(
  record: InventedRecord,
  baseUrl: string,
  filesUrl: string,
  withAttachments: boolean,
): unknown {
  const self = `${baseUrl}/${record.kind}/${record.id}`
  const format = (file: InventedFile) => ({
    fileUrl: `${filesUrl}/${record.id}/${file.name}`,
    format: file.format,
    size: contentOf(record, file).length,
  })
  const attached = record.files.filter(({ name }) => name.startsWith('attachment_'))
  const content = record.files.filter((file) => !attached.includes(file))
  const links = { self: `${self}/relationships/attachments`, related: `${self}/attachments` }
  const references = attached.map((_, index) => ({ type: 'attachments', id: attachmentId(record, index) }))
  const relationships = { attachments: withAttachments ? { data: references, links } : { links } }
  return {
    data: {
      id: record.id,
      type: record.kind,
      links: { self },
      attributes: {
        ...detailAttributes(record),
        ...(record.kind === 'dockets'
          ? {}
          : { fileFormats: content.length > 0 ? content.map(format) : null }),
      },
      ...(record.kind === 'dockets' ? {} : { relationships }),
    },
    ...(withAttachments && attached.length > 0
      ? {
          included: attached.map((file, index) => ({
            id: attachmentId(record, index),
            type: 'attachments',
            links: { self: `${baseUrl}/attachments/${attachmentId(record, index)}` },
            attributes: {
              ...empty('agencyNote docAbstract publication restrictReason restrictReasonType'),
              authors: [],
              docOrder: index + 1,
              fileFormats: [format(file)],
              modifyDate: isoTime(record.modifiedMs),
              title: `Attachment ${index + 1} of ${record.id}`,
            },
          })),
        }
      : {}),
  }
}

/** The bytes of a record's file. */
export function contentOf(record: InventedRecord, file: InventedFile): Buffer {
  return inventedFile(file.format, [
    record.title,
    `${record.id} - ${file.name}`,
    record.text,
    'Invented for the stand-in for regulations.gov; no agency published this.',
  ])
}

function listedAttributes(record: InventedRecord): Record<string, unknown> {
  const common = {
    agencyId: record.agencyId,
    highlightedContent: null,
    lastModifiedDate: isoTime(record.modifiedMs),
    objectId: record.objectId,
    title: record.title,
  }
  if (record.kind === 'dockets') return { ...common, docketType: record.type }
  const posted = { documentType: record.type, postedDate: isoTime(record.postedMs), withdrawn: false }
  if (record.kind === 'comments') return { ...common, ...posted }
  const empties = empty('commentEndDate commentStartDate frDocNum subtype')
  return { ...common, ...posted, ...empties, docketId: record.docketId, openForComment: false }
}

function detailAttributes(record: InventedRecord): Record<string, unknown> {
  const common = {
    ...empty('category displayProperties field1 field2 legacyId organization'),
    agencyId: record.agencyId,
    modifyDate: isoTime(record.modifiedMs),
    objectId: record.objectId,
    title: record.title,
  }
  if (record.kind === 'dockets') {
    const empties = empty(
      'effectiveDate generic keywords petitionNbr program rin shortTitle subType subType2',
    )
    return { ...common, ...empties, docketType: record.type, dkAbstract: record.text }
  }
  const posted = {
    ...common,
    ...empty('city country firstName govAgency lastName postmarkDate reasonWithdrawn stateProvinceRegion'),
    docketId: record.docketId,
    documentType: record.type,
    openForComment: false,
    pageCount: 1,
    postedDate: isoTime(record.postedMs),
    receiveDate: isoTime(record.postedMs),
    trackingNbr: record.objectId.slice(-8),
    withdrawn: false,
  }
  if (record.kind === 'documents')
    return { ...posted, comment: null, docAbstract: record.text, subtype: null }
  return {
    ...posted,
    comment: record.text,
    commentOn: record.commentOn?.objectId ?? null,
    commentOnDocumentId: record.commentOn?.id ?? null,
    docAbstract: null,
    duplicateComments: 0,
    subtype: 'Public Comment',
  }
}

/** The API writes every attribute, those that are not filled in as null. */
function empty(names: string): Record<string, null> {
  return Object.fromEntries(names.split(' ').map((name) => [name, null]))
}

function attachmentId(record: InventedRecord, index: number): string {
  return `${record.objectId}${String(index + 1).padStart(2, '0')}`
}

function isoTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`
}
