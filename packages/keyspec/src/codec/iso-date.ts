import { isWrittenYear, midnight } from '../calendar.ts'
import { textCodec } from './codec.ts'

/**
 * An instant in ISO 8601, UTC: written as `2024-09-17T14:30:00.123Z`. Reads any offset, and takes a time without one
 * (Python's `utcnow().isoformat()`) for UTC; digits below the millisecond are dropped. The years are 0000 to 9999.
 */
export const isoDate = textCodec<Date>({
  name: 'isoDate',
  encode(value) {
    if (!(value instanceof Date) || !isWrittenYear(value))
      throw new TypeError('it is not a valid Date of the years 0000 to 9999')
    return value.toISOString()
  },
  decode(stored) {
    const date = read(stored)
    if (date === undefined || !isWrittenYear(date))
      throw new TypeError(`it is not an ISO 8601 instant (${stored.length} characters)`)
    return date
  },
})

const SHAPE =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:Z|([+-])(\d\d):?(\d\d))?)?$/i

function read(stored: string): Date | undefined {
  const found = SHAPE.exec(stored)
  if (found === null) return undefined
  const [year, month, day, hour = 0, minute = 0, second = 0] = found
    .slice(1, 7)
    .map((piece) => Number(piece ?? 0))
  const [fraction = '', sign, offsetHours = '0', offsetMinutes = '0'] = found.slice(7)
  const date = midnight(year!, month!, day!)
  if (date === undefined || hour > 23 || minute > 59 || second > 59) return undefined
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return undefined
  const aheadMinutes = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1)
  const ms =
    ((hour * 60 + minute - aheadMinutes) * 60 + second) * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'))
  return new Date(date.getTime() + ms)
}
