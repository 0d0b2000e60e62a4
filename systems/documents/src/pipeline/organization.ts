import type { Span } from './sentence.ts'

/** The organizations that a text names by what they are: `Quillon Batteries LLC`, `Department of Transportation`. */
export function organizationsIn(text: string): Span[] {
  const spans = [...text.matchAll(ending), ...text.matchAll(beginning)].map((match) => {
    // A sentence may begin with a capital that belongs to no name.
    const lead =
      /^(?:(?:The|A|An|Our|This|That|In|On|At|By|For|From|With|To|And|But|Dear)\s+)+/.exec(match[0])?.[0]
        .length ?? 0
    return { start: match.index + lead, end: match.index + match[0].length }
  })
  return spans.filter(({ start, end }) => /\s/.test(text.slice(start, end)))
}

/** Acronyms that a text gives in brackets after the name that they stand for, by what they stand for. */
export function acronymsIn(text: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const { start, end } of organizationsIn(text)) {
    const acronym = /^\s+\((?:the\s+)?["“]?(\p{Lu}{2,8})["”]?\)/u.exec(text.slice(end))?.[1]
    if (acronym !== undefined && acronym === initialsOf(text.slice(start, end))) {
      found.set(acronym, text.slice(start, end))
    }
  }
  return found
}

/** The organizations that a text names again without their legal form: `Harborview Shipping` for `Harborview Shipping, Inc.` */
export function knownOrganizationsIn(text: string, known: readonly string[]): Span[] {
  const short = known.map((name) => name.replace(new RegExp(String.raw`,?\s+${forms}$`, 'u'), ''))
  return [...new Set(short)]
    .filter((name) => /\s/.test(name))
    .flatMap((name) => {
      const words = name.split(/\s+/).map((each) => each.replaceAll('.', String.raw`\.`))
      const pattern = new RegExp(words.join(String.raw`\s+`), 'gu')
      return [...text.matchAll(pattern)].map((match) => ({
        start: match.index,
        end: match.index + match[0].length,
      }))
    })
}

/** What an organization's name is compared by: without its legal form, capitals, marks and leading article. */
export function organizationKey(name: string): string {
  const words = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('&', ' and ')
    .replaceAll(/(?<=\p{L})\.(?=\p{L}\.)|['’.]/gu, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
  if (words[0] === 'the') words.shift()
  while (words.length > 1 && legalForms.has(words.at(-1) as string)) words.pop()
  return words.join(' ')
}

/** The first letters of a name's words that count. */
export function initialsOf(name: string): string {
  const words = name.split(/[\s-]+/).filter((word) => /^\p{Lu}/u.test(word))
  return words.map((word) => word[0]).join('')
}

const legalForms = new Set([
  'inc',
  'llc',
  'llp',
  'ltd',
  'limited',
  'corp',
  'corporation',
  'co',
  'company',
  'plc',
  'gmbh',
  'sa',
  'nv',
  'ag',
])

// A full stop belongs to initials and to few words; elsewhere it ends a sentence.
const word = String.raw`(?:(?:\p{Lu}\.)+|(?:St|Mt)\.|\p{Lu}[\p{L}\p{N}'’-]*)`
const forms = String.raw`(?:(?:Inc|Ltd|Corp|Co|S\.A|N\.V)\.?|LLC|LLP|Limited|Corporation|Company|PLC|GmbH|AG)(?![\p{L}\p{N}])`
const bodies =
  'Authority|Commission|Committee|Association|Cooperative|Council|Agency|Institute|Foundation|University|College|Hospital|Bank|Trust|Union|Court|Guild|Ministry|Bureau|Partners|Group'
const ending = new RegExp(
  String.raw`(?<![\p{L}\p{N}])${word}(?:\s+(?:&\s+)?${word})*?(?:,?\s+${forms}|\s+(?:${bodies})(?![\p{L}\p{N}]))`,
  'gu',
)
const beginning = new RegExp(
  String.raw`(?<![\p{L}\p{N}])(?:${word}\s+)*?(?:Department|Ministry|University|Institute|Bank|Bureau|Board|Office|City|Port|Court)\s+of\s+(?:the\s+)?${word}(?:\s+(?:and\s+)?${word})*`,
  'gu',
)
