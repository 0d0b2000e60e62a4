import { textCodec } from './codec.ts'

/**
 * An instant in ISO 8601, UTC: written as `2024-09-17T14:30:00.123Z`. Reads any offset, and takes a time without one
 * (Python's `utcnow().isoformat()`) for UTC; digits below the millisecond are dropped.
 */
export const instant = textCodec<Date>({
  name: 'instant',
  encode(value) {
    if (!(value instanceof Date) || Number.isNaN(value.getTime()))
      throw new TypeError('it is not a valid Date')
    return value.toISOString()
  },
  decode(stored) {
    const [whole, time, zone] =
      /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(Z|[+-]\d\d:?\d\d)?$/i.exec(stored) ?? []
    const date = new Date(
      whole !== undefined && time !== undefined && zone === undefined ? `${stored}Z` : stored,
    )
    if (whole === undefined || Number.isNaN(date.getTime()))
      throw new TypeError(`${JSON.stringify(stored.slice(0, 40))} is not an ISO 8601 instant`)
    return date
  },
})
