import { describe, expect, test } from 'vitest'

import { datesIn } from './date.ts'
import { placesIn } from './gazetteer.ts'
import { matched } from './match.ts'
import { moneyIn } from './money.ts'
import { acronymsIn, organizationKey, organizationsIn } from './organization.ts'
import { personName } from './person.ts'

test.each([
  ['on March 3, 2021 at', ['2021-03-03']],
  ['3rd of Mar. 2021; 2021-03-03; 3/4/2021', ['2021-03-03', '2021-03-03', '2021-03-04']],
  ['in June 2024, not June', ['2024-06']],
  ['31 June, 2024-13-01, 13/45/2020, 2023-02-29', []],
])('dates: %s', (text, expected) => {
  expect(datesIn(text).map(({ iso }) => iso)).toEqual(expected)
})

test.each([
  ['$1.25 million or €40,000', ['USD 1250000', 'EUR 40000']],
  ['$1.1 million, £3m, US$ 7.505', ['USD 1100000', 'GBP 3000000', 'USD 7.5']],
  ['5 million dollars and 12 euros, not $', ['USD 5000000', 'EUR 12']],
  ['$1,250.50.', ['USD 1250.5']],
])('sums: %s', (text, expected) => {
  expect(moneyIn(text).map(({ sum }) => sum)).toEqual(expected)
})

test.each([
  ['The Department of Transportation of the state', ['Department of Transportation']],
  ['paid by Harborview Shipping, Inc. The fire', ['Harborview Shipping, Inc.']],
  ['to Alder & Finch LLP. Ann Smith', ['Alder & Finch LLP']],
  ['Yours. National Harbor Authority', ['National Harbor Authority']],
  ['a bank and the Court', []],
])('organizations: %s', (text, expected) => {
  expect(organizationsIn(text).map(({ start, end }) => text.slice(start, end))).toEqual(expected)
})

test('an acronym in brackets stands for the name before it, if its letters do', () => {
  expect(acronymsIn('the National Harbor Authority (NHA) and City of York (NHS)')).toEqual(
    new Map([['NHA', 'National Harbor Authority']]),
  )
})

test('an organization is compared without its legal form, marks and article', () => {
  expect(organizationKey('The Alder & Finch, L.L.P.')).toBe('alder and finch')
  expect(organizationKey('Núñez  Co., Inc.')).toBe('nunez')
})

test('the longest known place is taken, by one name for all', () => {
  expect(
    placesIn('from New York City to the U.K. by Lisbon Street')
      .map(({ place }) => place)
      .toSorted(),
  ).toEqual(['Lisbon Street', 'Lisbon', 'New York', 'United Kingdom'].toSorted())
})

test.each([
  ['Judge Margaret L. Osei', { given: ['margaret', 'l'], family: 'osei' }],
  ['Osei, Margaret', { given: ['margaret'], family: 'osei' }],
  ['Dr. Lucía Bermúdez', { given: ['lucia'], family: 'bermudez' }],
  ["O'Rourke", { given: [], family: "o'rourke" }],
  ['12', undefined],
])('the person %s', (text, expected) => {
  expect(personName(text)).toEqual(expected)
})

describe('a name means the same as a fuller one', () => {
  test.each([
    ['PERSON', 'm osei', 'margaret l osei', 'initials'],
    ['PERSON', 'osei', 'margaret l osei', 'short'],
    ['PERSON', 'peter hallstrom', 'peter hallstrem', 'similar'],
    ['PERSON', 'mark osei', 'margaret osei', undefined],
    ['PERSON', 'osea', 'margaret osei', undefined],
    ['ORG', 'harborview', 'harborview shipping', 'short'],
    ['ORG', 'national harbor authorlty', 'national harbor authority', 'similar'],
    ['ORG', 'dockworkers local 12', 'dockworkers local 13', undefined],
    ['LOCATION', 'Austria', 'Australia', undefined],
    ['DATE', '2024-01-01', '2024-01-02', undefined],
  ] as const)('%s: %s, %s: %s', (type, a, b, method) => {
    expect(matched(type, { normal: a, text: a }, { normal: b, text: b })?.method).toBe(method)
  })
})
