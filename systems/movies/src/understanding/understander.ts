import type { QueryUnderstanding } from './query-understanding.ts'

/** Turns a query into what to search for. The same query gives the same answer while `fingerprint` stays the same. */
export interface Understander {
  /** Names the model, `embedded:…` where there is none. */
  readonly model: string
  /** A digest of everything an answer depends on beside the query: prompts or rules, model, sampling, schema. */
  readonly fingerprint: string
  /** Fails as a whole or answers as a whole: there is no partial understanding. */
  understand(query: string, signal?: AbortSignal): Promise<QueryUnderstanding>
}
