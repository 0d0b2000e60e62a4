import * as v from 'valibot'

import type { Docket } from '../upstream/docket.ts'

/** A docket as it is stored: put in order, with nulls where nothing is known. */
export const DocketRecord = v.strictObject({
  docket_id: v.pipe(v.string(), v.regex(/^[1-9]\d*$/)),
  docket_number: v.nullable(v.string()),
  /** What a docket number of a federal district court says: `1:16-cv-00745`. */
  case_number: v.nullable(
    v.strictObject({
      office: v.nullable(v.string()),
      year: v.pipe(v.number(), v.integer()),
      type: v.string(),
      serial: v.pipe(v.number(), v.integer()),
    }),
  ),
  case_name: v.nullable(v.string()),
  /** Both sides, where the case's name has two. */
  sides: v.nullable(v.strictObject({ first: v.string(), second: v.string() })),
  court_id: v.string(),
  date_filed: v.nullable(v.pipe(v.string(), v.isoDate())),
  date_terminated: v.nullable(v.pipe(v.string(), v.isoDate())),
  date_last_filing: v.nullable(v.pipe(v.string(), v.isoDate())),
  is_open: v.boolean(),
  /** From filing to termination. */
  days_open: v.nullable(v.pipe(v.number(), v.integer())),
  nature_of_suit: v.nullable(v.string()),
  cause: v.nullable(v.string()),
  jury_demand: v.nullable(v.string()),
  jurisdiction: v.nullable(v.string()),
  assigned_to: v.nullable(v.string()),
  referred_to: v.nullable(v.string()),
  pacer_case_id: v.nullable(v.string()),
  url: v.pipe(v.string(), v.url()),
  date_modified: v.string(),
})

/** A docket as it is stored. */
export type DocketRecord = v.InferOutput<typeof DocketRecord>

/** Puts a docket in order for storage. */
export function recordOf(docket: Docket): DocketRecord {
  const caseName = known(docket.case_name) ?? known(docket.case_name_full)
  const { date_filed, date_terminated } = docket
  return v.parse(DocketRecord, {
    docket_id: String(docket.id),
    docket_number: known(docket.docket_number),
    case_number: caseNumberOf(docket.docket_number ?? ''),
    case_name: caseName,
    sides: sidesOf(caseName ?? ''),
    court_id: docket.court_id,
    date_filed,
    date_terminated,
    date_last_filing: docket.date_last_filing,
    is_open: date_terminated === null,
    days_open:
      date_filed === null || date_terminated === null ? null : daysBetween(date_filed, date_terminated),
    nature_of_suit: known(docket.nature_of_suit),
    cause: known(docket.cause),
    jury_demand: docket.jury_demand === 'None' ? null : known(docket.jury_demand),
    jurisdiction: known(docket.jurisdiction_type),
    assigned_to: known(docket.assigned_to_str),
    referred_to: known(docket.referred_to_str),
    pacer_case_id: known(docket.pacer_case_id),
    url: new URL(docket.absolute_url, site).href,
    date_modified: docket.date_modified,
  })
}

// `absolute_url` is a path on the site, wherever the API was asked.
const site = 'https://www.courtlistener.com'

function known(text: string | null): string | null {
  const trimmed = (text ?? '').replaceAll(/\s+/g, ' ').trim()
  return trimmed === '' ? null : trimmed
}

function caseNumberOf(text: string): DocketRecord['case_number'] {
  const match = /^(?:(\d+):)?(\d{2}|\d{4})-([a-z]{2,4})-(\d+)/i.exec(text.trim())
  if (match === null) return null
  const [, office, year, type, serial] = match as unknown as [
    string,
    string | undefined,
    string,
    string,
    string,
  ]
  return { office: office ?? null, year: fullYear(year), type: type.toLowerCase(), serial: Number(serial) }
}

// PACER's oldest cases are of the fifties.
function fullYear(year: string): number {
  const number = Number(year)
  if (year.length === 4) return number
  return number < 50 ? 2000 + number : 1900 + number
}

function sidesOf(caseName: string): DocketRecord['sides'] {
  const [first, second, ...more] = caseName.split(/\svs?\.\s/i).map((side) => side.trim())
  return first && second && more.length === 0 ? { first, second } : null
}

function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000)
}
