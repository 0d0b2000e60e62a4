import { mentionAt, type Mention } from './phrase.ts'
import type { MetadataPreferences } from './query-understanding.ts'

/** The release date that a query asks for, and the words that say so. */
export interface When {
  readonly preference: MetadataPreferences['release_date_preference']
  readonly mentions: readonly Mention[]
}

/** Reads years, spans, decades ("the 90s", "eighties") and words such as "recent" and "classic". */
export function whenOf(query: string): When {
  for (const [pattern, read] of rules) {
    const match = pattern.exec(query)
    if (match !== null) return { preference: { result: read(match) }, mentions: [mentionAt(query, match)] }
  }
  return { preference: { result: null }, mentions: [] }
}

type Dates = NonNullable<MetadataPreferences['release_date_preference']['result']>

const YEAR = '((?:19|20)\\d\\d)'
const DECADE =
  "(?:the\\s+)?(early|mid|late)?[\\s-]*(?:((?:19|20)\\d)0['’]?s|['’]?([2-9])0['’]?s|WORDS)".replace(
    'WORDS',
    '(twenties|thirties|forties|fifties|sixties|seventies|eighties|nineties)',
  )
const named = ['twenties', 'thirties', 'forties', 'fifties', 'sixties', 'seventies', 'eighties', 'nineties']

// The catalogue ends early in 2011, so "recent" is what was recent then.
const RECENT = '2008-01-01'
const CLASSIC = '1970-01-01'

// From the most particular to the least.
const rules: readonly (readonly [RegExp, (match: RegExpExecArray) => Dates])[] = [
  [rule(`(?:between|from)\\s+${YEAR}\\s*(?:and|to|until|-|–)\\s*${YEAR}|${YEAR}\\s*[-–]\\s*${YEAR}`), spanOf],
  [rule(`(?:before|until|prior to|older than)\\s+${YEAR}`), (match) => one('before', `${match[1]}-01-01`)],
  [rule(`(?:after|newer than)\\s+${YEAR}`), (match) => one('after', `${match[1]}-12-31`)],
  [
    rule(`(?:since|from)\\s+${YEAR}(?:\\s+on(?:wards?)?)?`),
    (match) => one('after', `${Number(match[1]) - 1}-12-31`),
  ],
  [rule(`(?:from|of|in|during)?\\s*${DECADE}`), decadeOf],
  [rule(`(?:from|of|in)?\\s*${YEAR}`), (match) => years(Number(match[1]), Number(match[1]))],
  [rule('recent|newest|latest|new'), () => one('after', RECENT)],
  [rule('classics?|old|vintage|golden age'), () => one('before', CLASSIC)],
]

function rule(source: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${source})(?![\\p{L}\\p{N}])`, 'iu')
}

function one(operation: 'before' | 'after', date: string): Dates {
  return { first_date: date, match_operation: operation, second_date: null }
}

function years(first: number, last: number): Dates {
  return { first_date: `${first}-01-01`, match_operation: 'between', second_date: `${last}-12-31` }
}

function spanOf(match: RegExpExecArray): Dates {
  const [first = 0, last = 0] = match.slice(1).filter(Boolean).map(Number)
  return years(Math.min(first, last), Math.max(first, last))
}

function decadeOf([, part, full, short, word]: RegExpExecArray): Dates {
  const start = full
    ? Number(full) * 10
    : 1900 + 10 * (short ? Number(short) : named.indexOf(word!.toLowerCase()) + 2)
  if (part === undefined) return years(start, start + 9)
  const [from, to] = { early: [0, 3], mid: [4, 6], late: [7, 9] }[part.toLowerCase()] as [number, number]
  return years(start + from, start + to)
}
