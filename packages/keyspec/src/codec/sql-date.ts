import { isWrittenYear } from '../calendar.ts'
import { textCodec } from './codec.ts'

/**
 * An instant to the second, UTC, as `2024-09-17 14:30:00`: sorts as text in the order of time. The years are 0000 to 9999.
 */
export const sqlDate = textCodec<Date>({
  name: 'sqlDate',
  encode(value) {
    if (!(value instanceof Date) || !isWrittenYear(value))
      throw new TypeError('it is not a valid Date of the years 0000 to 9999')
    return spell(value)
  },
  decode(stored) {
    const date = SHAPE.test(stored) ? new Date(`${stored.replace(' ', 'T')}Z`) : undefined
    // A Date takes 31 February for a day of March.
    if (date === undefined || Number.isNaN(date.getTime()) || spell(date) !== stored)
      throw new TypeError(`it is not a time as YYYY-MM-DD HH:MM:SS (${stored.length} characters)`)
    return date
  },
})

const SHAPE = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/

function spell(date: Date): string {
  return date.toISOString().slice(0, 19).replace('T', ' ')
}
