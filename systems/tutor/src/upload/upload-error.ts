import type { UnreadableReason } from '@keyspec-systems/reading'

/**
 * Why a file could not be read: `unsupported` (no such type), `not-configured` (an image, and no OCR), `empty` (no text in
 * it), `too-large`, or what its reader found.
 */
export type UploadReason = 'unsupported' | 'not-configured' | 'empty' | 'too-large' | UnreadableReason

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
