import { openModel } from '@keyspec-systems/model'
import { beforeAll, describe, expect, test } from 'vitest'

import { catalogueOf, loadCatalogue } from '../catalogue/catalogue.ts'
import { embeddedUnderstander } from '../understanding/embedded.ts'
import { textsToEmbed } from './query-text.ts'
import { search, TRENDING_BONUS, type SearchResult } from './search.ts'
import { buildVectorIndex, vectorChannels, type VectorChannel, type VectorIndex } from './vector-index.ts'

// Every other film is enough, and half the work.
const catalogue = catalogueOf(loadCatalogue().films.filter(({ id }) => id % 2 === 0))
const understander = embeddedUnderstander(catalogue)
const { embedder } = openModel({})
let index: VectorIndex

beforeAll(async () => {
  index = await buildVectorIndex(catalogue.films, embedder)
})

async function find(query: string, trending = new Set<number>(), limit = 10): Promise<SearchResult> {
  const understanding = await understander.understand(query)
  const texts = textsToEmbed(query, understanding)
  const vectors = await embedder.embed([...texts.values()])
  const embeddings = new Map<VectorChannel, Float32Array>(
    [...texts.keys()].map((key, at) => [key, vectors[at]!]),
  )
  return search(catalogue, index, { understanding, embeddings, trending, limit })
}

test('building the index ends when it is told to', async () => {
  const stop = new AbortController()
  let batches = 0
  const slow = {
    ...embedder,
    embed(texts: readonly string[], signal?: AbortSignal) {
      batches += 1
      expect(signal).toBe(stop.signal)
      stop.abort()
      return embedder.embed(texts)
    },
  }
  await expect(buildVectorIndex(catalogue.films, slow, stop.signal)).rejects.toThrow('aborted')
  expect(batches).toBe(1)
})

describe('search', () => {
  test('finds a film by its title first', async () => {
    const film = catalogue.films.find(({ title }) => title === 'Titanic') ?? catalogue.films[100]!
    const { results } = await find(film.title)
    expect(results[0]).toMatchObject({ movieId: film.id, title: film.title })
  })

  test('finds by subject, whatever the inflection', async () => {
    const { results } = await find('dinosaurs')
    expect(
      results
        .slice(0, 2)
        .map(({ title }) => title)
        .join(),
    ).toContain('Dinosaur')
  })

  test('keeps to dates and leaves out genres', async () => {
    const { results, candidates } = await find('thrillers from the 90s without horror', new Set(), 50)
    const films = results.map(({ movieId }) => catalogue.byId(movieId)!)
    expect(
      films.filter(({ year, genres }) => year < 1990 || year > 1999 || genres.includes('Horror')),
    ).toEqual([])
    expect(films[0]!.genres).toContain('Thriller')
    expect(candidates).toBeLessThan(catalogue.films.length)
  })

  test('never shows a film whose running time it does not know to who asks for one', async () => {
    const { results } = await find('comedies under 90 minutes', new Set(), 500)
    const times = results.map(({ movieId }) => catalogue.byId(movieId)!.runtimeMinutes)
    expect(times.length).toBeGreaterThan(0)
    expect(times.every((minutes) => minutes !== undefined && minutes < 90)).toBe(true)
  })

  test('lifts trending films where the query asks for them, and only there', async () => {
    const [, second] = (await find('trending thrillers')).results
    const lifted = await find('trending thrillers', new Set([second!.movieId]))
    expect(lifted.results[0]).toMatchObject({ movieId: second!.movieId, isTrending: true })
    expect(lifted.results[0]!.score - second!.score).toBeCloseTo(TRENDING_BONUS, 3)
    const plain = await find('thrillers')
    const same = await find('thrillers', new Set(plain.results.map(({ movieId }) => movieId)))
    expect(same.results.map(({ score }) => score)).toEqual(plain.results.map(({ score }) => score))
  })

  test('prefers what critics loved where that is asked', async () => {
    const loved = (await find('critically acclaimed dramas')).results.map((each) =>
      catalogue.byId(each.movieId)!,
    )
    const panned = (await find('the worst dramas')).results.map((each) => catalogue.byId(each.movieId)!)
    expect(Math.min(...loved.map(({ criticsPercent }) => criticsPercent!))).toBeGreaterThan(85)
    expect(Math.max(...panned.map(({ criticsPercent }) => criticsPercent!))).toBeLessThan(40)
  })

  test('does not show the example to who asks for its like', async () => {
    const { results } = await find('movies like Alien', new Set(), 100)
    expect(results.map(({ title }) => title)).not.toContain('Alien')
  })

  test('says what it cannot know', async () => {
    expect((await find('films in French on Netflix')).ignored).toEqual([
      'audio_languages_preference',
      'watch_providers_preference',
    ])
  })

  test('works without any vector, and answers the same each time', async () => {
    const understanding = await understander.understand('funny films')
    const request = { understanding, embeddings: new Map(), trending: new Set<number>() }
    expect(search(catalogue, index, request).results).toHaveLength(20)
    expect(search(catalogue, index, request)).toEqual(search(catalogue, index, request))
  })
})

describe('the vector index', () => {
  test('shares one vector among films that say the same', () => {
    expect(index.distinct).toBeLessThan(2 * catalogue.films.length)
    expect(index.bytes).toBeLessThan(20_000_000)
  })

  test('gives a cosine for each film in each channel', async () => {
    const [vector] = await embedder.embed(['scary frightening creepy terrifying'])
    for (const channel of vectorChannels) {
      const cosines = index.cosines(channel, vector!)
      expect(cosines).toHaveLength(catalogue.films.length)
      expect(cosines.every((cosine) => cosine >= -1.0001 && cosine <= 1.0001)).toBe(true)
    }
    const feels = index.cosines('viewer_experience', vector!)
    const best = feels.indexOf(feels.reduce((a, b) => Math.max(a, b)))
    expect(catalogue.films[best]!.genres).toContain('Horror')
  })

  test('refuses a vector of another model', () => {
    expect(() => index.cosines('anchor', new Float32Array(7))).toThrow('7 dimensions')
  })
})

test('what is embedded is the query and each subquery that is not null', async () => {
  const understanding = await understander.understand('scary')
  expect([...textsToEmbed('  scary ', understanding)]).toEqual([
    ['anchor', 'scary'],
    ['viewer_experience', 'scary frightening creepy terrifying'],
  ])
})
