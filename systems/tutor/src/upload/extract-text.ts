import type { OcrEntry } from '../shape/cached.ts'
import { UnreadableError } from '@keyspec-systems/reading'
import type { Reader } from '../reading/reader.ts'
import { decodeText } from '../web/decode.ts'
import type { Ocr } from './ocr.ts'
import { UploadError } from './upload-error.ts'

/** A file as it was uploaded. */
export interface Upload {
  readonly name: string
  readonly contentType: string
  readonly body: Uint8Array
}

/** 10 MiB: what a page of notes or a chapter takes, not a library. */
export const MAX_UPLOAD_BYTES = 10 * 1024 * 1024

/** The text of an uploaded file: text, Markdown and HTML as they are, PDF by its text layer, images through OCR. */
export async function extractUpload(
  { name, contentType, body }: Upload,
  { ocr, reader }: { readonly ocr: Ocr; readonly reader: Reader },
  signal?: AbortSignal,
): Promise<OcrEntry> {
  if (body.byteLength > MAX_UPLOAD_BYTES) {
    throw new UploadError('too-large', `${name} has ${body.byteLength} bytes, more than ${MAX_UPLOAD_BYTES}`)
  }
  const type = typeOf(name, contentType, body)
  if (type.startsWith('image/')) return ocr.recognise(body, type, signal)
  const text = (await textOf(type, { name, contentType, body }, reader, signal)).trim()
  if (text !== '') return { text, confidence: 1, source: type }
  throw new UploadError(
    'empty',
    `${name} has no text in it${type === 'application/pdf' ? ': a scan needs OCR' : ''}`,
  )
}

async function textOf(
  type: string,
  { name, contentType, body }: Upload,
  reader: Reader,
  signal: AbortSignal | undefined,
): Promise<string> {
  try {
    if (type === 'application/pdf') return await reader.read('pdf', [body], { signal })
    if (type === 'text/html')
      return (await reader.read('html', [decodeText(body, contentType)], { signal })).content
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    throw new UploadError(error.reason, `${name} cannot be read: ${error.message}`, error)
  }
  if (type === 'text/plain' || type === 'text/markdown') return decodeText(body, contentType)
  throw new UploadError(
    'unsupported',
    `Files of the type ${type} cannot be read: text, Markdown, HTML, PDF and images can`,
  )
}

const byExtension: Readonly<Record<string, string>> = {
  txt: 'text/plain',
  md: 'text/markdown',
  markdown: 'text/markdown',
  html: 'text/html',
  htm: 'text/html',
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
}

/** What a file is: by its first bytes, which do not lie, then by what the client says, then by its name. */
function typeOf(name: string, contentType: string, body: Uint8Array): string {
  const start = Buffer.from(body.subarray(0, 8)).toString('latin1')
  if (start.startsWith('%PDF-')) return 'application/pdf'
  if (start.startsWith('\x89PNG')) return 'image/png'
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  const said = contentType.split(';')[0]!.trim().toLowerCase()
  if (said !== '' && said !== 'application/octet-stream') return said
  return byExtension[/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? ''] ?? 'application/octet-stream'
}
