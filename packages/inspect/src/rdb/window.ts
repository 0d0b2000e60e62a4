/** The bytes of a snapshot that are at hand: where they begin in the whole, and how far they have been read. */
export interface Window {
  bytes: Buffer
  /** How far they have been read. */
  at: number
  /** Where in the snapshot they begin. */
  start: number
  /** How many bytes more are needed, at least, to go on. */
  missing: number
}
