/** A film of the catalogue; what the data does not say is undefined. */
export interface Film {
  /** The internal id: the place in the data set, from 1. */
  readonly id: number
  readonly title: string
  /** `YYYY-MM-DD`. */
  readonly releaseDate: string
  readonly year: number
  readonly genres: readonly string[]
  readonly director: string | undefined
  readonly distributor: string | undefined
  /** Such as `Original Screenplay` or `Based on Play`. */
  readonly source: string | undefined
  /** Such as `Historical Fiction`. */
  readonly creativeType: string | undefined
  readonly maturity: Maturity | undefined
  readonly runtimeMinutes: number | undefined
  /** Rotten Tomatoes: percent of critics in favour. */
  readonly criticsPercent: number | undefined
  /** IMDb: from 1 to 10. */
  readonly rating: number | undefined
  readonly votes: number | undefined
  readonly budgetDollars: number | undefined
  readonly grossDollars: number | undefined
}

/** The American ratings, the mildest first. */
export const maturities = ['G', 'PG', 'PG-13', 'R', 'NC-17'] as const

/** An American rating. */
export type Maturity = (typeof maturities)[number]
