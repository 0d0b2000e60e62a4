import * as v from 'valibot'

// Empty texts stand for what is not known, and fields come and go with the API's versions.
const text = v.optional(v.nullable(v.string()), null)
const day = v.optional(v.nullable(v.pipe(v.string(), v.isoDate())), null)

/** A docket in the shape of `/api/rest/v4/dockets/<id>/`: what is used of it, and the rest as it came. */
export const Docket = v.looseObject({
  id: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** The URL of the court; its id is in `court_id`. */
  court: v.string(),
  court_id: v.pipe(v.string(), v.nonEmpty()),
  docket_number: text,
  case_name: text,
  case_name_full: text,
  absolute_url: v.string(),
  date_filed: day,
  date_terminated: day,
  date_last_filing: day,
  date_modified: v.string(),
  nature_of_suit: text,
  cause: text,
  jury_demand: text,
  jurisdiction_type: text,
  assigned_to_str: text,
  referred_to_str: text,
  pacer_case_id: text,
})

/** A docket, validated. */
export type Docket = v.InferOutput<typeof Docket>

/** One page of `/api/rest/v4/dockets/`. In version 4 `count` is the URL to ask for it, not a number. */
export const DocketList = v.looseObject({
  next: v.nullable(v.pipe(v.string(), v.url())),
  previous: v.nullable(v.string()),
  results: v.array(Docket),
})

/** What Django REST framework says when it refuses; an empty text when it says nothing. */
export function refusalIn(body: string): string {
  try {
    const parsed = v.safeParse(v.looseObject({ detail: v.string() }), JSON.parse(body))
    return parsed.success ? parsed.output.detail : ''
  } catch {
    return ''
  }
}
