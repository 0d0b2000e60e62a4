import type { Span } from './sentence.ts'

/** A person's name in its parts, in lower case and without marks, to be compared. */
export interface PersonName {
  readonly given: readonly string[]
  readonly family: string
}

/** Reads a person's name as people write it: `Judge Margaret L. Osei`, `M. Osei`, `Osei, Margaret`. */
export function personName(text: string): PersonName | undefined {
  const name = text
    .replaceAll(/\s+/g, ' ')
    .replace(new RegExp(String.raw`^(?:(?:${titles})\s+)+`, 'u'), '')
    .replace(/,? (?:Jr|Sr|II|III|IV|Esq|Ph\.?D|M\.?D)\.?$/, '')
  const [last, first] = name.includes(',') ? plain(name).split(',', 2) : [undefined, plain(name)]
  const words = `${first} ${last ?? ''}`.split(' ').map((word) => word.replaceAll('.', ''))
  const parts = words.filter((word) => /^\p{L}[\p{L}'’-]*$/u.test(word))
  const family = parts.at(-1)
  return family === undefined ? undefined : { given: parts.slice(0, -1), family }
}

/** True when both may be one person's: the same given names as far as both have them, an initial standing for a name. */
export function areCompatible(a: PersonName, b: PersonName): boolean {
  const shared = Math.min(a.given.length, b.given.length)
  return a.given.slice(0, shared).every((name, index) => {
    const other = b.given[index] as string
    return name === other || ((name.length === 1 || other.length === 1) && name[0] === other[0])
  })
}

/** The people that a text names with a title or an office: `Dr. Anil Mehta`, `Priya Raghunathan, Secretary`. */
export function titledPeopleIn(text: string): Span[] {
  const titledSpans = Array.from(text.matchAll(titled), (match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }))
  const inOffice = Array.from(text.matchAll(office), ({ index }) => nameBefore(text, index))
  return [...titledSpans, ...inOffice.filter((span) => span !== undefined)]
}

/** The people that a text names again by names that are known by now: `Mehta moved`, `M. Osei`, `Anil Mehta`. */
export function knownPeopleIn(text: string, known: readonly PersonName[]): Span[] {
  const families = new Set(known.map(({ family }) => family))
  const given = new Set(known.flatMap((name) => name.given))
  return [...text.matchAll(capitalWord)].flatMap((match) => {
    if (!families.has(plain(match[0]))) return []
    let start = match.index
    for (;;) {
      const before = wordBefore(text, start)
      if (before === undefined) break
      const { word } = before
      if (!(/^\p{Lu}\.$/u.test(word) || given.has(plain(word.replace('.', ''))))) break
      start = before.start
    }
    return [{ start, end: match.index + match[0].replace(/['’]s$/, '').length }]
  })
}

const titles = String.raw`Mr\.?|Mrs\.?|Ms\.?|Dr\.?|Prof\.?|Professor|Judge|Justice|Senator|Governor|Captain|Inspector|President|Secretary|Hon\.?|Sir`

const word = String.raw`\p{Lu}(?:[\p{L}'’-]*[\p{L}]|\.)`
const titled = new RegExp(
  String.raw`(?<![\p{L}\p{N}])(?:${titles})\s+(?:${word}\s+){0,3}\p{Lu}[\p{L}'’-]*\p{Ll}`,
  'gu',
)
const office = /,\s+(?:Chair|Chairman|Secretary|Treasurer|Director|President|Clerk)(?!\p{L})/gu
// A longer one is no name, and what stands before a place is looked at again for each place.
const LONGEST_WORD = 100
const capitalWord = /(?<![\p{L}\p{N}.])\p{Lu}[\p{L}'’-]*\p{L}(?!\p{L})/gu

/** Two to four words in capitals that end at a place. */
function nameBefore(text: string, end: number): Span | undefined {
  let start = end
  let words = 0
  for (let at = end; words < 4; at = beforeSpace(text, start)) {
    const word = wordEndingAt(text, at)
    if (!/^\p{Lu}[\p{L}'’-]*$/u.test(word) || !/\p{Ll}$/u.test(word) || (words > 0 && at === start)) break
    words += 1
    start = at - word.length
  }
  return words < 2 ? undefined : { start, end }
}

/** The word in capitals that ends before the white space at a place. */
function wordBefore(text: string, at: number): { readonly word: string; readonly start: number } | undefined {
  const end = beforeSpace(text, at)
  const word = wordEndingAt(text, end)
  if (end === at || !/^\p{Lu}[\p{L}'’-]*\.?$/u.test(word)) return undefined
  return { word, start: end - word.length }
}

function wordEndingAt(text: string, end: number): string {
  return text
    .slice(Math.max(0, end - LONGEST_WORD), end)
    .split(/[^\p{L}\p{N}.'’-]/u)
    .at(-1)!
}

function beforeSpace(text: string, at: number): number {
  const tail = text.slice(Math.max(0, at - LONGEST_WORD), at)
  return at - (tail.length - tail.trimEnd().length)
}

function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replace(/['’]s$/, '')
    .toLowerCase()
}
