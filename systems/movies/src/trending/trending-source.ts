/** Where the list of trending films comes from. */
export interface TrendingSource {
  readonly name: string
  /** Internal ids, the most trending first; empty where the source knows none. */
  fetch(signal?: AbortSignal): Promise<number[]>
}
