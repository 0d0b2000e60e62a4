import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import type { PageImage } from '@keyspec-systems/reading/pdf'
import { afterAll, describe, expect, test } from 'vitest'

import { DocumentError } from './document-error.ts'
import { extractText } from './extract.ts'
import { openReader } from './reader.ts'
import { commandOcr, ocrFrom, OcrError, pnm } from './ocr.ts'

const reader = openReader()
afterAll(() => reader.close())

describe('a PDF', () => {
  test('gives its text layer, page after page', async () => {
    const read = await extractText(await sample('court-order.pdf'), { reader })
    expect(read.pages.map(({ page, source }) => [page, source])).toEqual([
      [1, 'text'],
      [2, 'text'],
    ])
    const [first, second] = read.pages.map(({ start, end }) => read.text.slice(start, end))
    expect(first).toMatch(/^UNITED STATES DISTRICT COURT\n/)
    expect(first).toContain('MEMORANDUM AND ORDER\n\nJudge Margaret L. Osei.')
    expect(second).toMatch(/on February 20, 2024\.$/)
  })

  test('says which page needs OCR, where none is configured', async () => {
    const read = await extractText(await sample('scanned-notice.pdf'), { reader })
    expect(read.pages.map((page) => page.source)).toEqual(['text', 'needs-ocr'])
    expect(read.pages_needing_ocr).toEqual([2])
  })

  test('gives the pixels of a scanned page to the OCR that is configured, and takes its text', async () => {
    const seen: PageImage[] = []
    const ocr = {
      name: 'test',
      read: async (image: PageImage) => {
        seen.push(image)
        return 'National Har-\r\nbor Authority\f'.replace('Har-', 'har-')
      },
    }
    const read = await extractText(await sample('scanned-notice.pdf'), { reader, ocr })
    expect(read.pages[1]).toMatchObject({ source: 'ocr' })
    expect(read.text.slice(read.pages[1]!.start)).toBe('National harbor Authority')
    expect(seen.map(({ pixels, ...image }) => [image, pixels.length])).toEqual([
      [{ width: 1240, height: 1755, channels: 1 }, 1240 * 1755],
    ])
    const dark = seen[0]!.pixels.filter((pixel) => pixel === 0).length / seen[0]!.pixels.length
    expect(dark).toBeGreaterThan(0.005)
    expect(dark).toBeLessThan(0.2)
  })

  test.each([
    ['nonsense', 'not-a-pdf'],
    ['%PDF-1.7\nnonsense', 'not-a-pdf'],
    ['', 'not-a-pdf'],
  ])('that is %j is refused as %s', async (text, flaw) => {
    const error = await extractText({ ...of('x.pdf'), bytes: Buffer.from(text) }, { reader }).catch(
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(DocumentError)
    expect(error).toMatchObject({ flaw })
  })

  test('with more pages than allowed is refused, and the bytes stay the caller’s', async () => {
    const document = await sample('court-order.pdf')
    const length = document.bytes.length
    await expect(extractText(document, { reader, maxPages: 1 })).rejects.toThrow('2 pages, more than 1')
    expect(document.bytes).toHaveLength(length)
  })
})

describe('a text', () => {
  test('has pages where it has form feeds, and its lines put in order', async () => {
    const read = await extractText(
      {
        ...of('a.txt'),
        bytes: Buffer.from('One  \r\ntwo-\nfold\u0000'.replace('\0', '') + '\f\f Three'),
      },
      { reader },
    )
    expect(read.text).toBe('One\ntwofold\n\n\n\nThree')
    expect(read.pages.map((page) => page.source)).toEqual(['text', 'blank', 'text'])
    expect(read.pages_needing_ocr).toEqual([])
  })

  test('may be UTF-16, and is refused when it is no text', async () => {
    const utf16 = Buffer.from('\ufeffGrüße', 'utf16le')
    expect((await extractText({ ...of('a.txt'), bytes: utf16 }, { reader })).text).toBe('Grüße')
    for (const bytes of [Buffer.from([0xff, 0xd8, 0x80]), Buffer.from('a\0b')]) {
      await expect(extractText({ ...of('a.txt'), bytes }, { reader })).rejects.toMatchObject({
        flaw: 'not-text',
      })
    }
  })
})

describe('an OCR program', () => {
  const image: PageImage = { width: 2, height: 1, channels: 1, pixels: Uint8Array.of(0, 255) }
  const script = (code: string) => commandOcr([process.execPath, '-e', code], { timeoutMs: 20_000 })

  test('gets the picture on its input, and its output is the text', async () => {
    const echo = script(
      `process.stdin.toArray().then((all) => console.log(Buffer.concat(all).toString('hex')))`,
    )
    expect((await echo.read(image)).trim()).toBe(pnm(image).toString('hex'))
    expect(pnm(image).toString('latin1')).toBe('P5\n2 1\n255\n\x00\xff')
    expect(pnm({ ...image, channels: 3 }).toString('latin1')).toMatch(/^P6/)
  })

  test('that fails or is not there is an error that says so', async () => {
    const failing = script(`console.error('no such language'); process.exit(3)`).read(image)
    await expect(failing).rejects.toThrow('ended with status 3: no such language')
    await expect(failing).rejects.toBeInstanceOf(OcrError)
    await expect(commandOcr(['no-such-program-here']).read(image)).rejects.toThrow('could not be started')
  })

  test('that takes too long is killed', async () => {
    const endless = commandOcr([process.execPath, '-e', 'setInterval(() => {}, 1000)'], { timeoutMs: 200 })
    await expect(endless.read(image)).rejects.toThrow('SIGKILL, perhaps after 200 ms')
  })

  test('is the one that OCR_COMMAND names', () => {
    expect(ocrFrom({})).toBeUndefined()
    expect(ocrFrom({ OCR_COMMAND: ' ' })).toBeUndefined()
    expect(ocrFrom({ OCR_COMMAND: 'tesseract stdin stdout -l eng' })?.name).toBe('tesseract')
  })
})

// Either took seconds to minutes while regular expressions looked for the ends of lines.
test.each([
  [
    'spaces within a line',
    `a${' '.repeat(400_000)}b${' '.repeat(400_000)}\nc`,
    `a${' '.repeat(400_000)}b\nc`,
  ],
  ['one line without an end', 'a'.repeat(800_000), 'a'.repeat(800_000)],
])('a text of %s is read at once', async (_, text, expected) => {
  const read = await extractText({ ...of('a.txt'), bytes: Buffer.from(text) }, { reader })
  expect(read.text === expected).toBe(true)
})

function of(name: string) {
  const media_type = name.endsWith('.pdf') ? ('application/pdf' as const) : ('text/plain' as const)
  return { document_uuid: 'd1', name, media_type }
}

async function sample(name: string) {
  return {
    ...of(name),
    bytes: await readFile(fileURLToPath(new URL(`../../samples/${name}`, import.meta.url))),
  }
}
