import type { InventedDocket } from './invented-docket.ts'

/** What a query selects: one page, and where the ones beside it begin. */
export interface Selected {
  readonly page: readonly InventedDocket[]
  readonly next: string | undefined
  readonly previous: string | undefined
}

/** A query that the API would refuse. */
export interface Refused {
  readonly status: 400 | 404
  readonly detail: string
}

// The API's own; no parameter changes it.
const pageSize = 20

/** The dockets that a query of `/dockets/` selects, as the API filters, orders and pages them. */
export function select(dockets: readonly InventedDocket[], query: URLSearchParams): Selected | Refused {
  let selected = dockets
  for (const [name, value] of query) {
    if (['cursor', 'order_by', 'format', 'count'].includes(name)) continue
    const matches = filterOf(name, value)
    // The API itself passes over a filter that it does not know, and lists everything: here a misspelling shows.
    if (matches === undefined) return { status: 400, detail: `The stand-in knows no filter ${name}=${value}` }
    selected = selected.filter(matches)
  }
  const ordered = order(selected, query.get('order_by') ?? '-id')
  if (ordered === undefined)
    return { status: 400, detail: 'The stand-in orders by id, date_modified or date_filed' }
  const start = positionOf(query.get('cursor'))
  if (start === undefined) return { status: 404, detail: 'Invalid cursor' }
  const end = start + pageSize
  return {
    page: ordered.slice(start, end),
    next: end < ordered.length ? cursorAt(end) : undefined,
    previous: start > 0 ? cursorAt(Math.max(0, start - pageSize)) : undefined,
  }
}

type Matches = (docket: InventedDocket) => boolean

function filterOf(name: string, value: string): Matches | undefined {
  const [field = '', lookup = 'exact'] = name.split('__')
  if (name === 'court' || name === 'court__id') return ({ court_id }) => court_id === value
  if (field === 'docket_number' && lookup === 'exact') return ({ docket_number }) => docket_number === value
  if (field === 'id') return compared(lookup, value.split(',').map(Number), ({ id }) => id)
  if (field === 'date_filed' || field === 'date_terminated')
    return compared(lookup, value.split(','), (d) => d[field])
  // Moments stand in one time zone here, so that their texts are ordered as they are.
  if (field === 'date_modified') return compared(lookup, [value], ({ date_modified }) => date_modified)
  return undefined
}

function compared<T extends number | string>(
  lookup: string,
  [first, last]: readonly (T | undefined)[],
  read: (docket: InventedDocket) => T | null,
): Matches | undefined {
  if (first === undefined || Number.isNaN(first)) return undefined
  const known = (matches: (value: T) => boolean): Matches => {
    return (docket) => {
      const value = read(docket)
      return value !== null && matches(value)
    }
  }
  if (lookup === 'exact') return known((value) => value === first)
  if (lookup === 'gt') return known((value) => value > first)
  if (lookup === 'gte') return known((value) => value >= first)
  if (lookup === 'lt') return known((value) => value < first)
  if (lookup === 'lte') return known((value) => value <= first)
  if (lookup !== 'range' || last === undefined) return undefined
  return known((value) => value >= first && value <= last)
}

function order(dockets: readonly InventedDocket[], by: string): InventedDocket[] | undefined {
  const field = by.replace(/^-/, '')
  if (field !== 'id' && field !== 'date_modified' && field !== 'date_filed') return undefined
  const sign = by.startsWith('-') ? -1 : 1
  return dockets.toSorted((a, b) => {
    const [left, right] = [a[field], b[field]]
    if (left === right) return sign * (a.id - b.id)
    return left < right ? -sign : sign
  })
}

// An opaque text, as the API's cursor is; the API's own holds a value of the field that is ordered by.
function cursorAt(position: number): string {
  return Buffer.from(`p=${position}`).toString('base64url')
}

function positionOf(cursor: string | null): number | undefined {
  if (cursor === null) return 0
  const position = /^p=(\d+)$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1]
  return position === undefined ? undefined : Number(position)
}
