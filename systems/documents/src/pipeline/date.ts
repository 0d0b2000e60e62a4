import type { Span } from './sentence.ts'

/** A date that a text names, and where it does. */
export interface DateFound extends Span {
  readonly iso: string
}

/** The dates that a text names in words or figures, as ISO: a day, a month (`2024-06`), with their places. */
export function datesIn(text: string): DateFound[] {
  const found = patterns.flatMap(([pattern, order]) =>
    [...text.matchAll(pattern)].flatMap((match) => {
      const parts = Object.fromEntries(order.map((part, index) => [part, match[index + 1]]))
      const iso = isoOf(parts)
      return iso === undefined ? [] : [{ iso, start: match.index, end: match.index + match[0].length }]
    }),
  )
  // The month of a day is no date of its own: the longer patterns come first.
  return found.filter(
    (date, index) => !found.slice(0, index).some(({ start, end }) => date.start < end && start < date.end),
  )
}

type Part = 'year' | 'month' | 'day'

const monthNames = [
  ['january', 'jan'],
  ['february', 'feb'],
  ['march', 'mar'],
  ['april', 'apr'],
  ['may'],
  ['june', 'jun'],
  ['july', 'jul'],
  ['august', 'aug'],
  ['september', 'sept', 'sep'],
  ['october', 'oct'],
  ['november', 'nov'],
  ['december', 'dec'],
]

const month = String.raw`(${monthNames.flat().join('|')})\.?`
const day = String.raw`(\d{1,2})(?:st|nd|rd|th)?`
const year = String.raw`(\d{4})(?![-\d])`

const patterns: readonly (readonly [RegExp, readonly Part[]])[] = [
  [new RegExp(String.raw`\b${month}\s+${day},?\s+${year}\b`, 'gi'), ['month', 'day', 'year']],
  [new RegExp(String.raw`\b${day}\s+(?:of\s+)?${month},?\s+${year}\b`, 'gi'), ['day', 'month', 'year']],
  [new RegExp(String.raw`\b${month},?\s+${year}\b`, 'gi'), ['month', 'year']],
  [/\b(\d{4})-(\d{2})-(\d{2})\b/g, ['year', 'month', 'day']],
  // With slashes as the United States write it, where these documents come from.
  [/\b(\d{1,2})\/(\d{1,2})\/(\d{4})\b/g, ['month', 'day', 'year']],
]

function isoOf(parts: { readonly [P in Part]?: string | undefined }): string | undefined {
  const number = monthOf(parts.month ?? '')
  const months = `${parts.year}-${String(number).padStart(2, '0')}`
  if (number < 1 || number > 12) return undefined
  if (parts.day === undefined) return months
  const iso = `${months}-${parts.day.padStart(2, '0')}`
  const at = new Date(`${iso}T00:00:00Z`)
  // 31 June is no day, though Date would make one of it.
  return Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== iso ? undefined : iso
}

function monthOf(text: string): number {
  const index = monthNames.findIndex((names) => names.includes(text.toLowerCase()))
  return index === -1 ? Number(text) : index + 1
}
