import { serveStandIn } from '@keyspec-systems/model/stand-in'
import * as v from 'valibot'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'

import { pdfOf, pdfStream } from '../../../../test-support/hostile-documents.ts'
import { openReader } from '../reading/reader.ts'
import { sample } from '../resource/sample.ts'
import { OcrEntry } from '../shape/cached.ts'
import { extractUpload, MAX_UPLOAD_BYTES } from './extract-text.ts'
import { openOcr } from './ocr.ts'

const reader = openReader()
afterAll(() => reader.close())

const none = { ocr: openOcr({}), reader }
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

/** A PDF with one line of text on each page, or none. */
function pdf(...lines: readonly string[]): Buffer {
  const pages = lines.map((_, at) => `${4 + 2 * at} 0 R`)
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${pages.join(' ')}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...lines.flatMap((line, at) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * at} 0 R >>`,
      pdfStream(Buffer.from(line === '' ? '' : `BT /F1 12 Tf 72 720 Td (${line}) Tj ET`)),
    ]),
  ])
}

const upload = (name: string, contentType: string, body: Uint8Array) => ({ name, contentType, body })

describe('an uploaded file', () => {
  test.each([
    ['moss.txt', 'text/plain; charset=utf-8', sample('moss-clocks.txt'), 'eight degrees', 'text/plain'],
    ['revolt.md', '', sample('lantern-revolt.md'), 'Ines Calloway', 'text/markdown'],
    ['page.html', 'text/html', sample('salt-roads.html'), 'Marta Oduya', 'text/html'],
    [
      'notes',
      'application/octet-stream',
      pdf('The tide turns the wheel', 'Page two'),
      'turns the wheel',
      'application/pdf',
    ],
  ])('%s gives its text', async (name, contentType, body, words, source) => {
    const entry = await extractUpload(upload(name, contentType, body), none)
    expect(v.parse(OcrEntry, entry)).toMatchObject({ confidence: 1, source })
    expect(entry.text).toContain(words)
  })

  test('keeps the pages of a PDF apart', async () => {
    expect((await extractUpload(upload('a.pdf', '', pdf('One', 'Two')), none)).text).toBe('One\n\nTwo')
  })

  test.each([
    ['scan.pdf', 'application/pdf', pdf(''), 'empty'],
    ['broken.pdf', 'application/pdf', Buffer.from('%PDF-1.4 and then nothing'), 'damaged'],
    ['song.mp3', 'audio/mpeg', Buffer.from('x'), 'unsupported'],
    ['unknown', '', Buffer.from('x'), 'unsupported'],
    ['blank.txt', 'text/plain', Buffer.from(' \n'), 'empty'],
    ['photo.png', 'image/png', png, 'not-configured'],
    ['photo.txt', 'text/plain', png, 'not-configured'],
    ['large.txt', 'text/plain', new Uint8Array(MAX_UPLOAD_BYTES + 1), 'too-large'],
  ])('%s is refused as what it is', async (name, contentType, body, reason) => {
    await expect(extractUpload(upload(name, contentType, body), none)).rejects.toMatchObject({
      code: 'E_UPLOAD',
      reason,
    })
  })

  test('that is an image is read where an OCR is configured', async () => {
    let got: { type: string | undefined; bytes: number } | undefined
    const standIn = await serveStandIn('stand-in for an OCR service', ({ headers, body }) => {
      got = { type: headers['content-type'], bytes: body.length }
      return { body: { text: 'LOW TIDE 14:05', confidence: 0.93 } }
    })
    onTestFinished(() => standIn.close())
    const ocr = openOcr({ OCR_URL: `${standIn.url}/read` }, { sleep: async () => {} })
    standIn.fail({ fault: 'limited', retryAfterSeconds: 1 })
    const entry = await extractUpload(upload('photo.png', '', png), { ocr, reader })
    expect(v.parse(OcrEntry, entry)).toMatchObject({ text: 'LOW TIDE 14:05', confidence: 0.93 })
    expect(got).toEqual({ type: 'image/png', bytes: png.length })
  })
})
