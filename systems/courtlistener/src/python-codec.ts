import type { Codec } from 'keyspec'
import { readStringDict, readStringList } from './python-literal.ts'

/**
 * An instant as Python's `datetime.isoformat()` writes one without a time zone, `2024-09-17T14:30:00.123456`, in UTC.
 * Read with or without the fraction, and with an offset, and as seconds since 1970, as `time.time()` gives them. A Date has
 * milliseconds: what is finer is cut off.
 */
export const pythonInstant: Codec<Date> = {
  name: 'pythonInstant',
  bytes: false,
  encode(value) {
    if (!(value instanceof Date) || Number.isNaN(value.getTime()))
      throw new TypeError('it is not a valid Date')
    return `${value.toISOString().slice(0, -1)}000`
  },
  decode(stored: string) {
    if (/^\d{9,11}(?:\.\d{1,9})?$/.test(stored)) return new Date(Math.trunc(Number(stored) * 1000))
    const match = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:?\d\d)?$/.exec(stored)
    const [, day, time, fraction = '', zone = 'Z'] = match ?? []
    const date = new Date(`${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}${zone}`)
    // Date would make a year of any digits at all.
    if (match === null || Number.isNaN(date.getTime())) {
      throw new TypeError(`${JSON.stringify(stored.slice(0, 40))} is not an ISO timestamp`)
    }
    return date
  },
}

/**
 * A list of texts: read in JSON and in Python's spelling, written as `["12345", "12346"]`, which is both: readers that know
 * only one of them take it.
 */
export const pythonList: Codec<readonly string[]> = {
  name: 'pythonList',
  bytes: false,
  encode: (texts) => `[${texts.map((text) => JSON.stringify(text)).join(', ')}]`,
  decode: (stored: string) => readStringList(stored),
}

/** A dict of texts: read in JSON and in Python's spelling, written as `{"state_key": "…"}`, which is both. */
export const pythonDict: Codec<Readonly<Record<string, string>>> = {
  name: 'pythonDict',
  bytes: false,
  encode(dict) {
    const entries = Object.entries(dict).map(
      ([key, text]) => `${JSON.stringify(key)}: ${JSON.stringify(text)}`,
    )
    return `{${entries.join(', ')}}`
  },
  decode: (stored: string) => readStringDict(stored),
}
