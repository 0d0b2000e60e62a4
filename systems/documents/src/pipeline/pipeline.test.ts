import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { canonicalize } from './canonicalize.ts'
import { chunkText } from './chunk.ts'
import { extractMentions } from './extract-mentions.ts'
import { extractText, type ExtractOptions, type SourceDocument } from './extract.ts'
import { commandOcr } from './ocr.ts'
import { openReader } from './reader.ts'
import { resolveMentions } from './resolve-mentions.ts'

const tesseract = 'tesseract'
const hasTesseract = spawnSync(tesseract, ['--version']).status === 0

const reader = openReader()
afterAll(() => reader.close())

describe('a document through all stages', () => {
  let minutes: Awaited<ReturnType<typeof processed>>

  beforeAll(async () => {
    minutes = await processed('harbor-minutes.txt')
  })

  test('is read, cut, and its names are found where they stand', () => {
    const { read, mentions } = minutes
    for (const { text, start, end } of mentions) {
      expect(read.text.slice(start, end).replaceAll(/\s+/g, ' ')).toBe(text)
    }
    const found = (type: string) => [
      ...new Set(mentions.filter((each) => each.type === type).map((each) => each.normal)),
    ]
    expect(found('DATE')).toEqual([
      '2024-02-12',
      '2024-01-30',
      '2024-03-15',
      '2021-03-03',
      '2024-06',
      '2025-12',
    ])
    expect(found('MONEY')).toEqual(['USD 1250000', 'USD 625000', 'EUR 40000'])
    expect(found('LOCATION')).toEqual(expect.arrayContaining(['Lisbon Street', 'Boston', 'Massachusetts']))
    expect(found('ORG')).toEqual(expect.arrayContaining(['quillon batteries', 'harborview shipping', 'nha']))
  })

  test('gives a person one entity for all spellings of the name, and an acronym its organization', () => {
    expect(names(minutes, 'Dr. Anil K. Mehta')).toEqual(['anil k mehta', 'anil mehta', 'mehta'])
    expect(names(minutes, 'Ms. Ilse Brandvold')).toEqual(['ilse brandvold', 'i brandvold', 'brandvold'])
    expect(names(minutes, 'National Harbor Authority')).toEqual(['national harbor authority', 'nha'])
  })

  test('has every mention resolved to an entity that counts it', () => {
    const { mentions, entities, resolved, unresolved } = minutes
    expect(unresolved).toEqual([])
    expect(resolved.map(({ mention_id }) => mention_id)).toEqual(mentions.map(({ mention_id }) => mention_id))
    for (const { canonical_id, mention_count } of entities) {
      expect(resolved.filter((each) => each.canonical_id === canonical_id)).toHaveLength(mention_count)
    }
  })

  test('comes out the same each time, and as JSON', async () => {
    const again = await processed('harbor-minutes.txt')
    expect(again).toEqual(minutes)
    expect(JSON.parse(JSON.stringify(again))).toEqual(minutes)
  })

  test('gives the same name the same id in another document', async () => {
    const order = await processed('court-order.pdf')
    const idOf = (of: typeof order, name: string) =>
      of.entities.find((each) => each.name === name)?.canonical_id
    expect(idOf(order, 'Quillon Batteries LLC')).toBe(idOf(minutes, 'Quillon Batteries LLC'))
  })
})

test('a name that two people share stays apart from both', async () => {
  const text = 'Dr. Ann Smith met Mr. Bob Smith in Boston on March 3, 2021. Smith left first.'
  const { entities } = await through({ ...source('note.txt'), bytes: Buffer.from(text) })
  expect(
    entities
      .filter(({ type }) => type === 'PERSON')
      .map(({ normal }) => normal)
      .toSorted(),
  ).toEqual(['ann smith', 'bob smith', 'smith'])
})

test('a name that wraps over a line is one name, and a heading is none of it', async () => {
  const { mentions } = await processed('court-order.pdf')
  expect(mentions.map(({ text }) => text)).toContain('Peter Hallström')
  expect(mentions.map(({ text }) => text)).toContain('National Harbor Authority')
  expect(mentions.filter(({ text }) => /MASSACHUSETTS|MEMORANDUM/.test(text))).toEqual([])
})

test('an empty document has nothing, in every stage', async () => {
  const { read, chunks, mentions, entities, resolved } = await through({
    ...source('empty.txt'),
    bytes: Buffer.alloc(0),
  })
  expect(read.pages).toEqual([{ page: 1, start: 0, end: 0, source: 'blank' }])
  expect([chunks, mentions, entities, resolved]).toEqual([[], [], [], []])
})

describe.runIf(hasTesseract)('an image of a text (needs tesseract)', () => {
  test('a scanned page is read, and what it names is found', { timeout: 120_000 }, async () => {
    const ocr = commandOcr([tesseract, 'stdin', 'stdout', '-l', 'eng'])
    const { read, mentions } = await processed('scanned-notice.pdf', { ocr })
    expect(read.pages.map((page) => page.source)).toEqual(['text', 'ocr'])
    expect(read.pages_needing_ocr).toEqual([])
    const normals = mentions.filter(({ start }) => start >= read.pages[1]!.start).map(({ normal }) => normal)
    expect(normals).toEqual(
      expect.arrayContaining(['national harbor authority', 'USD 120000', '2024-05-15', 'wen zhao']),
    )
  })
})

function source(name: string): SourceDocument {
  const media_type = name.endsWith('.pdf') ? 'application/pdf' : 'text/plain'
  return { document_uuid: '6f1f1a52-7a39-4f4f-8f4e-3f6a5c8f0001', name, media_type, bytes: new Uint8Array() }
}

async function processed(name: string, options: Partial<ExtractOptions> = {}) {
  const bytes = await readFile(fileURLToPath(new URL(`../../samples/${name}`, import.meta.url)))
  return through({ ...source(name), bytes }, options)
}

async function through(document: SourceDocument, options: Partial<ExtractOptions> = {}) {
  const read = await extractText(document, { reader, ...options })
  const pieces = await chunkText(read)
  const extracted = await extractMentions(pieces)
  const canonical = await canonicalize(extracted)
  const { resolved, unresolved } = await resolveMentions(extracted, canonical)
  const { mentions } = extracted
  return { read, chunks: pieces.chunks, mentions, entities: canonical.entities, resolved, unresolved }
}

function names({ entities }: Awaited<ReturnType<typeof through>>, name: string): string[] | undefined {
  return entities.find((each) => each.name === name)?.aliases.map(({ normal }) => normal)
}
