import { openModel } from '@keyspec-systems/model'
import { startModelStandIn, type StandIn } from '@keyspec-systems/model/stand-in'
import { eventually, startRedis, type TemporaryRedis } from 'keyspec/testing'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'

import { type Proxy, startProxy } from '../../../../test-support/proxy.ts'
import { catalogueOf, loadCatalogue } from '../catalogue/catalogue.ts'
import { survived } from '../../../../test-support/hostile-http.ts'
import { movieServer } from '../server/movie-server.ts'
import { openParts, type OpenedParts } from '../server/open-parts.ts'
import { startTmdbStandIn } from '../tmdb/stand-in.ts'
import { refreshTrending } from '../trending/refresh.ts'
import { embeddedUnderstander } from '../understanding/embedded.ts'
import { graphUnderstander } from '../understanding/graph.ts'

const catalogue = catalogueOf(loadCatalogue().films.slice(1000, 1060))
const rules = embeddedUnderstander(catalogue)
const film = catalogue.films[7]!
const trendingQuery = '/search?q=trending+comedies'

interface Line {
  readonly level: 'info' | 'warn'
  readonly event: string
  readonly [detail: string]: unknown
}

interface World {
  readonly url: string
  readonly redis: TemporaryRedis
  readonly proxy: Proxy
  readonly parts: OpenedParts
  readonly lines: Line[]
  get(path: string): Promise<{ status: number; headers: Headers; body: any }>
  /** The log's line about the last request. */
  last(): Line
}

interface Circumstances {
  readonly environment?: Record<string, string>
  readonly isUp?: boolean
  /** What is waited for each upstream, and for Redis: less where a test knows that nothing comes. */
  readonly timeoutMs?: number
  readonly patienceMs?: number
}

/** Redis behind a proxy, and the search before it. */
async function world(circumstances: Circumstances = {}): Promise<World> {
  const { environment = {}, isUp = true, timeoutMs = 2_000, patienceMs = 1_000 } = circumstances
  const redis = await startRedis({ config: { 'maxmemory-policy': 'volatile-lru' } })
  const proxy = await startProxy(redis)
  if (!isUp) {
    proxy.refuse()
    proxy.cut()
  }
  const lines: Line[] = []
  const parts = await openParts(
    { MOVIES_ENV: 'test', REDIS_URL: proxy.url, ...environment },
    {
      log: {
        info: (event, details) => void lines.push({ level: 'info', event, ...details }),
        warn: (event, details) => void lines.push({ level: 'warn', event, ...details }),
      },
      catalogue,
      patience: { attempts: 2, timeoutMs, sleep: async () => {} },
      patienceMs,
    },
  )
  if (isUp) await parts.opened.ready()
  const server = await movieServer(parts).listen()
  onTestFinished(async () => {
    await server.close()
    parts.opened.close()
    await proxy.stop()
    await redis.stop()
  })
  return {
    redis,
    proxy,
    parts,
    lines,
    url: server.url,
    async get(path) {
      const response = await fetch(server.url + path)
      return { status: response.status, headers: response.headers, body: await response.json() }
    },
    last: () => lines.findLast(({ event }) => event === 'request')!,
  }
}

/** A language model behind the search that answers each of the graph's questions as the rules would. */
async function modelWorld(circumstances: Circumstances = {}): Promise<World & { readonly model: StandIn }> {
  const model = await startModelStandIn({
    async reply({ name, user }) {
      let part: unknown = await rules.understand(user)
      for (const field of name.split('-')) part = (part as Record<string, unknown>)[field]
      return part
    },
  })
  onTestFinished(() => model.close())
  const environment = {
    MODEL_BASE_URL: model.url,
    MODEL_NAME: 'film-expert',
    EMBEDDING_MODEL_NAME: 'text-embedding-3-small',
  }
  const { fingerprint } = graphUnderstander(openModel(environment).chat!)
  const version = { MOVIES_QU_VERSION: '7', MOVIES_QU_FINGERPRINT: fingerprint }
  return { ...(await world({ ...circumstances, environment: { ...environment, ...version } })), model }
}

/** Where silence is waited out, twice, it is a short one. */
function quick(fault: string): Circumstances {
  return fault === 'silent' ? { timeoutMs: 800 } : {}
}

/** Nobody's answer waits for a lock to be given back, so that is soon but not yet. */
function expectKeys(redis: TemporaryRedis, count: number): Promise<void> {
  return eventually(async () => expect(await redis.command('DBSIZE')).toBe(count))
}

