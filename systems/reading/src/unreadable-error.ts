/**
 * Why a document cannot be read: `damaged` (or not of its format), `encrypted`, `too-many-pages`, `took-too-long`,
 * `took-too-much-memory`, or `parser-failed` for whatever else a parser may do.
 */
export type UnreadableReason =
  | 'damaged'
  | 'encrypted'
  | 'too-many-pages'
  | 'took-too-long'
  | 'took-too-much-memory'
  | 'parser-failed'

/** A document that cannot be read, however often it is tried. The message quotes nothing of it. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
  readonly code = 'E_UNREADABLE'
  readonly reason: UnreadableReason

  constructor(reason: UnreadableReason, what: string) {
    super(what)
    this.reason = reason
  }
}

/** No process can read the document now: too many others wait, or none could be started. It was not looked at. */
export class NoReaderError extends Error {
  override readonly name = 'NoReaderError'
  readonly code = 'E_NO_READER'
}
