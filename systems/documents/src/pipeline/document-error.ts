import type { UnreadableError, UnreadableReason } from '@keyspec-systems/reading'

/** Why a document cannot be read: it will not be read by trying again. */
export type DocumentFlaw = Exclude<UnreadableReason, 'damaged'> | 'not-a-pdf' | 'not-text' | 'too-large'

/** A document that cannot be read, with a sentence for the one who sent it. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError'
  readonly code = 'E_DOCUMENT'
  readonly flaw: DocumentFlaw

  constructor(flaw: DocumentFlaw, what: string, cause?: unknown) {
    super(what, cause === undefined ? {} : { cause })
    this.flaw = flaw
  }
}

/** What a reader found, as a flaw of the document; `damaged` is the flaw of a damaged one. */
export function flawOf(error: UnreadableError, damaged: DocumentFlaw): DocumentError {
  return new DocumentError(error.reason === 'damaged' ? damaged : error.reason, error.message, error)
}