describe('with Redis', () => {
  let here: World
  beforeEach(async () => {
    here = await world()
  })

  test('a search is a miss, then a hit, with one line in the log each', async () => {
    const { get, lines, last, redis } = here
    const first = await get('/search?q=%20funny%20%20films')
    expect(first).toMatchObject({ status: 200, body: { query: 'funny films', degraded: [] } })
    expect(first.body.results.length).toBeGreaterThan(0)
    expect(last()).toMatchObject({
      level: 'info',
      path: '/search',
      status: 200,
      qu: 'miss',
      embeddingHits: 0,
    })
    const misses = last()['embeddingMisses'] as number
    expect(misses).toBeGreaterThan(0)
    const second = await get('/search?q=funny+films')
    expect(second.body).toEqual(first.body)
    expect(last()).toMatchObject({
      qu: 'hit',
      embeddingHits: misses,
      embeddingMisses: 0,
      trending: 'not asked',
    })
    expect(lines.filter(({ event }) => event === 'request')).toHaveLength(2)
    await expectKeys(redis, 1 + misses)
  })

  test('"It" is not "it"', async () => {
    const { get, last } = here
    await get('/search?q=It')
    await get('/search?q=it')
    expect(last()).toMatchObject({ qu: 'miss' })
  })

  test('a detail is a miss, then a hit; an unknown film is 404 and leaves no key', async () => {
    const { get, last, redis } = here
    const first = await get(`/movie/${film.id}`)
    expect(first).toMatchObject({ status: 200, body: { id: film.id, title: film.title } })
    expect(last()).toMatchObject({ movie: 'miss' })
    expect((await get(`/movie/${film.id}`)).body).toEqual(first.body)
    expect(last()).toMatchObject({ movie: 'hit' })
    expect(await get('/movie/999999')).toMatchObject({ status: 404, body: { error: /999999/ } })
    await expectKeys(redis, 1)
  })

  test('trending films are read only when the query prefers them; missing, there is one warning', async () => {
    const { get, last, lines, parts, redis } = here
    const warnings = () => lines.filter(({ level, event }) => level === 'warn' && event === 'trending')
    await get('/search?q=comedies')
    expect(warnings()).toEqual([])
    expect(await get(trendingQuery)).toMatchObject({ status: 200 })
    expect(last()).toMatchObject({ trending: 'missing' })
    expect(warnings()).toMatchObject([{ key: 'test:trending:current', message: 'missing' }])

    const comedy = catalogue.films.find(({ genres }) => genres.includes('Comedy'))!
    const source = { name: 'test', fetch: async () => [comedy.id] }
    expect(await refreshTrending(parts.keys, source, parts.log)).toBe(true)
    const { body } = await get(trendingQuery)
    expect(last()).toMatchObject({ trending: 'read' })
    expect(body.results[0]).toMatchObject({ movieId: comedy.id, isTrending: true })
    expect(warnings()).toHaveLength(1)
    expect(await redis.command('TTL', 'test:trending:current')).toBe(-1)
  })

  test('a refresh that finds nothing or fails leaves the old films, and warns', async () => {
    const { lines, parts, redis } = here
    const { keys, log } = parts
    await keys.trending().replace([1, 2])
    expect(await refreshTrending(keys, { name: 'none', fetch: async () => [] }, log)).toBe(false)
    const down = { name: 'down', fetch: () => Promise.reject(new Error('it is down')) }
    expect(await refreshTrending(keys, down, log)).toBe(false)
    expect(lines.filter(({ level, event }) => level === 'warn' && event === 'refresh')).toHaveLength(2)
    expect(await redis.command('SCARD', 'test:trending:current')).toBe(2)
  })

  test('keys of another type are no reason to fail', async () => {
    const { get, parts, redis, last } = here
    const names = [
      parts.keys.queryUnderstanding({ version: parts.version, queryHash: 'trending comedies' }).name,
      parts.keys.embedding({ model: parts.embedder.model, textHash: 'trending comedies' }).name,
      parts.keys.movie({ id: film.id }).name,
    ]
    for (const name of names) await redis.command('LPUSH', name, 'x')
    await redis.command('HSET', 'test:trending:current', film.id, '0.5')
    expect(await get(trendingQuery)).toMatchObject({ status: 200, body: { degraded: [] } })
    expect(last()).toMatchObject({ qu: 'miss', trending: 'missing' })
    expect(await get(`/movie/${film.id}`)).toMatchObject({ status: 200 })
  })

  test('whoever asks wrongly is told so', async () => {
    const { get } = here
    expect(await get('/search?q=+')).toMatchObject({ status: 400, body: { error: /q=/ } })
    expect(await get(`/search?q=${'x'.repeat(501)}`)).toMatchObject({ status: 400 })
    expect(await get('/nothing')).toMatchObject({ status: 404 })
    expect(await get('/movie/007')).toMatchObject({ status: 404 })
  })
})

