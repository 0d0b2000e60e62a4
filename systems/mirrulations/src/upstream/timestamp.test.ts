import { describe, expect, test } from 'vitest'

import { easternTime, filterFrom, formatUtc, parseUtc, writtenOnce } from './timestamp.ts'

describe('timestamps', () => {
  test('are read as the API writes them and as watermarks are written, and written as watermarks', () => {
    expect(parseUtc('2020-08-10T15:58:52Z')).toBe(Date.UTC(2020, 7, 10, 15, 58, 52))
    expect(parseUtc('2020-08-10 15:58:52')).toBe(Date.UTC(2020, 7, 10, 15, 58, 52))
    expect(formatUtc(parseUtc('2020-08-10T15:58:52.123Z'))).toBe('2020-08-10 15:58:52')
  })

  test.each(['', '2020-08-10', '10/08/2020 15:58:52', '2020-13-10 15:58:52'])(
    'refuse %j with the form to write',
    (text) => {
      expect(() => parseUtc(text)).toThrow('YYYY-MM-DD HH:MM:SS')
    },
  )

  test('become Eastern time in a filter, by the rule of the season', () => {
    expect(easternTime(parseUtc('2020-08-10 15:58:52'))).toBe('2020-08-10 11:58:52')
    expect(easternTime(parseUtc('2020-12-10 15:58:52'))).toBe('2020-12-10 10:58:52')
    expect(easternTime(parseUtc('2021-01-01 05:00:00'))).toBe('2021-01-01 00:00:00')
  })

  test('in the hour that comes twice become a filter that neither reading makes too late', () => {
    // On 3 November 2024 the Eastern hour from 1 to 2 was first 05:00 to 06:00 and then 06:00 to 07:00 UTC.
    expect(filterFrom(parseUtc('2024-11-03 05:20:00'))).toEqual({
      text: '2024-11-03 00:59:59',
      earliestMs: parseUtc('2024-11-03 04:59:59'),
    })
    expect(filterFrom(parseUtc('2024-11-03 06:20:00'))).toEqual({
      text: '2024-11-03 01:20:00',
      earliestMs: parseUtc('2024-11-03 05:20:00'),
    })
    expect(filterFrom(parseUtc('2024-11-03 07:00:00'))).toEqual({
      text: '2024-11-03 02:00:00',
      earliestMs: parseUtc('2024-11-03 07:00:00'),
    })
    expect(formatUtc(writtenOnce(parseUtc('2024-11-03 05:20:00')))).toBe('2024-11-03 07:00:00')
    expect(formatUtc(writtenOnce(parseUtc('2024-11-03 06:20:00')))).toBe('2024-11-03 07:00:00')
    expect(formatUtc(writtenOnce(parseUtc('2024-11-03 07:20:00')))).toBe('2024-11-03 07:20:00')
  })
})
