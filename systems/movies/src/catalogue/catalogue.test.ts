import { expect, test } from 'vitest'

import { loadCatalogue } from './catalogue.ts'
import { repaired } from './mojibake.ts'

const { films, byId } = loadCatalogue()

test('there are 3,201 films, each with an id, a title and a date', () => {
  expect(films).toHaveLength(3201)
  expect(new Set(films.map(({ id }) => id)).size).toBe(3201)
  expect(films.filter(({ title }) => title !== title.trim() || title === '' || title.includes('  '))).toEqual(
    [],
  )
  expect(films.filter(({ year }) => year < 1910 || year > 2011)).toEqual([])
  expect(byId(0)).toBeUndefined()
})

test('a film keeps its facts, and what nobody reported is undefined', () => {
  expect(byId(3201)).toEqual({
    id: 3201,
    title: 'The Mask of Zorro',
    releaseDate: '1998-07-17',
    year: 1998,
    genres: ['Adventure', 'History'],
    director: 'Martin Campbell',
    distributor: 'Sony Pictures',
    source: 'Remake',
    creativeType: 'Historical Fiction',
    maturity: 'PG-13',
    runtimeMinutes: 136,
    criticsPercent: 82,
    rating: 6.7,
    votes: 4789,
    budgetDollars: 65_000_000,
    grossDollars: 233_700_000,
  })
  expect(byId(1)).toMatchObject({ title: 'The Land Girls', director: undefined, runtimeMinutes: undefined })
  expect(
    films.filter(({ grossDollars, budgetDollars }) => grossDollars === 0 || budgetDollars === 0),
  ).toEqual([])
})

test('dirt is cleaned: numbers for titles, wrong centuries, a missing title', () => {
  const titled = (title: string) => films.filter((film) => film.title === title).map(({ year }) => year)
  expect(titled('300')).toEqual([2007])
  expect(titled('Ben-Hur').toSorted()).toEqual([1925, 1959])
  expect(titled('Untitled (2006)')).toEqual([2006])
})

test.each([
  ["De battre mon coeur s'est arrÍtÈ", "De battre mon coeur s'est arrêté"],
  ['Per qualche dollaro in pi˘', 'Per qualche dollaro in più'],
  ["I Love You Ö Don't Touch Me!", "I Love You … Don't Touch Me!"],
  ['The Naked Gun 2Ω', 'The Naked Gun 2½'],
  ['Alien³', 'Alien³'],
  ['Léon 東京', 'Léon 東京'],
  ['Jaws', 'Jaws'],
])('"%s" reads "%s"', (damaged, whole) => {
  expect(repaired(damaged)).toBe(whole)
})
