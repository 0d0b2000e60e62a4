import { expect, test } from 'vitest'
import * as v from 'valibot'

import { Docket } from '../upstream/docket.ts'
import { docketAnswer } from '../upstream/stand-in/docket-answer.ts'
import { invent } from '../upstream/stand-in/invented-docket.ts'
import { DocketRecord, recordOf } from './docket-record.ts'

test('a docket is put in order: white space, empty texts, its number and its sides', () => {
  const record = recordOf(
    docket({
      case_name: ' ALDER & FINCH LLP v.  Doe 1 ',
      docket_number: '1:16-cv-00745',
      date_filed: '2016-04-21',
      date_terminated: '2016-05-01',
      nature_of_suit: '',
      jury_demand: 'None',
    }),
  )
  expect(record).toMatchObject({
    case_name: 'ALDER & FINCH LLP v. Doe 1',
    sides: { first: 'ALDER & FINCH LLP', second: 'Doe 1' },
    case_number: { office: '1', year: 2016, type: 'cv', serial: 745 },
    is_open: false,
    days_open: 10,
    nature_of_suit: null,
    jury_demand: null,
  })
  expect(record.url).toMatch(/^https:\/\/www\.courtlistener\.com\/docket\/\d+\//)
})

test('what is not known is null, and never a guess', () => {
  const record = recordOf(
    docket({
      case_name: 'In re Grand Jury',
      docket_number: 'MC 12',
      date_filed: null,
      date_terminated: null,
    }),
  )
  expect(record).toMatchObject({ sides: null, case_number: null, is_open: true, days_open: null })
})

test.each([
  ['2:98-cr-12', 1998],
  ['16-cv-00745', 2016],
  ['1:2016-cv-00745-PLF', 2016],
])('%s is a case of %i', (docket_number, year) => {
  expect(recordOf(docket({ docket_number })).case_number).toMatchObject({ year })
})

test('every docket of the stand-in becomes a record', () => {
  for (const invented of invent({ dockets: 300 })) {
    const record = recordOf(v.parse(Docket, docketAnswer(invented, 'http://127.0.0.1/api/rest/v4')))
    expect(v.is(DocketRecord, record)).toBe(true)
    expect(record.sides).not.toBeNull()
  }
})

function docket(changes: Partial<Docket>): Docket {
  const [invented] = invent({ dockets: 1 })
  return { ...v.parse(Docket, docketAnswer(invented!, 'http://127.0.0.1/api/rest/v4')), ...changes }
}
