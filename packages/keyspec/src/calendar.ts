/** Whether the UTC year of a date has four digits, so that ISO 8601 writes it without a sign; false for an invalid date. */
export function isWrittenYear(date: Date): boolean {
  const year = date.getUTCFullYear()
  return year >= 0 && year <= 9999
}

/** Midnight UTC of a day of the calendar, or `undefined` if there is no such day. Months count from 1. */
export function midnight(year: number, month: number, day: number): Date | undefined {
  const date = new Date(0)
  // Not `Date.UTC`, which takes the years 0 to 99 for those of the 20th century.
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date : undefined
}
