import { mentionAt, type Mention } from './phrase.ts'
import type { MetadataPreferences } from './query-understanding.ts'

/** The running time that a query asks for, and the words that say so. */
export interface HowLong {
  readonly preference: MetadataPreferences['duration_preference']
  readonly mentions: readonly Mention[]
}

/** Reads "under 90 minutes", "over two hours", "between 90 and 120 minutes", "short" and "long". */
export function howLongOf(query: string): HowLong {
  for (const [pattern, read] of rules) {
    const match = pattern.exec(query)
    if (match !== null) return { preference: { result: read(match) }, mentions: [mentionAt(query, match)] }
  }
  return { preference: { result: null }, mentions: [] }
}

type Minutes = NonNullable<MetadataPreferences['duration_preference']['result']>

const NUMBER = '(\\d+(?:\\.\\d+)?|an?|one|two|three|four)'
const UNIT = '(minutes?|mins?|hours?|hrs?)'
const words: Readonly<Record<string, number>> = { a: 1, an: 1, one: 1, two: 2, three: 3, four: 4 }

const rules: readonly (readonly [RegExp, (match: RegExpExecArray) => Minutes])[] = [
  [
    rule(`between\\s+${NUMBER}\\s+and\\s+${NUMBER}\\s*${UNIT}`),
    ([, first, second, unit]) => minutes('between', first, unit, second),
  ],
  [
    rule(`(?:under|below|less than|shorter than|at most|up to)\\s+${NUMBER}[\\s-]*${UNIT}`),
    ([, first, unit]) => minutes('less_than', first, unit),
  ],
  [
    rule(`(?:over|above|more than|longer than|at least)\\s+${NUMBER}[\\s-]*${UNIT}`),
    ([, first, unit]) => minutes('greater_than', first, unit),
  ],
  [rule(`${NUMBER}[\\s-]*${UNIT}`), ([, first, unit]) => minutes('exact', first, unit)],
  [rule('short'), () => minutes('less_than', '95', 'minutes')],
  [rule('long'), () => minutes('greater_than', '140', 'minutes')],
]

function rule(source: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${source})(?![\\p{L}\\p{N}])`, 'iu')
}

function minutes(
  operation: Minutes['match_operation'],
  first: string | undefined,
  unit: string | undefined,
  second?: string,
): Minutes {
  return {
    first_minutes: toMinutes(first, unit),
    match_operation: operation,
    second_minutes: second === undefined ? null : toMinutes(second, unit),
  }
}

function toMinutes(number = '', unit = ''): number {
  const amount = words[number.toLowerCase()] ?? Number(number)
  return Math.max(1, Math.round(unit.toLowerCase().startsWith('h') ? amount * 60 : amount))
}
