import { createHash } from 'node:crypto'

import nlp from 'compromise'
import * as v from 'valibot'

import type { Chunk, Chunks } from './chunks.ts'
import { datesIn } from './date.ts'
import { placeOf, placesIn } from './gazetteer.ts'
import { ExtractedMentions, type Found, type Mention } from './mentions.ts'
import { moneyIn } from './money.ts'
import { acronymsIn, knownOrganizationsIn, organizationKey, organizationsIn } from './organization.ts'
import { knownPeopleIn, personName, titledPeopleIn } from './person.ts'
import type { Span } from './sentence.ts'

/** The third stage: who, what, where, when and how much a document names. The same document gives the same, always. */
export async function extractMentions(pieces: Chunks): Promise<ExtractedMentions> {
  const acronyms = new Set(pieces.chunks.flatMap(({ text }) => [...acronymsIn(text).keys()]))
  const inPieces = pieces.chunks.map((chunk) => new Claims(chunk))
  for (const claims of inPieces) claimNamed(claims, acronyms)
  const named = inPieces.flatMap(({ all, text }) =>
    all.map(({ type, normal, start, end }) => ({ type, normal, text: text.slice(start, end) })),
  )
  const people = named.flatMap(({ type, normal }) => (type === 'PERSON' ? (personName(normal) ?? []) : []))
  const organizations = named.flatMap(({ type, text }) => (type === 'ORG' ? text : []))
  for (const claims of inPieces) {
    claims.addAll('repeat', 'ORG', knownOrganizationsIn(claims.rest(), organizations))
    claims.addAll('repeat', 'PERSON', knownPeopleIn(claims.rest(), people))
  }
  const mentions = inPieces.flatMap(({ all, chunk }) =>
    all.map((found) => mentionOf(found, chunk, pieces.document_uuid)),
  )
  return v.parse(ExtractedMentions, { document_uuid: pieces.document_uuid, mentions: distinct(mentions) })
}

/** What is found in one piece: of two that overlap, the one that was there first. */
class Claims {
  readonly chunk: Chunk
  readonly text: string
  readonly all: Found[] = []

  constructor(chunk: Chunk) {
    this.chunk = chunk
    this.text = unwrapped(chunk.text)
  }

  add(found: Found): void {
    if (this.all.every(({ start, end }) => found.end <= start || end <= found.start)) this.all.push(found)
  }

  addAll(rule: Mention['rule'], type: Found['type'], spans: readonly Span[]): void {
    for (const { start, end } of spans) {
      const normal = normalOf(type, this.text.slice(start, end))
      if (normal !== '') this.add({ type, rule, normal, start, end })
    }
  }

  /** The text without what is claimed, at the same places. */
  rest(): string {
    let rest = this.text
    for (const { start, end } of this.all) {
      rest = rest.slice(0, start) + lineEnd.repeat(end - start) + rest.slice(end)
    }
    return rest
  }
}

// No rule takes it for white space, so no name goes over it.
const lineEnd = '\0'

/** The text with its lines joined, at the same places; a line much shorter than others was ended on purpose. */
function unwrapped(text: string): string {
  const lines = text.split('\n')
  const longest = lines.reduce((most, line) => Math.max(most, line.length), 0)
  const last = lines.pop()!
  return [...lines.map((line) => line + (line.length < longest * 0.6 ? lineEnd : ' ')), last].join('')
}

function claimNamed(claims: Claims, acronyms: ReadonlySet<string>): void {
  const { text } = claims
  for (const { iso, ...span } of datesIn(text))
    claims.add({ type: 'DATE', rule: 'date', normal: iso, ...span })
  for (const { sum, ...span } of moneyIn(text))
    claims.add({ type: 'MONEY', rule: 'money', normal: sum, ...span })
  claims.addAll('title', 'PERSON', titledPeopleIn(text))
  claims.addAll('designator', 'ORG', organizationsIn(claims.rest()))
  claims.addAll('acronym', 'ORG', acronymsOf(text, acronyms))
  for (const { place, ...span } of placesIn(claims.rest())) {
    claims.add({ type: 'LOCATION', rule: 'gazetteer', normal: place, ...span })
  }
  const read = nlp(text.replaceAll(lineEnd, '\n'))
  claims.addAll(
    'lexicon',
    'PERSON',
    spansOf(read.people(), text).filter((span) => isFullName(text, span)),
  )
  claims.addAll(
    'lexicon',
    'ORG',
    spansOf(read.organizations(), text).filter((span) => isProper(text, span)),
  )
  claims.addAll(
    'lexicon',
    'LOCATION',
    spansOf(read.places(), text).filter((span) => isProper(text, span)),
  )
}

function normalOf(type: Found['type'], text: string): string {
  if (type === 'ORG') return organizationKey(text)
  if (type === 'LOCATION') return placeOf(text) ?? text.replaceAll(/\s+/g, ' ')
  const name = personName(text)
  return name === undefined ? '' : [...name.given, name.family].join(' ')
}

function acronymsOf(text: string, acronyms: ReadonlySet<string>): Span[] {
  return [...text.matchAll(/(?<![\p{L}\p{N}])\p{Lu}{2,8}(?![\p{L}\p{N}])/gu)]
    .filter(([word]) => acronyms.has(word))
    .map((match) => ({ start: match.index, end: match.index + match[0].length }))
}

interface View {
  json(options: { offset: true }): unknown
}

/** Where the lexicon's finds stand, without the marks that it takes along. */
function spansOf(view: View, text: string): Span[] {
  const found = view.json({ offset: true }) as { offset: { start: number; length: number } }[]
  return found.flatMap(({ offset: { start, length } }) => {
    const match = /\p{L}(?:.*[\p{L}\p{N}])?/su.exec(text.slice(start, start + length))
    return match === null ? [] : [{ start: start + match.index, end: start + match.index + match[0].length }]
  })
}

function isProper(text: string, { start, end }: Span): boolean {
  const words = text.slice(start, end).split(/\s+/)
  return words.every((word) => /^\p{Lu}\p{L}/u.test(word)) && words.some((word) => /\p{Ll}/u.test(word))
}

// One word alone may be anything; a surname alone is looked for once its owner is known.
function isFullName(text: string, span: Span): boolean {
  const words = text.slice(span.start, span.end).split(/\s+/)
  return (
    words.length > 1 && words.every((word) => /^\p{Lu}/u.test(word)) && /\p{Ll}/u.test(words.at(-1) as string)
  )
}

function mentionOf(found: Found, chunk: Chunk, documentUuid: string): Mention {
  const { type, rule, normal } = found
  const start = chunk.start + found.start
  const end = chunk.start + found.end
  const hash = createHash('sha256').update(`${documentUuid}\n${type}\n${start}\n${end}`).digest('hex')
  return {
    mention_id: `mention-${hash.slice(0, 16)}`,
    type,
    text: chunk.text.slice(found.start, found.end).replaceAll(/\s+/g, ' '),
    normal,
    start,
    end,
    chunk_index: chunk.index,
    rule,
  }
}

/** In their order; what two pieces share once, and of two that overlap at a piece's edge the longer. */
function distinct(mentions: readonly Mention[]): Mention[] {
  const kept: Mention[] = []
  for (const mention of mentions.toSorted(
    (a, b) => a.start - b.start || b.end - a.end || a.chunk_index - b.chunk_index,
  )) {
    const last = kept.at(-1)
    if (last === undefined || mention.start >= last.end) kept.push(mention)
    else if (mention.end - mention.start > last.end - last.start) kept[kept.length - 1] = mention
  }
  return kept
}
