import { textCodec } from './codec.ts'

/** An instant to the second, UTC, as `2024-09-17 14:30:00`: sorts as text in the order of time. */
export const timestamp = textCodec<Date>({
  name: 'timestamp',
  encode(value) {
    if (!(value instanceof Date) || Number.isNaN(value.getTime()))
      throw new TypeError('it is not a valid Date')
    return value.toISOString().slice(0, 19).replace('T', ' ')
  },
  decode(stored) {
    const date = new Date(`${stored.replace(' ', 'T')}Z`)
    if (!/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(stored) || Number.isNaN(date.getTime())) {
      throw new TypeError(`${JSON.stringify(stored.slice(0, 40))} is not a time as YYYY-MM-DD HH:MM:SS`)
    }
    return date
  },
})
