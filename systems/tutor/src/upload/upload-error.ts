/**
 * Why a file could not be read: `unsupported` (no such type), `not-configured` (an image, and no OCR), `damaged`,
 * `empty` (no text in it), `too-large`.
 */
export type UploadReason = 'unsupported' | 'not-configured' | 'damaged' | 'empty' | 'too-large'

/** An uploaded file that could not be read. */
export class UploadError extends Error {
  override readonly name = 'UploadError'
  readonly code = 'E_UPLOAD'
  readonly reason: UploadReason

  constructor(reason: UploadReason, what: string, cause?: unknown) {
    super(what, cause === undefined ? {} : { cause })
    this.reason = reason
  }
}
