import * as v from 'valibot'

const text = v.nullable(v.string())
const count = v.nullable(v.pipe(v.number(), v.minValue(0)))

/** What `GET /movie/<id>` answers and what is kept: shaped by us, the same whoever the source is. */
export const MovieDetail = v.strictObject({
  id: v.pipe(v.number(), v.integer()),
  /** Where it comes from: `tmdb`, or `embedded:vega-datasets` with what the catalogue knows. */
  source: v.picklist(['tmdb', 'embedded:vega-datasets']),
  title: v.string(),
  overview: text,
  tagline: text,
  release_date: text,
  runtime_minutes: count,
  genres: v.array(v.string()),
  cast: v.array(v.strictObject({ name: v.string(), character: text })),
  crew: v.array(v.strictObject({ name: v.string(), job: v.string() })),
  production_companies: v.array(v.string()),
  spoken_languages: v.array(v.string()),
  budget_dollars: count,
  revenue_dollars: count,
  poster_path: text,
  backdrop_path: text,
})

/** What `GET /movie/<id>` answers and what is kept. */
export type MovieDetail = v.InferOutput<typeof MovieDetail>

/** Where details come from. */
export interface DetailSource {
  readonly name: MovieDetail['source']
  /** The detail of a film by its internal id; undefined for a film that the source does not have. */
  detail(id: number, signal?: AbortSignal): Promise<MovieDetail | undefined>
}
