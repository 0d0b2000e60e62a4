import type { DocketOutcome } from './docket-task.ts'

/** What a worker is told. */
export type ToWorker =
  | { readonly docket: string }
  | { readonly retry: string }
  /** Leaves what it is at, to be gone on with by the next run. */
  | { readonly stop: true }
  | { readonly end: true }

/** What a worker says. */
export type FromWorker =
  | { readonly said: 'ready' }
  | {
      readonly said: 'docket'
      readonly docketId: string
      readonly result: DocketOutcome
      readonly calls: Calls
    }
  | { readonly said: 'retried'; readonly recovered: readonly string[]; readonly calls: Calls }
  | { readonly said: 'error'; readonly error: string }

/** The calls of a worker so far. */
export interface Calls {
  readonly admitted: number
  readonly rejected: number
}
