import { pdfText } from '@keyspec-systems/reading/pdf'
import { htmlText } from './html-text.ts'

/**
 * The text of a file that a reader would see, for those formats that hold it as text: plain text, HTML without its tags,
 * scripts and styles, and the text layer of a PDF. `undefined` for any other format: those need a program of their own.
 */
export async function extractText(name: string, body: Uint8Array): Promise<string | undefined> {
  const extension = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase()
  if (extension === 'pdf') return pdfText(body)
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
  if (extension === 'txt') return text
  return extension === 'htm' || extension === 'html' ? htmlText(text) : undefined
}
