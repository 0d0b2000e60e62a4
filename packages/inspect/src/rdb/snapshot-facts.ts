/** What is looked for in a snapshot. */
export interface SnapshotOptions {
  /** The number of the database; 0 unless told. */
  readonly database?: number | undefined
  /** Only keys whose bytes begin with this text. */
  readonly prefix?: string | undefined
  /** How many bytes of a value are kept with its key; none unless told. */
  readonly valueBytes?: number | undefined
}

/** What is known of a snapshot beside its keys, as far as it has been read. */
export interface SnapshotFacts {
  /** What wrote it, `Redis 7.0.15`; `undefined` where it does not say. */
  server: string | undefined
  /** The version of the format. */
  format: number
  /** When it was taken, in ms since the epoch, whole seconds; `undefined` where it does not say. */
  takenAtMs: number | undefined
  /** How many keys the database had, those that had run out among them; 0 where it does not say. */
  size: number
  /** Keys of the database that had run out when it was taken: they are gone, and not shown. */
  expired: number
  /** Keys of other databases. */
  elsewhere: number
  /** How many bytes have been read. */
  bytes: number
}