describe('while Redis is away', () => {
  async function expectAnswers({ get }: World) {
    expect(await get(trendingQuery)).toMatchObject({ status: 200, body: { degraded: [] } })
    expect(await get(`/movie/${film.id}`)).toMatchObject({ status: 200, body: { title: film.title } })
  }

  test('requests are answered from the start, and from the cache once it is there', async () => {
    const here = await world({ isUp: false })
    for (let turn = 0; turn < 3; turn += 1) await expectAnswers(here)
    expect(here.last()).toMatchObject({ movie: 'miss' })
    await here.proxy.restore()
    await eventually(async () => {
      await expectAnswers(here)
      expect(here.last()).toMatchObject({ movie: 'hit' })
    })
    expect(await here.redis.command('EXISTS', `test:tmdb:movie:${film.id}`)).toBe(1)
  })

  test('requests are answered when it goes, while it is gone, and when it is back', async () => {
    const here = await world()
    await expectAnswers(here)
    here.proxy.refuse()
    here.proxy.cut()
    for (let turn = 0; turn < 5; turn += 1) await expectAnswers(here)
    await here.proxy.restore()
    await eventually(async () => {
      await expectAnswers(here)
      expect(here.last()).toMatchObject({ movie: 'hit' })
    })
  })

  test('requests are answered though it hangs', async () => {
    const here = await world({ patienceMs: 200 })
    await expectAnswers(here)
    here.redis.pause()
    try {
      for (let turn = 0; turn < 2; turn += 1) await expectAnswers(here)
    } finally {
      here.redis.resume()
    }
  })
})

describe('a language model', () => {
  test('is asked 24 questions and one batch of embeddings for a query, and nothing for the same again', async () => {
    const { get, model, last } = await modelWorld()
    const before = model.requests()
    expect(await get(trendingQuery)).toMatchObject({ status: 200 })
    expect(model.requests() - before).toBe(25)
    await get(trendingQuery)
    expect(model.requests() - before).toBe(25)
    expect(last()).toMatchObject({ qu: 'hit', embeddingMisses: 0 })
  })

  test.each([
    ['limited', 503],
    ['unavailable', 503],
    ['garbage', 502],
    ['silent', 504],
  ] as const)(
    'that is %s fails the search with %i and leaves nothing half understood',
    async (fault, status) => {
      const { get, model, redis, lines } = await modelWorld(quick(fault))
      model.fail({ fault, times: 60, path: '/v1/chat' })
      expect(await get('/search?q=comedies')).toMatchObject({ status, body: { error: /chat endpoint/ } })
      await expectKeys(redis, 0)
      expect(lines.findLast(({ event }) => event === 'request')).toMatchObject({ level: 'warn', status })
    },
  )

  test.each(['limited', 'unavailable', 'garbage', 'silent'] as const)(
    'whose embeddings are %s is gone without, and no vector is kept',
    async (fault) => {
      const { get, model, redis } = await modelWorld(quick(fault))
      model.fail({ fault, times: 2, path: '/v1/embeddings' })
      const { status, body } = await get('/search?q=comedies')
      expect(status).toBe(200)
      expect(body.degraded).toEqual(['vectors'])
      expect(body.results.length).toBeGreaterThan(0)
      await expectKeys(redis, 1)
    },
  )
})

describe('TMDB', () => {
  test.each([
    ['limited', 503],
    ['unavailable', 503],
    ['garbage', 502],
    ['silent', 504],
  ] as const)(
    'that is %s fails a detail with %i, keeps nothing, and is asked again',
    async (fault, status) => {
      const tmdb = await startTmdbStandIn(catalogue)
      onTestFinished(() => tmdb.close())
      const { get, redis } = await world({
        environment: { TMDB_TOKEN: 'tmdb-token', TMDB_BASE_URL: `${tmdb.url}/3` },
        ...quick(fault),
      })
      // What cannot be read is not asked for again, the rest once more.
      tmdb.fail({ fault, times: fault === 'garbage' ? 1 : 2 })
      expect(await get(`/movie/${film.id}`)).toMatchObject({ status, body: { error: /TMDB/ } })
      await expectKeys(redis, 0)
      expect(await get(`/movie/${film.id}`)).toMatchObject({ status: 200, body: { source: 'tmdb' } })
      const stored = (await redis.command('GET', `test:tmdb:movie:${film.id}`)) as string
      // Shaped by us: what TMDB sends beside that is not kept.
      expect(stored).not.toContain('belongs_to_collection')
    },
  )
})

test('no request ends it, and it is ready while Redis answers', async () => {
  const { url, proxy } = await world()
  expect(await survived(url)).toEqual([])
  const ready = async () => (await fetch(`${url}/readyz`)).status
  expect(await ready()).toBe(200)
  proxy.refuse()
  proxy.cut()
  await eventually(async () => expect(await ready()).toBe(503))
  expect((await fetch(`${url}/livez`)).status).toBe(200)
})
