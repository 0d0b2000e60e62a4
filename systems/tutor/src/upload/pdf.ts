import { extractText, getDocumentProxy } from 'unpdf'

import { UploadError } from './upload-error.ts'

/** The text layer of a PDF, its pages apart by blank lines; empty for a PDF of images alone. */
export async function pdfText(body: Uint8Array): Promise<string> {
  try {
    // The library takes the buffer over, so it gets its own.
    const { text } = await extractText(await getDocumentProxy(Uint8Array.from(body), { verbosity: 0 }))
    return text
      .map((page) => page.trim())
      .filter((page) => page !== '')
      .join('\n\n')
  } catch (cause) {
    throw new UploadError('damaged', 'The PDF cannot be read: it is damaged or locked', cause)
  }
}
