import type { Crowd } from './crowd.ts'
import type { BenchServer } from './server.ts'

/** One run of one contender in one case. */
export interface Tried {
  readonly contender: string
  readonly case: string
  readonly figures: Figures
}

/** A comparison that is no loop: each contender makes a whole run of its own, counted in figures of its own. */
export interface Trial {
  readonly name: string
  /** What is tried, for the report. */
  readonly about: string
  readonly figures: { readonly [name: string]: Figure }
  readonly cases: readonly string[]
  /** The cases of a quick look; all unless said. */
  readonly quick?: readonly string[]
  /** The cases of a run that was told to take its time. */
  readonly huge?: readonly string[]
  /** The most rounds that it is worth; as many as a job has unless said. */
  readonly rounds?: number
  readonly contenders: { readonly [name: string]: Trier }
  readonly targets: readonly TrialTarget[]
  /** Its cases are steps of one size: the report shows how figures grow, a line for each size, and as pictures. */
  readonly grows?: Growth
}

/** What grows from case to case. */
export interface Growth {
  /** Of what there is more: `keys`. */
  readonly by: string
  readonly sizes: { readonly [name: string]: number }
  /** The figures worth a picture. */
  readonly drawn: readonly string[]
}

/** One thing that is counted in a run. */
export interface Figure {
  readonly label: string
  readonly unit?: string
}

/** What a run came to, figure by figure. */
export type Figures = { readonly [figure: string]: number }

/** A contender of a trial. */
export interface Trier {
  readonly label: string
  /** Makes one run from its beginning to its end; `undefined` where it has no such case. */
  run(name: string, context: TrialContext): Promise<Figures | undefined>
}

/** What a run may use; all of it ends with the run. */
export interface TrialContext {
  /** The core that client and server share where they are to share one; absent where nothing can be pinned. */
  readonly core: number | undefined
  readonly quick: boolean
  server(): Promise<BenchServer>
  /** Processes that do one thing at the same time. */
  crowd: typeof Crowd.gather
}

/** What is promised of one figure in one case: as it is, or divided by the best of the others, or by itself in another case. */
export interface TrialTarget {
  readonly case: string
  readonly figure: string
  readonly ours: string
  readonly against?: readonly string[]
  readonly againstCase?: string
  readonly atLeast?: number
  readonly atMost?: number
  /** In every round, where otherwise the median counts. */
  readonly always?: true
}
