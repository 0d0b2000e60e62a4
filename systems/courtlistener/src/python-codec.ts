import type { Codec } from 'keyspec'
import { readStringDict, readStringList } from './python-literal.ts'
import { reprDict, reprList } from './python-repr.ts'

/**
 * An instant as Python's `datetime.isoformat()` writes one without a time zone, `2024-09-17T14:30:00.123456`, in UTC.
 * Read with or without the fraction, and with an offset. A Date has milliseconds: what is finer is cut off.
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

/** A list of texts: read in JSON and in Python's spelling, written in Python's, `['12345', '12346']`. */
export const pythonList: Codec<readonly string[]> = {
  name: 'pythonList',
  bytes: false,
  encode: reprList,
  decode: (stored: string) => readStringList(stored),
}

/** A dict of texts: read in JSON and in Python's spelling, written in Python's, `{'state_key': '…'}`. */
export const pythonDict: Codec<Readonly<Record<string, string>>> = {
  name: 'pythonDict',
  bytes: false,
  encode: reprDict,
  decode: (stored: string) => readStringDict(stored),
}
