/** Reads an API date (`2020-08-10T15:58:52Z`) or a watermark (`2020-08-10 15:58:52`), both UTC, as milliseconds. */
export function parseUtc(text: string): number {
  const parts = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)?Z?$/.exec(text)
  const atMs = parts === null ? Number.NaN : Date.parse(`${parts[1]}T${parts[2]}Z`)
  if (Number.isNaN(atMs)) {
    throw new RangeError(`"${text}" is not a UTC time; write it as YYYY-MM-DD HH:MM:SS`)
  }
  return atMs
}

/** Writes milliseconds as a watermark: `YYYY-MM-DD HH:MM:SS`, UTC. */
export function formatUtc(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')
}

/** A value for `filter[lastModifiedDate]` and the earliest instant that the API may take it for. */
export interface FilterTime {
  readonly text: string
  readonly earliestMs: number
}

/**
 * The filter that asks for everything from an instant on. The API reads its filters as US Eastern time and answers in
 * UTC (https://open.gsa.gov/api/regulationsgov/). On the night the clocks go back one hour is written twice and the
 * API does not say which of the two it takes, so the filter is chosen such that neither reading is later than asked.
 */
export function filterFrom(atMs: number): FilterTime {
  const text = easternTime(atMs)
  if (easternTime(atMs + hourMs) === text) {
    const beforeMs = atMs - (atMs % hourMs) - 1000
    return { text: easternTime(beforeMs), earliestMs: beforeMs }
  }
  if (easternTime(atMs - hourMs) === text) return { text, earliestMs: atMs - hourMs }
  return { text, earliestMs: atMs }
}

/** The first instant, not before the given one, whose Eastern time is written only once. */
export function writtenOnce(atMs: number): number {
  const text = easternTime(atMs)
  const hourStartMs = atMs - (atMs % hourMs)
  if (easternTime(atMs + hourMs) === text) return hourStartMs + 2 * hourMs
  if (easternTime(atMs - hourMs) === text) return hourStartMs + hourMs
  return atMs
}

/** Writes an instant as US Eastern time, `YYYY-MM-DD HH:MM:SS`, daylight saving included. */
export function easternTime(atMs: number): string {
  const part: Record<string, string> = {}
  for (const { type, value } of eastern.formatToParts(atMs)) part[type] = value
  return `${part['year']}-${part['month']}-${part['day']} ${part['hour']}:${part['minute']}:${part['second']}`
}

const hourMs = 3_600_000

const eastern = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})
