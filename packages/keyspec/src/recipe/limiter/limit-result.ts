/** Who decided: Redis; the policy declared in `unreachable`, since Redis could not be asked; nobody, the limiter is off. */
export type LimitSource = 'redis' | 'unreachable' | 'disabled'

interface Told {
  /** How much may be taken in `perMs`. */
  readonly limit: number
  readonly perMs: number
  /** How much of the limit is left now. */
  readonly remaining: number
  /** In how many ms the whole limit is free again, if nothing more is taken; 0 when it is free now. */
  readonly resetMs: number
  readonly from: LimitSource
}

/** What became of a take. One that is refused took nothing, and `retryAfterMs` says when as much would be free. */
export type LimitResult =
  | (Told & { readonly allowed: true })
  | (Told & { readonly allowed: false; readonly retryAfterMs: number })

/** How a limiter stands, as `peek` sees it. */
export type LimitState = Told
