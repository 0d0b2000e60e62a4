import type { StandIn } from '@keyspec-systems/model/stand-in'
import * as v from 'valibot'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { loadCatalogue } from '../catalogue/catalogue.ts'
import { MovieDetail } from '../detail/movie-detail.ts'
import { openSources } from '../open-sources.ts'
import { embeddedTrending } from '../trending/embedded.ts'
import { startTmdbStandIn } from './stand-in.ts'

const catalogue = loadCatalogue()
const trending = [12, 34, 3201]
let standIn: StandIn

beforeEach(async () => {
  standIn = await startTmdbStandIn(catalogue, { trending })
})

afterEach(() => standIn.close())

function open(more: Record<string, string> = {}) {
  const environment = { TMDB_BASE_URL: `${standIn.url}/3`, TMDB_TOKEN: 'tmdb-token', ...more }
  return openSources(environment, catalogue, { sleep: async () => {}, timeoutMs: 2000 })
}

describe('details from TMDB', () => {
  test('are shaped by us: the leading cast, the crew that matters, no zeros, nothing else', async () => {
    const detail = await open().details.detail(3201)
    expect(v.parse(MovieDetail, detail)).toEqual(detail)
    expect(detail).toMatchObject({
      id: 3201,
      source: 'tmdb',
      title: 'The Mask of Zorro',
      tagline: null,
      runtime_minutes: 136,
      crew: [{ name: 'Martin Campbell', job: 'Director' }],
    })
    expect(detail!.cast).toHaveLength(20)
    expect(detail!.cast[0]).toEqual({ name: 'Invented Player 39', character: 'Role 39' })
    expect(JSON.stringify(detail).length).toBeLessThan(4000)
  })

  test('ask for the TMDB id of a film once', async () => {
    const { details } = open()
    await details.detail(5)
    await details.detail(5)
    expect(standIn.requests()).toBe(3)
  })

  test('of a film that nobody has are undefined', async () => {
    expect(await open().details.detail(99_999)).toBeUndefined()
    expect(standIn.requests()).toBe(0)
  })

  test.each(['limited', 'unavailable', 'cut'] as const)('come in spite of a fault (%s)', async (fault) => {
    standIn.fail({ fault, times: 2 })
    expect(await open().details.detail(7)).toMatchObject({ id: 7 })
  })

  test('are an error when TMDB answers garbage or refuses the token, which is not repeated', async () => {
    standIn.fail({ fault: 'garbage' })
    await expect(open().details.detail(7)).rejects.toMatchObject({ reason: 'unreadable', service: 'TMDB' })
    const refused = open({ TMDB_TOKEN: 'wrong-token' }).details.detail(7)
    await expect(refused).rejects.toMatchObject({ reason: 'credentials' })
    await expect(refused).rejects.not.toThrow('wrong-token')
  })
})

test('trending films of TMDB are known by their internal ids', async () => {
  expect(await open().trending.fetch()).toEqual(trending)
})

describe('without TMDB', () => {
  test('details have the same shape, from the catalogue', async () => {
    const { details } = openSources({}, catalogue)
    const detail = await details.detail(3201)
    expect(v.parse(MovieDetail, detail)).toMatchObject({
      id: 3201,
      source: 'embedded:vega-datasets',
      cast: [],
    })
    expect(await details.detail(0)).toBeUndefined()
    expect(standIn.requests()).toBe(0)
  })

  test('some films trend, the same all day and others the next', async () => {
    const { trending: source } = openSources({}, catalogue)
    const today = await source.fetch()
    expect(new Set(today).size).toBe(50)
    expect(today.every((id) => catalogue.byId(id) !== undefined)).toBe(true)
    expect(source.name).toMatch(/^embedded:/)
    const on = (day: string) => embeddedTrending(catalogue, () => Date.parse(day)).fetch()
    expect(await on('2026-05-01T01:00Z')).toEqual(await on('2026-05-01T23:00Z'))
    expect(await on('2026-05-01T01:00Z')).not.toEqual(await on('2026-05-02T01:00Z'))
  })
})
