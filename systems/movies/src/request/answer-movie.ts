import type { MovieDetail } from '../detail/movie-detail.ts'
import { foundOrNone, orWithout } from './cached.ts'
import type { Parts } from './parts.ts'

/** A film's detail, or `undefined` where the source has none, and whether it was known. */
export interface MovieAnswer {
  readonly detail: MovieDetail | undefined
  readonly cache: 'hit' | 'miss'
}

/** The detail of a film by its internal id: from the cache, or from the source, shaped before it is kept. */
export function answerMovie(
  { keys, catalogue, details, log }: Parts,
  id: number,
  signal?: AbortSignal,
): Promise<MovieAnswer> {
  // Neither a key nor a call to the source for what cannot be: anybody may ask for any number.
  if (catalogue.byId(id) === undefined) return Promise.resolve({ detail: undefined, cache: 'miss' })
  const cached = async (): Promise<MovieAnswer> => {
    const key = keys.movie({ id })
    const found = await foundOrNone(key.get())
    if (found !== undefined) return { detail: found, cache: 'hit' }
    const load = (until: AbortSignal) => details.detail(id, until)
    return { detail: await key.getOrLoad(load, signal === undefined ? {} : { signal }), cache: 'miss' }
  }
  return orWithout(log, cached, async () => ({ detail: await details.detail(id, signal), cache: 'miss' }))
}
