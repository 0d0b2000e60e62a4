import * as v from 'valibot'
import { describe, expect, test } from 'vitest'

import { catalogueOf, loadCatalogue } from '../catalogue/catalogue.ts'
import { embeddedUnderstander } from './embedded.ts'
import { QueryUnderstanding } from './query-understanding.ts'

const catalogue = loadCatalogue()
const understander = embeddedUnderstander(catalogue)
const metadata = async (query: string) => (await understander.understand(query)).metadata_preferences
const entities = async (query: string) =>
  (await understander.understand(query)).lexical_entities.entity_candidates.map(
    (each) =>
      `${each.exclude_from_results ? '-' : ''}${each.most_likely_category}:${each.corrected_and_normalized_entity}`,
  )

describe('the embedded understanding', () => {
  test.each([
    '',
    'it',
    '?!',
    '90s',
    'a (very) strange [query] with * and \\',
    'funny films by Steven Spielberg from the 90s, popular, for kids, under two hours, in French',
    'x'.repeat(2000),
  ])('of "%s" is the whole schema', async (query) => {
    expect(v.is(QueryUnderstanding, await understander.understand(query))).toBe(true)
  })

  test('is the same each time', async () => {
    const query = 'trending science fiction like Alien'
    expect(await understander.understand(query)).toEqual(
      await embeddedUnderstander(catalogue).understand(query),
    )
    expect(embeddedUnderstander(catalogue).fingerprint).toBe(understander.fingerprint)
    expect(understander.model).toMatch(/^embedded:/)
  })

  test.each([
    ['thrillers from the 90s', '1990-01-01', 'between', '1999-12-31'],
    ["late '70s drama", '1977-01-01', 'between', '1979-12-31'],
    ['comedies of the eighties', '1980-01-01', 'between', '1989-12-31'],
    ['between 1995 and 1985', '1985-01-01', 'between', '1995-12-31'],
    ['1960-1965 westerns', '1960-01-01', 'between', '1965-12-31'],
    ['before 1950', '1950-01-01', 'before', null],
    ['since 2005', '2004-12-31', 'after', null],
    ['war in 1999', '1999-01-01', 'between', '1999-12-31'],
    ['classic westerns', '1970-01-01', 'before', null],
  ])('of "%s" has its dates', async (query, first, operation, second) => {
    const { result } = (await metadata(query)).release_date_preference
    expect(result).toEqual({ first_date: first, match_operation: operation, second_date: second })
  })

  test.each([
    ['under 90 minutes', 90, 'less_than', null],
    ['over two hours', 120, 'greater_than', null],
    ['between 1.5 and 2 hours', 90, 'between', 120],
    ['a 100-minute drama', 100, 'exact', null],
    ['short comedies', 95, 'less_than', null],
  ])('of "%s" has its running time', async (query, first, operation, second) => {
    const { result } = (await metadata(query)).duration_preference
    expect(result).toEqual({ first_minutes: first, match_operation: operation, second_minutes: second })
  })

  test('has the genres that are wanted and those that are not', async () => {
    const { result } = (await metadata('romantic comedies but no musicals')).genres_preference
    expect(result).toEqual({ should_include: ['Comedy', 'Romance'], should_exclude: ['Musical'] })
    expect((await metadata('something')).genres_preference).toEqual({ result: null })
  })

  test('has languages, services and ratings', async () => {
    const preferences = await metadata('films in French on Netflix rated R')
    expect(preferences.audio_languages_preference.result).toEqual({
      should_include: ['French'],
      should_exclude: [],
    })
    expect(preferences.watch_providers_preference.result?.should_include).toEqual(['Netflix'])
    expect(preferences.maturity_rating_preference.result).toEqual({ rating: 'R', match_operation: 'exact' })
    expect((await metadata('for kids')).maturity_rating_preference.result).toEqual({
      rating: 'PG',
      match_operation: 'at_most',
    })
  })

  test.each([
    ['trending films', true, 'no_preference'],
    ['critically acclaimed dramas', false, 'critically_acclaimed'],
    ['the worst films', false, 'poorly_received'],
    ['dinosaurs', false, 'no_preference'],
  ])('of "%s" knows what the public and the critics should think', async (query, isTrending, reception) => {
    const preferences = await metadata(query)
    expect(preferences.popular_trending_preference.prefers_trending_movies).toBe(isTrending)
    expect(preferences.reception_preference.reception_type).toBe(reception)
  })

  test.each([
    ['Titanic', ['movie_title:Titanic']],
    ['titanic', ['movie_title:Titanic']],
    ['films by steven spielberg', ['person:Steven Spielberg']],
    ['Star Wars', ['franchise:Star Wars']],
    ['Disney films', []],
    ['films by Disney', ['studio:Walt Disney Pictures']],
    ['movies like Alien', ['-movie_title:Alien']],
    ['James Cameron but not Titanic', ['person:James Cameron', '-movie_title:Titanic']],
    ['2012', ['movie_title:2012']],
    ['a night at the museum with friends', []],
  ])('of "%s" has the names %j', async (query, names) => {
    expect(await entities(query)).toEqual(names)
  })

  test('keeps the film "It" apart from the pronoun', async () => {
    const it = { ...catalogue.films[0]!, title: 'It' }
    const small = embeddedUnderstander(catalogueOf([it]))
    const named = async (query: string) =>
      (await small.understand(query)).lexical_entities.entity_candidates.length
    expect(await named('It')).toBe(1)
    expect(await named('it')).toBe(0)
    expect(await named('is it good')).toBe(0)
  })

  test('looks in the channels that the query speaks to, and in no other', async () => {
    const understanding = await understander.understand('funny films based on a true story about boxing')
    const texts = Object.entries(understanding.vector_subqueries).filter(
      ([, each]) => each.relevant_subquery_text,
    )
    expect(texts.map(([channel]) => channel)).toEqual([
      'plot_events_data',
      'plot_analysis_data',
      'viewer_experience_data',
      'narrative_techniques_data',
    ])
    expect(understanding.vector_subqueries.plot_events_data.relevant_subquery_text).toContain('boxing')
    expect(understanding.vector_weights.reception_data.relevance).toBe('not_relevant')
    expect(understanding.channel_weights.vector_relevance).toBe('large')
  })
})

test('the schema lets no other field and no other word through', async () => {
  const understanding = await understander.understand('dinosaurs')
  expect(v.is(QueryUnderstanding, { ...understanding, prefers_trending_now: true })).toBe(false)
  const weights = { ...understanding.channel_weights, vector_relevance: 'huge' }
  expect(v.is(QueryUnderstanding, { ...understanding, channel_weights: weights })).toBe(false)
  const { vector_weights: _, ...rest } = understanding
  expect(v.is(QueryUnderstanding, rest)).toBe(false)
})
