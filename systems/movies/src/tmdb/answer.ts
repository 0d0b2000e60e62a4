import * as v from 'valibot'

const text = v.nullish(v.string())
const name = v.object({ name: v.string() })

/** One film in a list of TMDB's. */
const ListedMovie = v.object({
  id: v.number(),
  title: v.string(),
  original_title: text,
  release_date: text,
})

/** `GET /search/movie` and `GET /trending/movie/day`. */
export const MovieList = v.object({ results: v.array(ListedMovie) })

/** `GET /movie/<id>?append_to_response=credits`, as far as we read it. */
export const RawMovie = v.object({
  title: v.string(),
  overview: text,
  tagline: text,
  release_date: text,
  runtime: v.nullish(v.number()),
  genres: v.optional(v.array(name), []),
  production_companies: v.optional(v.array(name), []),
  spoken_languages: v.optional(v.array(v.object({ english_name: text, name: text })), []),
  budget: v.nullish(v.number()),
  revenue: v.nullish(v.number()),
  poster_path: text,
  backdrop_path: text,
  credits: v.object({
    cast: v.array(v.object({ name: v.string(), character: text, order: v.optional(v.number(), 999) })),
    crew: v.array(v.object({ name: v.string(), job: v.string() })),
  }),
})

/** `GET /movie/<id>?append_to_response=credits`, as far as we read it. */
export type RawMovie = v.InferOutput<typeof RawMovie>
