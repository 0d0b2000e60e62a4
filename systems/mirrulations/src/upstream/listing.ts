import type { ListAnswer } from './answer.ts'
import type { Kind } from './record-kind.ts'
import { easternTime, filterFrom, formatUtc, parseUtc, writtenOnce } from './timestamp.ts'
import { UpstreamError } from '@keyspec-systems/program/upstream'

/** A record as a page lists it: enough to make a job of it. */
export interface Listed {
  readonly kind: Kind
  readonly id: string
  /** Where the record is in full, attachments included, without a key. */
  readonly url: string
  readonly agencyId: string | undefined
  readonly docketId: string | undefined
  /** UTC, `YYYY-MM-DD HH:MM:SS`. */
  readonly lastModified: string
}

/** Some records, and how far the listing has come with them. */
export interface Page {
  readonly items: readonly Listed[]
  /** UTC, `YYYY-MM-DD HH:MM:SS`: once these items are safe, a later listing may begin here and miss nothing. */
  readonly watermark: string
  /** How many records there were from the page's first one on. */
  readonly total: number
}

/** What `listing` walks over. */
export interface ListingOptions {
  readonly kind: Kind
  readonly baseUrl: string
  readonly pageSize: number
  readonly since: string | undefined
  readonly list: (query: Readonly<Record<string, string>>) => Promise<ListAnswer>
}

/**
 * Lists everything from a watermark on. The filter moves on after every page, to the last moment seen, and page numbers
 * serve only inside a moment that fills a page: a listing is then never near the ceiling of 20 pages, and a record that
 * is modified meanwhile, and so leaves its place, does not shift another one over the border of a page unseen.
 */
export async function* listing(options: ListingOptions): AsyncGenerator<Page> {
  const { kind, baseUrl, pageSize, list } = options
  const idField = kind === 'dockets' ? 'docketId' : 'documentId'
  const seen = new Map<string, number>()
  let fromMs = parseUtc(options.since ?? beginning)
  let watermark = formatUtc(fromMs)
  let number = 1

  const ask = (query: Record<string, string>) => list({ 'page[size]': `${pageSize}`, ...query })

  function fresh(answer: ListAnswer): Listed[] {
    const items: Listed[] = []
    for (const record of answer.data) {
      const item = listedOf(kind, baseUrl, record)
      const version = `${item.id} ${item.lastModified}`
      if (!seen.has(version)) items.push(item)
      seen.set(version, parseUtc(item.lastModified))
    }
    return items
  }

  for (;;) {
    const filter = filterFrom(fromMs)
    const answer = await ask({
      'filter[lastModifiedDate][ge]': filter.text,
      sort: `lastModifiedDate,${idField}`,
      'page[number]': `${number}`,
    })
    const last = answer.data.at(-1)
    if (last === undefined) return
    const lastMs = parseUtc(last.attributes.lastModifiedDate)
    const items = fresh(answer)
    watermark = formatUtc(Math.max(lastMs, parseUtc(watermark)))
    if (items.length > 0) yield { items, watermark, total: answer.meta.totalElements }
    if (!answer.meta.hasNextPage && number * pageSize >= answer.meta.totalElements) return

    if (filterFrom(lastMs).earliestMs > filter.earliestMs) {
      fromMs = lastMs
      number = 1
      for (const [version, atMs] of seen) if (atMs < filterFrom(lastMs).earliestMs) seen.delete(version)
    } else if (number < pageCeiling) {
      number += 1
    } else {
      yield* fromTheFarSide(filter.text, lastMs)
      fromMs = Math.max(writtenOnce(lastMs), lastMs + 1000)
      number = 1
    }
  }

  // One moment (or, when the clocks go back, two hours that are written alike) holds more than the ceiling: what the
  // ascending order does not reach is read in the descending one.
  async function* fromTheFarSide(from: string, lastMs: number): AsyncGenerator<Page> {
    for (let page = 1; page <= pageCeiling; page += 1) {
      const answer = await ask({
        'filter[lastModifiedDate][ge]': from,
        'filter[lastModifiedDate][le]': easternTime(writtenOnce(lastMs)),
        sort: `-lastModifiedDate,-${idField}`,
        'page[number]': `${page}`,
      })
      const total = answer.meta.totalElements
      if (total > 2 * pageCeiling * pageSize) {
        throw new UpstreamError(
          'ceiling',
          { url: `${baseUrl}/${kind}` },
          `${total} ${kind} were modified at ${from} Eastern time, more than can be listed; set the watermark past it ` +
            'to leave them out',
        )
      }
      const items = fresh(answer)
      if (items.length > 0) yield { items, watermark, total }
      if (!answer.meta.hasNextPage) return
    }
  }
}

const pageCeiling = 20

const beginning = '1972-01-01 00:00:00'

function listedOf(kind: Kind, baseUrl: string, record: ListAnswer['data'][number]): Listed {
  const { agencyId, docketId, lastModifiedDate } = record.attributes
  const include = kind === 'dockets' ? '' : '?include=attachments'
  return {
    kind,
    id: record.id,
    url: `${baseUrl}/${kind}/${encodeURIComponent(record.id)}${include}`,
    agencyId: agencyId ?? undefined,
    docketId: docketId ?? (kind === 'dockets' ? record.id : undefined),
    lastModified: formatUtc(parseUtc(lastModifiedDate)),
  }
}
