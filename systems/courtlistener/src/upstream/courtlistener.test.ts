import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { courtListenerSettings, openCourtListener, type CourtListenerOptions } from './courtlistener.ts'
import type { Docket } from './docket.ts'
import { startStandIn, type StandIn } from './stand-in/stand-in.ts'
import { UpstreamError } from '@keyspec-systems/program/upstream'

let standIn: StandIn
let firstId: number
let asked: number

beforeAll(async () => {
  standIn = await startStandIn({ dockets: 50 })
  firstId = standIn.dockets[0]!.id
})

beforeEach(() => {
  asked = standIn.requests.length
})

afterAll(() => standIn.close())

describe('a client of CourtListener', () => {
  test('lists every docket once, page by page, a request each', async () => {
    const { courtListener } = client()
    const pages = await collected(courtListener.dockets())
    const ids = pages.flatMap(({ dockets }) => dockets.map(({ id }) => id))
    expect(pages.map(({ dockets }) => dockets.length)).toEqual([20, 20, 10])
    expect(ids.toSorted()).toEqual(standIn.dockets.map(({ id }) => id).toSorted())
    expect(pages.map(({ cursor }) => cursor === undefined)).toEqual([false, false, true])
    expect(standIn.requests.length - asked).toBe(3)
  })

  test('goes on from the cursor of an earlier page', async () => {
    const { courtListener } = client()
    const filter = { order_by: 'id' }
    const [first, ...rest] = await collected(courtListener.dockets({ filter }))
    const later = await collected(courtListener.dockets({ filter, cursor: first!.cursor }))
    expect(later).toEqual(rest)
  })

  test('passes filters on as the API names them', async () => {
    const { courtListener } = client()
    const dockets = await all(
      courtListener.dockets({ filter: { court: 'dcd', id__gt: firstId, order_by: 'id' } }),
    )
    const expected = standIn.dockets.filter(({ id, court_id }) => court_id === 'dcd' && id > firstId)
    expect(dockets.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
    const since = '2020-01-01'
    const filed = await all(courtListener.dockets({ filter: { date_filed__gte: since } }))
    expect(filed).toHaveLength(standIn.dockets.filter(({ date_filed }) => date_filed >= since).length)
  })

  test('fetches one docket, every field of it', async () => {
    const docket = await client().courtListener.docket(firstId)
    expect(docket).toMatchObject({ id: firstId, court_id: standIn.dockets[0]!.court_id, panel: [] })
    await expect(client().courtListener.docket('../courts')).rejects.toThrow('whole number')
  })

  test('charges every request to the quota before it is sent, retries included', async () => {
    const charged: number[] = []
    const admit = async () => void charged.push(standIn.requests.length - asked)
    const { courtListener } = client({ admit })
    standIn.fail({ fault: 'unavailable', times: 2 })
    await courtListener.docket(firstId)
    expect(charged).toEqual([0, 1, 2])
  })

  test('sends nothing that the quota refuses, and tries no further', async () => {
    const usedUp = new Error('no calls are left this hour')
    const { courtListener, waits } = client({ admit: () => Promise.reject(usedUp) })
    await expect(courtListener.docket(firstId)).rejects.toBe(usedUp)
    expect(standIn.requests.length).toBe(asked)
    expect(waits).toEqual([])
  })
})

describe('a call that fails in passing', () => {
  test.each(['unavailable', 'garbage', 'broken'] as const)('is tried again: %s', async (fault) => {
    const { courtListener, waits } = client({ random: () => 1 })
    standIn.fail({ fault, times: 3 })
    expect(await courtListener.docket(firstId)).toMatchObject({ id: firstId })
    // The longest waits that full jitter allows: each twice the one before.
    expect(waits).toEqual([500, 1000, 2000])
  })

  test('is tried again when it takes too long', async () => {
    const { courtListener, waits } = client({ timeoutMs: 300 })
    standIn.fail({ fault: 'silent' })
    expect(await courtListener.docket(firstId)).toMatchObject({ id: firstId })
    expect(waits.length).toBeGreaterThanOrEqual(1)
  })

  test('waits a random part of the back-off, and no longer than the longest', async () => {
    const { courtListener, waits } = client({ random: () => 0.25, backoffMs: 100, maxBackoffMs: 150 })
    standIn.fail({ fault: 'unavailable', times: 3 })
    await courtListener.docket(firstId)
    expect(waits).toEqual([25, 37.5, 37.5])
  })

  test('waits as long as Retry-After asks', async () => {
    const { courtListener, waits } = client({ random: () => 0 })
    standIn.fail({ fault: 'limited', retryAfterSeconds: 7 })
    await courtListener.docket(firstId)
    expect(waits).toEqual([7000])
  })

  test('is not waited for beyond the longest Retry-After, which the error then tells', async () => {
    const { courtListener, waits } = client()
    standIn.fail({ fault: 'limited', retryAfterSeconds: 3600 })
    const error = await failure(courtListener.docket(firstId))
    expect(error).toMatchObject({ reason: 'limited', status: 429, retryAfterMs: 3_600_000, isPassing: true })
    expect(error.message).toContain('Expected available in 3600 seconds')
    expect(waits).toEqual([])
  })

  test.each([
    ['unavailable', 'unavailable'],
    ['garbage', 'unreadable'],
    ['broken', 'unreachable'],
  ] as const)('fails after the last try: %s is %s', async (fault, reason) => {
    const { courtListener, waits } = client({ attempts: 3 })
    standIn.fail({ fault, times: 3 })
    expect(await failure(courtListener.docket(firstId))).toMatchObject({ reason, isPassing: true })
    expect(waits).toHaveLength(2)
  })

  test('fails as timed out when nothing ever comes', async () => {
    const { courtListener } = client({ attempts: 1, timeoutMs: 100 })
    standIn.fail({ fault: 'silent' })
    expect(await failure(courtListener.docket(firstId))).toMatchObject({ reason: 'timed-out' })
  })

  test('names the host when nothing listens there', async () => {
    const gone = await startStandIn({ dockets: 1 })
    await gone.close()
    const error = await failure(client({ baseUrl: gone.url, attempts: 2 }).courtListener.docket(1))
    expect(error.reason).toBe('unreachable')
    expect(error.message).toContain(`the connection to ${new URL(gone.url).host} failed`)
  })

  test('ends at once when the caller gives up', async () => {
    const { courtListener, waits } = client()
    const stop = new AbortController()
    standIn.fail({ fault: 'silent' })
    const call = courtListener.docket(firstId, stop.signal)
    await expect.poll(() => standIn.requests.length).toBe(asked + 1)
    stop.abort(new Error('the program is stopping'))
    await expect(call).rejects.toThrow('the program is stopping')
    expect(waits).toEqual([])
  })
})

describe('a call that fails for good', () => {
  test('is not tried again for a docket that is not there', async () => {
    const { courtListener, waits } = client()
    const error = await failure(courtListener.docket(1))
    expect(error).toMatchObject({ reason: 'missing', status: 404, isPassing: false })
    expect(error.message).toContain('No Docket matches the given query.')
    expect(waits).toEqual([])
  })

  test('says which setting to check when the token is wrong, and never shows the token', async () => {
    const { courtListener, waits } = client({ token: 'secret-0123456789' })
    const error = await failure(courtListener.docket(firstId))
    expect(error).toMatchObject({ reason: 'credentials', status: 401, isPassing: false })
    expect(error.message).toContain('Invalid token.')
    expect(error.message).toContain('check COURTLISTENER_TOKEN')
    expect(JSON.stringify(error) + String(error.stack)).not.toContain('secret-0123456789')
    expect(waits).toEqual([])
  })

  test('hides a token that an answer repeats', async () => {
    await using server = await serve((response) =>
      response.writeHead(400).end(JSON.stringify({ detail: 'bad token my-own-token' })),
    )
    const error = await failure(
      client({ baseUrl: server.url, token: 'my-own-token' }).courtListener.docket(1),
    )
    expect(error.message).toContain('bad token …')
    expect(error.reason).toBe('refused')
  })

  test('takes of the next address only the cursor, so that the token goes nowhere else', async () => {
    const paths: string[] = []
    await using server = await serve((response, path) => {
      paths.push(path)
      const next = paths.length === 1 ? 'https://example.org/elsewhere?cursor=abc' : null
      response.end(JSON.stringify({ next, previous: null, results: [] }))
    })
    await collected(client({ baseUrl: server.url }).courtListener.dockets())
    expect(paths).toEqual(['/dockets/', '/dockets/?cursor=abc'])
  })

  test('follows no redirect, which would take the token along', async () => {
    let requests = 0
    await using server = await serve((response) => {
      requests += 1
      response.writeHead(302, { Location: standIn.url }).end()
    })
    const error = await failure(client({ baseUrl: server.url }).courtListener.docket(1))
    expect(error).toMatchObject({ reason: 'refused', status: 302 })
    expect(requests).toBe(1)
  })

  test.each([
    ['{"results":{}}', 'next'],
    ['{"next":null,"previous":null,"results":[{"id":"1"}]}', 'results.0.id'],
    ['null', 'the answer'],
  ])('names the place where %s is not of the shape it should be', async (body, where) => {
    await using server = await serve((response) => response.end(body))
    const { courtListener, waits } = client({ baseUrl: server.url })
    const error = await failure(courtListener.dockets().next())
    expect(error).toMatchObject({ reason: 'unreadable', isPassing: false })
    expect(error.message).toContain(where)
    expect(waits).toEqual([])
  })

  test('takes no answer without end', async () => {
    await using server = await serve((response) => {
      const more = () => void response.write(Buffer.alloc(262_144), (error) => (error ? undefined : more()))
      more()
    })
    const error = await failure(client({ baseUrl: server.url }).courtListener.docket(1))
    expect(error).toMatchObject({ reason: 'unreadable', isPassing: false })
  })
})

describe('settings', () => {
  test('come from the environment', () => {
    const env = { COURTLISTENER_TOKEN: ' t ', COURTLISTENER_BASE_URL: 'http://127.0.0.1:1/api/rest/v4/' }
    expect(courtListenerSettings(env)).toEqual({ token: 't', baseUrl: 'http://127.0.0.1:1/api/rest/v4/' })
    expect(openCourtListener(courtListenerSettings(env)).baseUrl).toBe('http://127.0.0.1:1/api/rest/v4')
    expect(openCourtListener(courtListenerSettings({ COURTLISTENER_TOKEN: 't' })).baseUrl).toBe(
      'https://www.courtlistener.com/api/rest/v4',
    )
  })

  test('say what is missing or wrong, without the token', () => {
    expect(() => courtListenerSettings({})).toThrow('COURTLISTENER_TOKEN is not set')
    expect(() => openCourtListener({ token: 'a b' })).toThrow('COURTLISTENER_TOKEN')
    for (const baseUrl of ['ftp://x', 'nonsense', 'http://secret@host/', 'http://host/?token=secret']) {
      const open = () => openCourtListener({ token: 't', baseUrl })
      expect(open).toThrow('COURTLISTENER_BASE_URL')
      expect(open).not.toThrow('secret')
    }
  })
})

function client(options: Partial<CourtListenerOptions> = {}) {
  const waits: number[] = []
  const sleep = async (ms: number) => void waits.push(ms)
  const defaults = { token: 'stand-in-token', baseUrl: standIn.url, sleep }
  return { courtListener: openCourtListener({ ...defaults, ...options }), waits }
}

async function all(pages: AsyncIterable<{ dockets: readonly Docket[] }>): Promise<Docket[]> {
  return (await collected(pages)).flatMap(({ dockets }) => dockets)
}

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

async function failure(promise: Promise<unknown>): Promise<UpstreamError> {
  const error = await promise.then(
    () => new Error('it should have failed'),
    (reason: unknown) => reason,
  )
  if (error instanceof UpstreamError) return error
  throw error
}

async function serve(answer: (response: ServerResponse, path: string) => void) {
  const server = createServer((request, response) => answer(response, request.url ?? ''))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
