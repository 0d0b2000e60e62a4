/** Why a document cannot be read: it will not be read by trying again. */
export type DocumentFlaw = 'not-a-pdf' | 'encrypted' | 'not-text' | 'too-many-pages'

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
