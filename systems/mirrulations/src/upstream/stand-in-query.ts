import type { InventedRecord } from './invented-record.ts'
import type { Kind } from './record-kind.ts'
import { easternTime } from './timestamp.ts'

/** Which of the two hours the stand-in takes a repeated Eastern hour for; the real API does not say. */
export type RepeatedHour = 'first' | 'second'

/** The page that a query asks for, or what is wrong with the query. */
export type Selected =
  | {
      readonly records: readonly InventedRecord[]
      readonly number: number
      readonly size: number
      readonly total: number
    }
  | { readonly problem: string }

/** Filters, sorts and cuts one kind's records as the query of a list asks; `sorted` keeps each order for the next page. */
export function select(
  kind: Kind,
  records: readonly InventedRecord[],
  sorted: Map<string, readonly InventedRecord[]>,
  query: URLSearchParams,
  repeatedHour: RepeatedHour,
): Selected {
  const size = integer(query.get('page[size]'), 25)
  const number = integer(query.get('page[number]'), 1)
  if (!(size >= 5 && size <= 250)) return { problem: 'page[size] must be between 5 and 250' }
  if (!(number >= 1 && number <= pageCeiling))
    return { problem: `page[number] must be between 1 and ${pageCeiling}` }
  const tests: ((record: InventedRecord) => boolean)[] = []
  for (const [name, value] of query) {
    const filter = /^filter\[(\w+)\](?:\[(ge|le)\])?$/.exec(name)
    if (filter === null) continue
    const test = testOf(filter[1] as string, filter[2], value, repeatedHour)
    if (typeof test === 'string') return { problem: test }
    tests.push(test)
  }
  const sort = query.get('sort') ?? '-lastModifiedDate'
  const order = orderOf(kind, sort)
  if (typeof order === 'string') return { problem: order }
  const ordered = sorted.get(`${kind} ${sort}`) ?? records.toSorted(order)
  sorted.set(`${kind} ${sort}`, ordered)
  const found = ordered.filter((record) => tests.every((test) => test(record)))
  return { records: found.slice((number - 1) * size, number * size), number, size, total: found.length }
}

/** The pages of one query that can be asked for. */
export const pageCeiling = 20

function testOf(
  field: string,
  bound: string | undefined,
  value: string,
  repeatedHour: RepeatedHour,
): ((record: InventedRecord) => boolean) | string {
  switch (field) {
    case 'agencyId': {
      const agencies = value.split(',')
      return (record) => agencies.includes(record.agencyId)
    }
    case 'docketId':
      return (record) => record.docketId === value
    case 'commentOnId':
      return (record) => record.commentOn?.objectId === value
    case 'documentType':
    case 'docketType':
      return (record) => record.type === value
    case 'searchTerm': {
      const term = value.toLowerCase()
      return (record) => `${record.id} ${record.title} ${record.text}`.toLowerCase().includes(term)
    }
    case 'postedDate': {
      if (!/^\d{4}-\d\d-\d\d$/.test(value)) return 'filter[postedDate] must be formatted as yyyy-MM-dd'
      if (bound === 'ge') return (record) => postedOn(record) >= value
      return bound === 'le' ? (record) => postedOn(record) <= value : (record) => postedOn(record) === value
    }
    case 'lastModifiedDate': {
      const atMs = fromEastern(value, repeatedHour)
      if (atMs === undefined) return 'filter[lastModifiedDate] must be formatted as yyyy-MM-dd HH:mm:ss'
      if (bound === 'ge') return (record) => record.modifiedMs >= atMs
      return bound === 'le' ? (record) => record.modifiedMs <= atMs : (record) => record.modifiedMs === atMs
    }
    default:
      return `filter[${field}] is not a filter of this list`
  }
}

function postedOn(record: InventedRecord): string {
  return easternTime(record.postedMs).slice(0, 10)
}

function orderOf(kind: Kind, sort: string): ((a: InventedRecord, b: InventedRecord) => number) | string {
  const values: Readonly<Record<string, (record: InventedRecord) => number | string>> = {
    lastModifiedDate: (record) => record.modifiedMs,
    title: (record) => record.title,
    [kind === 'dockets' ? 'docketId' : 'documentId']: (record) => record.id,
    ...(kind === 'dockets' ? {} : { postedDate: (record: InventedRecord) => record.postedMs }),
  }
  const steps: { readonly value: (record: InventedRecord) => number | string; readonly sign: number }[] = []
  for (const field of sort.split(',')) {
    const value = values[field.replace(/^-/, '')]
    if (value === undefined) return `sort by ${field} is not supported`
    steps.push({ value, sign: field.startsWith('-') ? -1 : 1 })
  }
  return (a, b) => {
    for (const { value, sign } of steps) {
      const [left, right] = [value(a), value(b)]
      if (left !== right) return left < right ? -sign : sign
    }
    return 0
  }
}

function fromEastern(text: string, repeatedHour: RepeatedHour): number | undefined {
  if (!/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text)) return undefined
  const asUtcMs = Date.parse(`${text.replace(' ', 'T')}Z`)
  if (Number.isNaN(asUtcMs)) return undefined
  const readings = [asUtcMs + 4 * 3_600_000, asUtcMs + 5 * 3_600_000].filter(
    (atMs) => easternTime(atMs) === text,
  )
  // The hour that is left out in spring has no reading; take it as if the clocks had not moved yet.
  return (repeatedHour === 'first' ? readings[0] : readings.at(-1)) ?? asUtcMs + 5 * 3_600_000
}

function integer(text: string | null, otherwise: number): number {
  if (text === null) return otherwise
  return /^\d+$/.test(text) ? Number(text) : Number.NaN
}
